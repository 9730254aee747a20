// @ts-check
import { words } from "./text.js";

/**
 * The name of a SKU in the page's language.
 * @param {any} sku
 */
export const nameOf = sku => sku.localizations?.[words.locale]?.name || sku.name || sku.id;

/**
 * Name and id of a SKU, for a choice.
 * @param {any} sku
 */
export const shownNames = sku => (nameOf(sku) === sku.id ? sku.id : `${nameOf(sku)} (${sku.id})`);

/** How long the names of SKUs are kept, in milliseconds. */
const KEPT = 60_000;
let known = { at: 0, names: /** @type {Record<string, any>} */ ({}) };

/**
 * The names of SKUs by their ids, for lists that have ids alone; an id that is not among them is shown as it is.
 * @param {import("./page.js").Context} context
 * @returns {Promise<(id: string) => string>}
 */
export async function skuNames(context) {
  if (Date.now() - known.at > KEPT) {
    const page = await context.also(["skus"], { limit: "200" });
    if (page) known = { at: Date.now(), names: Object.fromEntries(page.items.map(/** @param {any} sku */ sku => [sku.id, sku])) };
  }
  const { names } = known;
  return id => (Object.hasOwn(names, id) ? nameOf(names[id]) : id);
}

/** Forgets the names, when one was changed. */
export function forgetNames() {
  known = { at: 0, names: {} };
}
