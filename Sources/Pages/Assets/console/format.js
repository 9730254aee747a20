// @ts-check
import { amount, day, minute } from "../sdk/words.js";
import { h } from "./dom.js";
import { t, words } from "./text.js";

/** @typedef {{value: number, currency: string}} Money minor units */

/**
 * An amount in the reader's notation.
 * @param {Money} money
 */
export const money = money => amount(money, words.locale);

/**
 * An element with an amount; a dash where there is none.
 * @param {string} field the API's name
 * @param {Money | null | undefined} value
 */
export function amountOf(field, value) {
  if (!value) return h("span", { class: "muted", "data-field": field }, "–");
  return h("span", { "data-field": field, "data-amount": value.value, "data-currency": value.currency }, money(value));
}

/** @param {number} at seconds */
export const iso = at => new Date(at * 1000).toISOString().replace(".000Z", "Z");

/**
 * A number with the language's separators.
 * @param {number} value
 */
export const number = value => new Intl.NumberFormat(words.locale === "zh-Hans" ? "zh-Hans-CN" : "en-US").format(value);

/**
 * A day and minute.
 * @param {number} at seconds
 */
export const exact = at => minute(at, words.locale);

/**
 * A day.
 * @param {number} at seconds
 */
export const date = at => day(at, words.locale);

/**
 * A day of the statistics, `2026-11-25`, which are counted in UTC.
 * @param {string} name
 */
export function dayName(name) {
  const at = Date.parse(`${name}T00:00:00Z`);
  return Number.isNaN(at) ? name : day(at / 1000, words.locale, "UTC");
}

const STEPS = /** @type {[number, Intl.RelativeTimeFormatUnit][]} */ ([[60, "second"], [3600, "minute"], [86_400, "hour"], [7 * 86_400, "day"]]);

/**
 * A time as its distance from now within a week, else as a day.
 * @param {number} at seconds
 * @param {number} [now] seconds
 */
export function ago(at, now = Date.now() / 1000) {
  const distance = at - now;
  const index = STEPS.findIndex(([limit]) => Math.abs(distance) < limit);
  if (index < 0) return date(at);
  const size = index === 0 ? 1 : (STEPS[index - 1]?.[0] ?? 1);
  const unit = STEPS[index]?.[1] ?? "second";
  const format = new Intl.RelativeTimeFormat(words.locale === "zh-Hans" ? "zh-Hans-CN" : "en-GB", { numeric: "auto", style: "short" });
  return format.format(Math.round(distance / size), unit).replace(/(\d)([\u4e00-\u9fff])/g, "$1 $2");
}

/**
 * A `<time>`: near ones by their distance with the exact one as title.
 * @param {number | null | undefined} at seconds
 * @param {{field?: string, full?: boolean, day?: boolean}} [look]
 */
export function time(at, look = {}) {
  if (at === null || at === undefined) return h("span", { class: "muted", "data-field": look.field }, "–");
  const text = look.day ? date(at) : look.full ? exact(at) : ago(at);
  return h("time", { datetime: iso(at), title: exact(at), "data-field": look.field }, text);
}

/**
 * An id that is too long for a line, by its ends.
 * @param {string} id
 */
export function short(id) {
  const tail = id.lastIndexOf("_");
  return id.length <= 16 ? id : `${tail > 0 && tail < 6 ? id.slice(0, tail + 1) : id.slice(0, 4)}…${id.slice(-6)}`;
}

/**
 * A number of days in words.
 * @param {number} count
 */
export const days = count => (count === 1 ? t("one_day") : t("days", { count: number(count) }));

/**
 * Several texts of which one counts: 7 or 30 days.
 * @param {string[]} texts
 */
export const either = texts => new Intl.ListFormat(words.locale === "zh-Hans" ? "zh-Hans-CN" : "en-GB", { type: "disjunction" }).format(texts);
