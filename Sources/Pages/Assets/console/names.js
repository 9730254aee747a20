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
