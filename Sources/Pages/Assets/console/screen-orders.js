// @ts-check
import { file } from "./api.js";
import { h } from "./dom.js";
import { dayBounds, filterForm, tabs } from "./filters.js";
import { amountOf, short, time } from "./format.js";
import { skuNames } from "./names.js";
import { foot, rowLink, table } from "./list.js";
import { page } from "./page.js";
import { button, dot, empty, state } from "./parts.js";
import { fail } from "./result.js";
import { to } from "./router.js";
import { said, t } from "./text.js";

/** @typedef {import("./page.js").Context} Context */

const STATES = ["open", "paid", "partially_refunded", "refunded", "closed"];
const ANOMALIES = ["revived_payment", "late_payment", "duplicate_payment", "duplicate_ownership", "contradicting_fact", "amount_mismatch", "kind_mismatch", "dispute_currency"];
const FILTERS = ["user_id", "reference", "sku", "status", "provider", "platform", "environment", "anomaly", "dispute", "from", "to"];

/**
 * The orders by what is asked in the address.
 * @param {Context} context
 */
export async function orders(context) {
  const query = context.query;
  const filters = { ...Object.fromEntries(FILTERS.map(name => [name, query.get(name)])), ...dayBounds(query) };
  const [found, accounts, nameOf] = await Promise.all([context.get(["orders"], { ...filters, cursor: query.get("cursor") }), context.also(["accounts"]), skuNames(context)]);
  const is = /** @param {Record<string, string>} wanted */ wanted => FILTERS.every(name => (query.get(name) ?? "") === (wanted[name] ?? ""));
  const tab = /** @param {string} text @param {Record<string, string>} wanted */ (text, wanted) => ({ text, address: to("orders", null, wanted), isCurrent: is(wanted) });
  const words = /** @param {string} family @param {string[]} values */ (family, values) => values.map(value => /** @type {[string, string]} */ ([value, said(family, value)]));
  const form = filterForm("orders", query, [
    { name: "user_id", label: t("person"), grows: true }, { name: "reference", label: t("reference"), grows: true }, { name: "sku", label: t("sku") },
    { name: "status", label: t("state"), choices: words("order", STATES) },
    { name: "provider", label: t("account"), choices: (accounts?.items ?? []).map(/** @param {any} account */ account => [account.id, account.id]) },
    { name: "platform", label: t("platform"), isRare: true, choices: words("platform", ["ios", "android", "web", "desktop"]) },
    { name: "environment", label: t("environment"), isRare: true, choices: words("environment", ["Production", "Sandbox", "Xcode"]) },
    { name: "anomaly", label: t("anomaly"), isRare: true, choices: words("anomaly", ANOMALIES) }, { name: "dispute", label: t("dispute"), isRare: true, choices: words("dispute", ["open", "won", "lost"]) },
    { name: "from", label: t("from"), type: "date", isRare: true }, { name: "to", label: t("to"), type: "date", isRare: true },
  ]);
  form.id = "filters";
  form.setAttribute("popover", "auto");
  const more = h("button", { type: "button", class: "button filter-button", popovertarget: "filters" }, t("filters"));
  return page(context, { title: t("nav_orders"), acts: [more, button("export", t("export_csv"), () => save(filters))] },
    tabs(t("state"), [tab(t("all"), {}), ...["open", "paid", "refunded", "closed"].map(status => tab(said("order", status), { status })), tab(t("disputes_open"), { dispute: "open" })]),
    form, h("section", { class: "card" }, found.items.length === 0 ? nothing(FILTERS.some(name => query.get(name))) : [ordersTable(found.items, t("orders_newest"), nameOf), foot(t("newest_first"), found.next_cursor, cursor => {
      const next = new URLSearchParams(query);
      next.set("cursor", cursor);
      location.hash = to("orders", null, next);
    })]));
}

/** @param {boolean} isFiltered */
function nothing(isFiltered) {
  const all = h("a", { class: "button", href: to("orders") }, t("show_all"));
  return isFiltered ? empty("orders", t("orders_none_title"), t("orders_none_text"), all) : empty("shop", t("orders_first_title"), t("orders_first_text"), h("a", { class: "button", href: to("catalogue") }, t("look_catalogue")));
}

/**
 * @param {any[]} rows
 * @param {string} caption
 * @param {(sku: string) => string} nameOf
 * @param {{isShort?: boolean}} [look]
 */
export function ordersTable(rows, caption, nameOf, look = {}) {
  const columns = [
    { title: t("what"), style: "s-main", cell: /** @param {any} row */ row => rowLink(to("orders", row.id), h("span", { class: "clip what", "data-field": "sku", title: row.sku }, row.quantity > 1 ? `${nameOf(row.sku)} × ${row.quantity}` : nameOf(row.sku))) },
    look.isShort ? null : { title: t("person"), style: "s-third", cell: /** @param {any} row */ row => h("span", { class: "clip user", "data-field": "user_id", title: row.user_id }, row.user_id) },
    { title: t("state"), style: "s-sub", cell: /** @param {any} row */ row => state("order", row.status) },
    look.isShort ? null : { title: t("anomaly"), style: rows.some(row => row.anomalies?.length > 0) ? "s-third" : "s-third s-none", cell: /** @param {any} row */ row => (row.anomalies?.length > 0 ? row.anomalies.map(/** @param {string} each */ each => dot("warn", said("anomaly", each))) : h("span", { class: "muted" }, "–")) },
    look.isShort ? null : { title: t("account"), style: "s-none s-wide muted nowrap", cell: /** @param {any} row */ row => row.provider ?? "–" },
    { title: t("amount"), style: "num s-end", cell: /** @param {any} row */ row => amountOf("amount", row.amount ?? row.charged) },
    { title: t("made"), style: "num s-sub-end nowrap muted", cell: /** @param {any} row */ row => time(row.created_at) },
    { title: t("order"), style: "id s-none", cell: /** @param {any} row */ row => h("span", { class: "id", title: row.id }, short(row.id)) },
  ];
  return table({ name: "orders", caption, rows, columns: /** @type {import("./list.js").Column[]} */ (columns.filter(each => each !== null)) });
}

/** @param {Record<string, string | null>} filters */
async function save(filters) {
  try {
    const { blob } = await file({ method: "GET", path: ["export", "orders.csv"], query: filters });
    download(blob, "orders.csv");
  } catch (error) {
    fail(error);
  }
}

/**
 * Saves what was read as a file.
 * @param {Blob} blob
 * @param {string} name
 */
export function download(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
