// @ts-check
import { file } from "./api.js";
import { importAct } from "./acts-sku.js";
import { h } from "./dom.js";
import { tabs } from "./filters.js";
import { amountOf, number, time } from "./format.js";
import { foot, rowLink, table } from "./list.js";
import { nameOf } from "./names.js";
import { page } from "./page.js";
import { button, card, empty, state } from "./parts.js";
import { fail } from "./result.js";
import { to } from "./router.js";
import { download } from "./screen-orders.js";
import { mayAct } from "./session.js";
import { said, t } from "./text.js";

/** @typedef {import("./page.js").Context} Context */

/**
 * What is sold, and what was bought that no SKU knows.
 * @param {Context} context
 */
export async function catalogue(context) {
  const [found, waiting] = await Promise.all([context.get(["skus"], { limit: "200", cursor: context.query.get("cursor") }), context.get(["products", "waiting"])]);
  const shown = context.query.get("show");
  const rows = found.items.filter(/** @param {any} sku */ sku => shown === null || (shown === "archived") !== sku.active);
  const currencies = currenciesOf(found.items);
  const tab = /** @param {string} text @param {string | null} value */ (text, value) => ({ text, address: to("catalogue", null, { show: value }), isCurrent: shown === value });
  const choice = currencies.length < 2 ? null : h("select", { class: "field small-field", "aria-label": t("currency"), id: "xcode-currency" }, currencies.map(each => h("option", { value: each }, each)));
  const save = /** @param {string[]} path @param {string} name */ (path, name) => async () => {
    try {
      const currency = /** @type {HTMLSelectElement | null} */ (document.querySelector("#xcode-currency"))?.value ?? currencies[0] ?? null;
      download((await file({ method: "GET", path, query: name.endsWith(".storekit") ? { currency } : {} })).blob, name);
    } catch (error) {
      fail(error);
    }
  };
  return page(context, { title: t("nav_catalogue"), lead: t("catalogue_lead"), acts: [
    mayAct() ? h("a", { class: "button primary", href: to("catalogue", "new"), "data-action": "add" }, t("add_sku")) : null,
    context.act(t("import"), () => importAct(currencies.length > 0 ? currencies : ["CNY", "USD"]), { name: "import" }), button("export", t("export_yaml"), save(["catalog.yaml"], "catalog.yaml"), {}),
  ] },
    waiting.items.length === 0 ? null : waitingCard(waiting),
    tabs(t("state"), [tab(t("all"), null), tab(said("sku", "on_sale"), "active"), tab(said("sku", "archived"), "archived")]),
    h("section", { class: "card" }, rows.length === 0 ? empty("catalogue", t("catalogue_none_title"), t("catalogue_none_text"), mayAct() ? h("a", { class: "button primary", href: to("catalogue", "new") }, t("add_sku")) : null) : [skuTable(rows, currencies), foot(t("sorted_by_number"), found.next_cursor, cursor => {
      location.hash = to("catalogue", null, { show: shown, cursor });
    })]),
    currencies.length === 0 ? null : card(t("xcode_title"), { text: t("xcode_text"), acts: [choice, button("export", t("export_xcode"), save(["catalog.storekit"], "catalog.storekit"), {})] }));
}

/** @param {any} sku */
const pricesOf = sku => [...(sku.prices ?? []), ...(sku.options ?? []).flatMap(/** @param {any} option */ option => option.prices)];

/**
 * The currencies of the catalogue, the most frequent first.
 * @param {any[]} skus
 * @returns {string[]}
 */
function currenciesOf(skus) {
  const counts = /** @type {Record<string, number>} */ ({});
  for (const price of skus.flatMap(pricesOf)) counts[price.currency] = (counts[price.currency] ?? 0) + 1;
  return Object.keys(counts).sort((a, b) => (counts[b] ?? 0) - (counts[a] ?? 0));
}

/** @param {any[]} rows @param {string[]} currencies */
function skuTable(rows, currencies) {
  const shown = currencies.slice(0, 2);
  return table({ name: "catalogue", caption: t("skus"), rows, columns: [
    { title: t("name"), style: "s-main", cell: row => rowLink(to("catalogue", row.id), h("span", { class: "clip what", "data-field": "name", title: nameOf(row) }, nameOf(row))) },
    { title: t("state"), style: "s-sub", cell: row => state("sku", row.active ? "on_sale" : "archived", { field: "active" }) },
    { title: t("kind"), style: "s-none", cell: row => said("kind", row.kind) },
    { title: t("tier"), style: "s-none s-wide", cell: row => (row.tier ? h("span", { class: "chip clip" }, row.tier) : h("span", { class: "muted" }, "–")) },
    ...shown.map((currency, index) => ({ title: currency, style: index === 0 ? "num s-end" : "num s-sub-end", cell: /** @param {any} row */ row => amountOf("price", pricesOf(row).find(price => price.currency === currency)) })),
    { title: t("apple_product"), style: "mono s-none", cell: row => h("span", { class: "clip product", title: (row.apple_product_ids ?? []).join(", ") }, (row.apple_product_ids ?? [])[0] ?? "–") },
    { title: t("sku"), style: "id s-third mono", cell: row => h("span", { class: "clip what" }, row.id) },
  ] });
}

/** @param {any} waiting */
function waitingCard(waiting) {
  return card(t("waiting"), { text: t("waiting_text") }, table({ name: "waiting", caption: t("waiting"), rows: waiting.items, id: row => row.product_id, columns: [
    { title: t("apple_product"), style: "s-main mono wrap-any", cell: row => row.product_id }, { title: t("kind"), style: "s-sub", cell: row => said("apple_type", row.type.replaceAll(" ", "_")) },
    { title: t("bought"), style: "num s-end", cell: row => t("times", { count: number(row.count) }) }, { title: t("people_count"), style: "num s-none", cell: row => number(row.users) },
    { title: t("last"), style: "num s-sub-end muted nowrap", cell: row => time(row.last_at) },
    { title: t("act"), hidden: true, style: "num s-act", cell: row => (mayAct() ? button("make-sku", t("make_sku"), () => {
      location.hash = to("catalogue", "new", { product: row.product_id, type: row.type });
    }, { look: "small" }) : null) },
  ] }));
}
