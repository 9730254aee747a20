// @ts-check
import { Fault, whole } from "./fields.js";
import { isCurrency, major, minorOrZero } from "./money.js";
import { offersOf } from "./sku-offers.js";
import { t } from "./text.js";

/** @typedef {Record<string, any>} SKU as the API has it */

export const KINDS = ["subscription", "non_renewing", "non_consumable", "consumable"];

/** The fields of each kind beside those of every SKU (`id`, `name`, `description`, `kind`, `prices`, `apple_product_ids`). */
const OWN = /** @type {Record<string, string[]>} */ ({
  subscription: ["tier", "rank", "period", "one_period_elsewhere", "duration_days", "units", "stack_group", "offers"],
  non_renewing: ["tier", "rank", "duration_days", "options", "units", "stacking", "stack_group", "on_refund", "once", "physical", "client_fallback", "subscribe_id"],
  non_consumable: ["tier", "rank", "units", "on_refund", "stack_group", "physical"],
  consumable: ["units", "on_refund", "consumption", "physical"],
});

/** The largest number of each unit in a subscription's period. */
const LONGEST = /** @type {Record<string, number>} */ ({ day: 366, week: 52, month: 24, year: 3 });
export const UNITS = Object.keys(LONGEST);

/**
 * True where a SKU of the kind has the field.
 * @param {string} kind
 * @param {string} field
 */
export const has = (kind, field) => OWN[kind]?.includes(field) ?? false;

/**
 * A SKU that is not there yet, of a product that waits where one is named.
 * @param {URLSearchParams} query
 * @returns {SKU}
 */
export function fresh(query) {
  const product = query.get("product") ?? "";
  const kinds = /** @type {Record<string, string>} */ ({ "Auto-Renewable Subscription": "subscription", "Non-Renewing Subscription": "non_renewing", "Non-Consumable": "non_consumable", Consumable: "consumable" });
  return { id: "", name: "", description: "", kind: kinds[query.get("type") ?? ""] ?? "non_renewing", tier: "", rank: 0, duration_days: null, prices: [], options: [], units: {}, attributes: {}, localizations: {}, apple_product_ids: product === "" ? [] : [product], active: true };
}

/** @param {Record<string, string>} values @param {RegExp} name @returns {number[]} the indexes, in order */
function indexes(values, name) {
  const found = Object.keys(values).flatMap(key => {
    const match = name.exec(key);
    return match ? [Number(match[1])] : [];
  });
  return [...new Set(found)].sort((a, b) => a - b);
}

/**
 * Prices in minor units from rows of major ones; a row without an amount counts for nothing.
 * @param {Record<string, string>} values
 * @param {string} stem `prices`, `options[0].prices`
 */
export function pricesOf(values, stem) {
  const escaped = stem.replace(/[[\].]/g, "\\$&");
  return indexes(values, new RegExp(`^${escaped}\\[(\\d+)\\]\\.value$`)).flatMap(index => {
    const currency = (values[`${stem}[${index}].currency`] ?? "").toUpperCase();
    const typed = values[`${stem}[${index}].value`] ?? "";
    if (typed === "") return [];
    if (!isCurrency(currency)) throw new Fault(`${stem}[${index}].currency`, t("fault_currency"));
    const value = minorOrZero(typed, currency);
    if (value === null) throw new Fault(`${stem}[${index}].value`, t("fault_amount", { currency }));
    return [{ currency, value }];
  });
}

/** @param {Record<string, string>} values */
function optionsOf(values) {
  return indexes(values, /^options\[(\d+)\]\.days$/).flatMap(index => {
    const prices = pricesOf(values, `options[${index}].prices`);
    if (values[`options[${index}].days`] === "" && prices.length === 0) return [];
    return [{ days: whole(values, `options[${index}].days`, 1, 3660), prices }];
  });
}

/** @param {Record<string, string>} values */
function unitsOf(values) {
  const units = /** @type {Record<string, number>} */ ({});
  for (const index of indexes(values, /^units\[(\d+)\]\.name$/)) {
    const name = values[`units[${index}].name`] ?? "";
    if (name === "" && (values[`units[${index}].value`] ?? "") === "") continue;
    if (name === "") throw new Fault(`units[${index}].name`, t("fault_needed"));
    units[name] = whole(values, `units[${index}].value`, 1);
  }
  return units;
}

/** @param {Record<string, string>} values */
function localizationsOf(values) {
  const found = /** @type {Record<string, {name: string, description?: string}>} */ ({});
  for (const key of Object.keys(values)) {
    const language = /^localizations\.(.+)\.name$/.exec(key)?.[1];
    if (language === undefined) continue;
    const name = values[key] ?? "";
    const description = values[`localizations.${language}.description`] ?? "";
    if (name === "" && description === "") continue;
    if (name === "") throw new Fault(key, t("fault_needed"));
    found[language] = description === "" ? { name } : { name, description };
  }
  return found;
}

/** @param {string} text */
function attributesOf(text) {
  if (text === "") return {};
  try {
    const value = JSON.parse(text);
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return value;
  } catch {
    // Said below, as for a value of another form.
  }
  throw new Fault("attributes", t("fault_json"));
}

/**
 * The SKU that is typed: only the fields of its kind.
 * @param {Record<string, string>} values of the form
 * @returns {SKU}
 */
