// @ts-check
import { sleep } from "../sdk/wait.js";
import { day, minute } from "../sdk/words.js";

/** What the pages for payers have in common, before a module takes one over. */

/** @param {string} name */
export const meta = name => document.querySelector(`meta[name="${name}"]`)?.getAttribute("content") ?? null;

/**
 * Times that the server wrote in UTC, in the payer's own zone.
 * @param {HTMLElement} main
 * @param {string} locale
 */
export function localTimes(main, locale) {
  for (const time of main.querySelectorAll("time[data-local]")) {
    const at = Date.parse(time.getAttribute("datetime") ?? "") / 1000;
    if (Number.isFinite(at)) time.textContent = (time.getAttribute("data-local") === "day" ? day : minute)(at, locale);
  }
}

/**
 * Shows the entries that this browser can do.
 * @param {HTMLElement} main
 * @param {(type: string) => boolean} can
 * @returns {boolean} whether one is left to choose
 */
export function showEntries(main, can) {
  for (const button of main.querySelectorAll('li[hidden] > [data-action="method"]')) {
    if (can(button.getAttribute("data-type") ?? "")) /** @type {HTMLElement} */ (button.parentElement).hidden = false;
  }
  return main.querySelector('li:not([hidden]) > [data-action="method"]') !== null;
}

/**
 * The texts; where they do not come they are asked for again, since the page works without the module meanwhile.
 * @param {string} address
 * @returns {Promise<import("../sdk/words.js").Texts>}
 */
export async function table(address) {
  for (;;) {
    const answer = await fetch(address).catch(() => null);
    if (answer?.ok) return answer.json();
    await sleep(2000);
  }
}
