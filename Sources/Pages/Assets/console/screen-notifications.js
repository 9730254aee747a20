// @ts-check
import { h } from "./dom.js";
import { filterForm } from "./filters.js";
import { short, time } from "./format.js";
import { foot, rowLink, table } from "./list.js";
import { page } from "./page.js";
import { dot, empty, state } from "./parts.js";
import { to } from "./router.js";
import { said, t } from "./text.js";

/**
 * What payment companies said.
 * @param {import("./page.js").Context} context
 */
export async function notifications(context) {
  const { query } = context;
  const [found, accounts] = await Promise.all([context.get(["notifications"], { status: query.get("status"), account: query.get("account"), cursor: query.get("cursor") }), context.also(["accounts"])]);
  const isFiltered = Boolean(query.get("status") ?? query.get("account"));
  const list = found.items.length === 0 ? empty("notifications", t(isFiltered ? "notifications_none_title" : "notifications_first_title"), t(isFiltered ? "notifications_none_text" : "notifications_first_text"), isFiltered ? h("a", { class: "button", href: to("notifications") }, t("show_all")) : null)
    : [table({ name: "notifications", caption: t("notifications_newest"), rows: found.items, columns: [
      { title: t("message"), style: "s-main", cell: row => rowLink(to("notifications", row.id), h("span", { class: "clip what", "data-field": "type" }, row.type || t("not_read"))) },
      { title: t("state"), style: "s-sub", cell: row => notificationState(row) },
      { title: t("account"), style: "s-third", cell: row => row.account },
      { title: t("event"), style: "s-none s-wide muted", cell: row => h("span", { class: "clip user" }, row.provider_event_id ?? "–") },
      { title: t("when"), style: "num s-end muted small nowrap", cell: row => time(row.received_at) },
      { title: t("id"), style: "id s-none", cell: row => h("span", { class: "id", title: row.id }, short(row.id)) },
    ] }), foot(t("newest_first"), found.next_cursor, cursor => {
      const next = new URLSearchParams(query);
      next.set("cursor", cursor);
      location.hash = to("notifications", null, next);
    })];
  return page(context, { title: t("nav_notifications"), lead: t("notifications_lead") }, filterForm("notifications", query, [
    { name: "account", label: t("account"), choices: (accounts?.items ?? []).map(/** @param {any} account */ account => [account.id, account.id]) },
    { name: "status", label: t("state"), choices: ["stored", "processed", "quarantined", "rejected"].map(each => [each, said("notification", each)]) },
  ]), h("section", { class: "card" }, list));
}

/** @param {any} row */
export const notificationState = row => (row.reason ? dot("bad", t("refused_for", { reason: said("refusal", row.reason) }), { "data-field": "status", "data-status": row.status }) : state("notification", row.status));
