// @ts-check
import { minorDigits } from "../sdk/words.js";

/**
 * Reads an amount in major units exactly, without floating point.
 * @param {string} typed `39.90`: digits, and a point with at most the currency's digits
 * @param {string} currency
 * @returns {number | null} minor units above 0; null for anything else
 */
export function minor(typed, currency) {
  const value = minorOrZero(typed, currency);
  return value === null || value === 0 ? null : value;
}

/**
 * As `minor`, with 0 allowed: the price of a free thing.
 * @param {string} typed
 * @param {string} currency
 */
export function minorOrZero(typed, currency) {
  const found = /^([0-9]{1,15})(?:\.([0-9]+))?$/.exec(typed.trim());
  if (!found || !isCurrency(currency)) return null;
  const digits = minorDigits(currency);
  const fraction = found[2] ?? "";
  if (fraction.length > digits) return null;
  const value = Number((found[1] ?? "") + fraction.padEnd(digits, "0"));
  return Number.isSafeInteger(value) ? value : null;
}

/**
 * Writes minor units as major ones, `39.90`.
 * @param {number} value
 * @param {string} currency
 */
export function major(value, currency) {
  const digits = minorDigits(currency);
  const text = String(Math.abs(value)).padStart(digits + 1, "0");
  const sign = value < 0 ? "-" : "";
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** @param {string} text */
export const isCurrency = text => /^[A-Z]{3}$/.test(text);

/**
 * The sign of a currency, ¥.
 * @param {string} currency
 */
export function sign(currency) {
  if (!isCurrency(currency)) return "";
  const parts = new Intl.NumberFormat("en", { style: "currency", currency, currencyDisplay: "narrowSymbol" }).formatToParts(0);
  return parts.find(part => part.type === "currency")?.value ?? currency;
}
