// @ts-check
import { fill } from "../sdk/words.js";

/** The language of the page and its table of texts, `en.json` or `zh-Hans.json`. */
export const words = { locale: "en", table: /** @type {Record<string, string>} */ ({}) };

const STORED = "paydesk-language";

/**
 * A text of the table with its values; one thing may have words of its own (`…_one`).
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function t(key, values) {
  const single = String(values?.count) === "1" ? words.table[`${key}_one`] : undefined;
  return fill(single ?? words.table[key] ?? `{${key}}`, values);
}

/**
 * The text of a word of the API, `said("order", "paid")`; the word itself where the table has none: a server that is
 * newer than the page may say more.
 * @param {string} family
 * @param {string | null | undefined} word
 */
export function said(family, word) {
  if (word === null || word === undefined || word === "") return "–";
  return words.table[`${family}_${word.toLowerCase().replaceAll(/[.-]/g, "_")}`] ?? word;
}

/** The language that was chosen on this page before, else the document's. */
export function preferred() {
  let chosen = null;
  try {
    chosen = localStorage.getItem(STORED);
  } catch {
    // A browser that keeps nothing shows the document's language.
  }
  return chosen === "en" || chosen === "zh-Hans" ? chosen : document.documentElement.lang === "zh-Hans" ? "zh-Hans" : "en";
}

/**
 * Keeps the reader's choice for the next visit.
 * @param {string} locale
 */
export function keep(locale) {
  try {
    localStorage.setItem(STORED, locale);
  } catch {
    // It holds until the page is left.
  }
}

/**
 * Loads a language and makes it the page's.
 * @param {string} locale
 */
export async function speak(locale) {
  const address = document.querySelector(`meta[name="paydesk-texts-${locale}"]`)?.getAttribute("content") ?? "";
  const reply = await fetch(address);
  if (!reply.ok) throw new Error(`texts: ${reply.status}`);
  words.table = await reply.json();
  words.locale = locale;
  document.documentElement.lang = locale;
}