export function skuOf(values) {
  const kind = values.kind ?? "non_renewing";
  const text = /** @param {string} name */ name => values[name] ?? "";
  const sku = /** @type {SKU} */ ({ id: text("id"), name: text("name"), description: text("description"), kind });
  if (sku.id === "") throw new Fault("id", t("fault_needed"));
  if (sku.name === "") throw new Fault("name", t("fault_needed"));
  if (has(kind, "tier")) {
    sku.tier = text("tier");
    sku.rank = text("rank") === "" ? 0 : whole(values, "rank", 0, 1_000_000);
  }
  if (has(kind, "period")) sku.period = text("period.count") === "" ? null : { unit: text("period.unit"), count: whole(values, "period.count", 1, LONGEST[text("period.unit")] ?? 366) };
  if (has(kind, "one_period_elsewhere")) sku.one_period_elsewhere = text("one_period_elsewhere") !== "";
  if (has(kind, "duration_days") && "duration_days" in values) sku.duration_days = text("duration_days") === "" ? null : whole(values, "duration_days", 1, 3660);
  if (has(kind, "options")) sku.options = optionsOf(values);
  sku.prices = pricesOf(values, "prices");
  if (has(kind, "units")) sku.units = unitsOf(values);
  for (const name of ["stacking", "on_refund", "once", "consumption"]) if (has(kind, name) && text(name) !== "") sku[name] = text(name);
  if (has(kind, "stack_group") && text("stack_group") !== "") sku.stack_group = text("stack_group");
  if (has(kind, "physical")) sku.physical = text("physical") !== "";
  if (has(kind, "client_fallback")) sku.client_fallback = text("client_fallback") !== "";
  if (has(kind, "subscribe_id")) sku.subscribe_id = text("subscribe_id") === "" ? null : whole(values, "subscribe_id", 1);
  sku.plan_code = text("plan_code") === "" ? null : text("plan_code");
  sku.apple_product_ids = indexes(values, /^apple_product_ids\[(\d+)\]$/).map(index => text(`apple_product_ids[${index}]`)).filter(id => id !== "");
  if (has(kind, "offers")) sku.offers = offersOf(values);
  sku.attributes = attributesOf(text("attributes"));
  sku.localizations = localizationsOf(values);
  return sku;
}

/**
 * The body that makes a SKU: what is empty is the server's default.
 * @param {SKU} sku
 */
export function newBody(sku) {
  const isEmpty = /** @param {unknown} value */ value => value === null || value === "" || (Array.isArray(value) && value.length === 0) || (typeof value === "object" && !Array.isArray(value) && Object.keys(value ?? {}).length === 0);
  return Object.fromEntries(Object.entries(sku).filter(([name, value]) => ["id", "name", "kind", "prices"].includes(name) || !isEmpty(value)));
}

const MAPS = ["units", "attributes", "localizations"];

/**
 * The change from one SKU to another as RFC 7396 has it: null takes a member of a map out.
 * @param {SKU} before as the API has it
 * @param {SKU} after as it is typed
 * @returns {SKU} empty where nothing changed
 */
export function patch(before, after) {
  const change = /** @type {SKU} */ ({});
  for (const [name, value] of Object.entries(after)) {
    if (name === "id" || name === "kind") continue;
    const old = before[name] ?? null;
    if (same(old, value) || (old === null && (value === "" || value === false))) continue;
    if (!MAPS.includes(name) || Object.keys(value).length === 0) change[name] = value;
    else {
      const removed = Object.keys(old ?? {}).filter(key => !(key in value)).map(key => [key, null]);
      const changed = Object.entries(value).filter(([key, each]) => !same(old?.[key], each));
      change[name] = Object.fromEntries([...removed, ...changed]);
    }
  }
  return change;
}

/** @param {any} a @param {any} b @returns {boolean} */
export function same(a, b) {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object" || Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a).filter(key => a[key] !== undefined && !(key === "description" && a[key] === ""));
  const others = Object.keys(b).filter(key => b[key] !== undefined && !(key === "description" && b[key] === ""));
  return keys.length === others.length && keys.every(key => same(a[key], b[key]));
}

/**
 * A price as it is typed.
 * @param {{value: number, currency: string}} price
 */
export const typed = price => major(price.value, price.currency);

/** @param {string} product @returns {boolean} */
export const isPattern = product => product.includes("${days}");

/**
 * The other active SKU that a product id belongs to; null for a free one.
 * @param {string} product `id`, or `bundle:id`
 * @param {SKU[]} skus
 * @param {string} own id of the SKU that is edited
 */
export function clash(product, skus, own) {
  const [bundle, id] = split(product);
  const other = skus.find(sku => sku.active && sku.id !== own && (sku.apple_product_ids ?? []).some(/** @param {string} each */ each => {
    const [theirs, name] = split(each);
    if (bundle !== "" && theirs !== "" && bundle !== theirs) return false;
    if (name === id) return true;
    if (!isPattern(name) || isPattern(id)) return false;
    const [head = "", tail = ""] = name.split("${days}");
    return id.startsWith(head) && id.endsWith(tail) && /^[1-9]\d{0,3}$/.test(id.slice(head.length, id.length - tail.length));
  }));
  return other?.id ?? null;
}

/** @param {string} product @returns {[string, string]} */
function split(product) {
  const at = product.indexOf(":");
  return at < 0 ? ["", product] : [product.slice(0, at), product.slice(at + 1)];
}
