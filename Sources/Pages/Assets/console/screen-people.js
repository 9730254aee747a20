// @ts-check
import { h } from "./dom.js";
import { filterForm } from "./filters.js";
import { number, time } from "./format.js";
import { foot, rowLink, table } from "./list.js";
import { page } from "./page.js";
import { empty } from "./parts.js";
import { to } from "./router.js";
import { t } from "./text.js";

/**
 * Everybody by the beginning of their id.
 * @param {import("./page.js").Context} context
 */
export async function people(context) {
  const prefix = context.query.get("prefix");
  const found = await context.get(["users"], { prefix, cursor: context.query.get("cursor") });
  const caption = prefix ? t("people_prefix", { prefix }) : t("nav_people");
  const list = found.items.length === 0
    ? empty("people", t(prefix ? "people_none_title" : "people_first_title"), t(prefix ? "people_none_text" : "people_first_text"), prefix ? h("a", { class: "button", href: to("people") }, t("show_all")) : null)
    : [table({ name: "people", caption, rows: found.items, id: row => row.user_id, columns: [
      { title: t("person"), style: "s-main", cell: row => rowLink(to("people", row.user_id), h("span", { class: "clip what", "data-field": "user_id" }, row.user_id)) },
      { title: t("owns"), style: "s-end", cell: row => (row.active ? h("span", { class: "chip plus", "data-field": "tier" }, row.tier || t("something")) : h("span", { class: "muted" }, t("owns_nothing"))) },
      { title: t("orders"), style: "num s-sub", cell: row => [h("span", { "data-field": "orders" }, number(row.orders)), h("span", { class: "on-phone" }, ` ${t("orders")}`)] },
      { title: t("known"), style: "num s-sub-end muted nowrap", cell: row => time(row.created_at, { field: "created_at" }) },
    ] }), foot(t("sorted_by_id"), found.next_cursor, cursor => {
      location.hash = to("people", null, { prefix, cursor });
    })];
  return page(context, { title: t("nav_people"), lead: t("people_lead") },
    filterForm("people", context.query, [{ name: "prefix", label: t("people_filter"), grows: true }]), h("section", { class: "card" }, list));
}
