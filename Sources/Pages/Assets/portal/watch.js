// @ts-check
import { sleep, visible } from "../sdk/wait.js";

/** Milliseconds between two looks at a page that waits. */
const PAUSE = 2000;
/** States in which the server may move on without an act of this page. */
const WAITING = new Set(["redirect", "qr", "checking"]);

/**
 * The state that a page's text says: the openings of `<main>` and of the section in it.
 * @param {string} text
 */
export function standing(text) {
  const tags = [/<main\b[^>]*>/, /<section\b[^>]*\bdata-state="[^"]*"[^>]*>/].map(tag => tag.exec(text)?.[0] ?? "");
  return tags.map(tag => (/\bdata-state="([^"]*)"/.exec(tag)?.[1] ?? "") + "|" + (/\bdata-(?:payment|setup)="([^"]*)"/.exec(tag)?.[1] ?? "")).join(" ");
}

/**
 * The same of a page that is shown.
 * @param {HTMLElement} main
 */
export function shown(main) {
  const section = main.querySelector("section[data-state]");
  return [main, section].map(place => (place?.getAttribute("data-state") ?? "") + "|" + (place?.getAttribute("data-payment") ?? place?.getAttribute("data-setup") ?? "")).join(" ");
}

/**
 * True where a page waits for something that the payer does elsewhere.
 * @param {HTMLElement} main
 */
export function waits(main) {
  return WAITING.has(main.querySelector("section[data-state]")?.getAttribute("data-state") ?? "");
}

/**
 * Asks for the page until it says something else, and says then that it did. The page itself is asked, because it alone
 * knows what it would show; its text is not read as HTML.
 * @param {{address: string, now: string, offline: (on: boolean) => void, signal?: AbortSignal | null}} options now: its standing
 */
export async function changed({ address, now, offline, signal = null }) {
  for (;;) {
    await sleep(PAUSE, signal);
    await visible(signal);
    const answer = await fetch(address, { headers: { Accept: "text/html" }, cache: "no-store", signal }).catch(() => null);
    offline(answer === null || answer.status >= 500);
    if (answer === null || answer.status >= 500 || answer.status === 429) continue;
    if (standing(await answer.text()) !== now) return;
  }
}
