// @ts-check
import { call } from "./api.js";
import { h, icon } from "./dom.js";
import { days, number } from "./format.js";
import { table } from "./list.js";
import { button, dot, none } from "./parts.js";
import { fail } from "./result.js";
import { to } from "./router.js";
import { remover, rows } from "./sku-rows.js";
import { clash, isPattern } from "./sku-model.js";
import { split } from "../sdk/words.js";
import { t, words } from "./text.js";

/**
 * Apple's products of a SKU: exact ids and at most one pattern, each with what is known of it.
 * @param {Record<string, any>} sku
 * @param {{skus: any[], waiting: any[], isFixed: boolean, signal: AbortSignal}} known
 */
export function appleProducts(sku, known) {
  const preview = h("div", {});
  const list = rows({ action: "add-product", add: t("add_product"), isFixed: known.isFixed, rows: sku.apple_product_ids.length === 0 && !known.isFixed ? [null] : sku.apple_product_ids, row: id => {
    const said = h("p", { class: "help" });
    const input = h("input", { class: "field mono", "data-stem": "apple_product_ids[#]", name: "x", "data-label": t("product_id"), value: id ?? "", placeholder: "app.example.month", autocomplete: "off", spellcheck: "false", readonly: known.isFixed, oninput: () => look(input, said, sku.id, known) });
    look(input, said, sku.id, known);
    return h("div", { class: "product-row" }, input, known.isFixed ? null : remover(t("remove_product")), said);
  } });
  const act = button("preview", t("preview"), () => show(list, preview, known), { look: "small" });
  return [h("div", { class: "pad fields" }, h("p", { class: "help" }, t("apple_help")), list, h("div", {}, act)), preview];
}

/**
 * Says below a product id what is known of it.
 * @param {HTMLInputElement} input
 * @param {Element} said
 * @param {string} own
 * @param {{skus: any[], waiting: any[]}} known
 */
function look(input, said, own, known) {
  const id = input.value.trim();
  said.className = "help";
  if (id === "") return said.replaceChildren();
  const other = isPattern(id) ? null : clash(id, known.skus, own);
  if (other !== null) {
    said.className = "error";
    const around = split(words.table.clash ?? "", "sku", other);
    return said.replaceChildren(icon("warn", "icon-s"), h("span", {}, around.before, h("a", { href: to("catalogue", other) }, other), around.after));
  }
  if (isPattern(id)) return said.replaceChildren(t("pattern_help"));
  const waits = known.waiting.find(each => each.product_id === id || `${each.bundle_id}:${each.product_id}` === id);
  said.replaceChildren(waits ? t("product_waits", { count: number(waits.count), users: number(waits.users) }) : t("product_free"));
}

/**
 * Shows which products that were seen the pattern matches, and what stands in its way.
 * @param {Element} list
 * @param {Element} preview
 * @param {{skus: any[], waiting: any[], signal: AbortSignal}} known
 */
async function show(list, preview, known) {
  const ids = /** @type {HTMLInputElement[]} */ (Array.from(list.querySelectorAll("input"))).map(input => input.value.trim()).filter(id => id !== "");
  const pattern = ids.find(isPattern);
  if (pattern === undefined) {
    preview.replaceChildren(none(ids.length === 0 ? t("preview_none") : t("preview_exact")));
    return;
  }
  try {
    const { data } = await call({ method: "GET", path: ["patterns", "preview"], query: { pattern } }, known.signal);
    const clashes = data.clashes.length === 0 ? null : h("p", { class: "pad error" }, icon("warn", "icon-s"), h("span", {}, t("pattern_clashes"), " ", data.clashes.map(/** @param {string} each @param {number} index */ (each, index) => [index > 0 ? ", " : "", h("a", { href: to("catalogue", each) }, each)]).flat()));
    const matches = data.matches.length === 0 ? none(t("preview_nothing")) : table({ name: "preview", caption: t("preview_caption"), style: "list cards compact", rows: data.matches, id: row => row.product_id, columns: [
      { title: t("product_seen"), style: "s-main mono", cell: row => row.product_id }, { title: t("gives"), style: "s-sub", cell: row => days(row.days) }, { title: t("seen"), style: "num s-end", cell: row => t("times", { count: number(row.seen) }) },
    ] });
    preview.replaceChildren(...[clashes ?? dot("good", t("pattern_free"), { class: "status good pad" }), matches]);
  } catch (error) {
    if (!known.signal.aborted) fail(error);
  }
}
