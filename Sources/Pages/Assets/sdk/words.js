// @ts-check

/** @typedef {Record<string, string>} Texts one language's table, Sources/Pages/Texts */

/** Letters without spaces between words. */
const HAN = /[\u3400-\u9fff\u{20000}-\u{2ffff}]/u;
const LATIN = /[A-Za-z0-9¥$€£]/;

/**
 * A text with its values in the place of `{name}`. Between a Chinese and a Latin letter or digit there is one space.
 * @param {string} text
 * @param {Record<string, string | number>} [values]
 */
export function fill(text, values = {}) {
  let result = "";
  let inserted = false;
  for (const part of text.split(/(\{[a-z_]+\})/)) {
    const name = /^\{([a-z_]+)\}$/.exec(part)?.[1];
    const piece = name !== undefined && name in values ? String(values[name]) : part;
    const isValue = piece !== part || name !== undefined;
    if ((isValue || inserted) && touches(result, piece)) result += " ";
    result += piece;
    if (piece !== "") inserted = isValue;
  }
  return result;
}

/**
 * A text split at the place of one value: what stands before and after it, with the spaces that the value wants.
 * @param {string} text
 * @param {string} name
 * @param {string} value
 * @param {Record<string, string | number>} [values] the other ones
 */
export function split(text, name, value, values = {}) {
  const [head = "", tail = ""] = text.split(`{${name}}`);
  const before = fill(head, values);
  const after = fill(tail, values);
  return { before: touches(before, value) ? before + " " : before, after: touches(value, after) ? " " + after : after };
}

/** @param {string} left @param {string} right */
function touches(left, right) {
  const a = Array.from(left).pop() ?? "";
  const b = Array.from(right)[0] ?? "";
  return (HAN.test(a) && LATIN.test(b)) || (LATIN.test(a) && HAN.test(b));
}

/** @param {string} locale `en` or `zh-Hans` */
const tag = locale => (locale === "zh-Hans" ? "zh-Hans-CN" : "en-GB");

/**
 * An amount in the payer's notation: ¥39.90 for CNY in every language.
 * @param {{value: number, currency: string}} money minor units
 * @param {string} locale
 */
export function amount(money, locale) {
  const format = new Intl.NumberFormat(locale === "zh-Hans" ? "zh-Hans-CN" : "en-US", {
    style: "currency", currency: money.currency, currencyDisplay: money.currency === "CNY" ? "narrowSymbol" : "symbol",
  });
  return format.format(money.value / 10 ** minorDigits(money.currency));
}

/**
 * Digits after the point as the server counts minor units (ISO 4217), where browsers differ from it.
 * @param {string} currency
 */
export function minorDigits(currency) {
  const own = /** @type {Record<string, number>} */ ({ ISK: 0, UGX: 0, HUF: 2, TWD: 2, IDR: 2, COP: 2, LAK: 2, MMK: 2, IQD: 3, RSD: 2, ALL: 2, PKR: 2, LBP: 2, IRR: 2, SYP: 2, AFN: 2, YER: 2, SOS: 2, MGA: 2, KPW: 2, SLE: 2, STN: 2, UZS: 2 });
  return own[currency] ?? new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits ?? 2;
}

/**
 * A day, 25 Dec 2026 or 2026年12月25日.
 * @param {number} at seconds
 * @param {string} locale
 * @param {string} [zone]
 */
export function day(at, locale, zone) {
  return new Intl.DateTimeFormat(tag(locale), { year: "numeric", month: locale === "zh-Hans" ? "long" : "short", day: "numeric", timeZone: zone }).format(at * 1000).replace("Sept", "Sep");
}

/**
 * A minute, 25 Nov 2026, 17:12.
 * @param {number} at seconds
 * @param {string} locale
 * @param {string} [zone]
 */
export function minute(at, locale, zone) {
  const time = new Intl.DateTimeFormat(tag(locale), { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: zone }).format(at * 1000);
  return locale === "zh-Hans" ? `${day(at, locale, zone)} ${time}` : `${day(at, locale, zone)}, ${time}`;
}

/**
 * ISO 8601 in UTC, for `<time datetime>`.
 * @param {number} at seconds
 */
export function iso(at) {
  return new Date(at * 1000).toISOString().replace(".000Z", "Z");
}

/**
 * Time left as 14:32 or 1:02:03; never below 0:00.
 * @param {number} seconds
 */
export function left(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  const two = (/** @type {number} */ value) => String(value).padStart(2, "0");
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/**
 * For how long: "for 30 days", "every month", "yours for good"; null for what is used up.
 * @param {{kind?: string, duration_days?: number | null, renewal?: string, period?: {unit: string, count: number} | null}} product
 * @param {number | null} days of an option
 * @param {Texts} t
 */
export function period(product, days, t) {
  if (product.renewal === "managed" && product.period) {
    const { unit, count } = product.period;
    return fill(t[count === 1 ? `every_${unit}` : `every_${unit}s`] ?? "", { count }) || null;
  }
  if (product.kind === "non_consumable") return t.for_ever ?? null;
  const whole = days ?? product.duration_days ?? null;
  if (whole === null || product.kind === "consumable") return null;
  return fill((whole === 1 ? t.for_day : t.for_days) ?? "", { count: whole });
}
