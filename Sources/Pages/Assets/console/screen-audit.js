// @ts-check
import { h, icon } from "./dom.js";
import { dayBounds, filterForm } from "./filters.js";
import { short, time } from "./format.js";
import { foot, table } from "./list.js";
import { page } from "./page.js";
import { empty } from "./parts.js";
import { to } from "./router.js";
import { said, t } from "./text.js";
import { same } from "./sku-model.js";

/**
 * Who did what.
 * @param {import("./page.js").Context} context
 */
export async function audit(context) {
  const { query } = context;
  const found = await context.get(["audit"], { subject: query.get("subject"), actor: query.get("actor"), ...dayBounds(query), cursor: query.get("cursor") });
  const isFiltered = ["subject", "actor", "from", "to"].some(name => query.get(name));
  const list = found.items.length === 0 ? empty("audit", t("audit_none_title"), t(isFiltered ? "audit_none_text" : "audit_first_text"), isFiltered ? h("a", { class: "button", href: to("audit") }, t("show_all")) : null) : [table({ name: "audit", caption: t("audit_newest"), rows: found.items, id: row => String(row.position), columns: [
    { title: t("what"), style: "s-main tall", cell: row => [h("span", { "data-field": "action" }, said("action", row.action)), row.reason ? h("span", { class: "sub wrap-any", "data-field": "reason" }, row.reason) : null] },
    { title: t("about"), style: "s-third wrap-any", cell: row => subject(row.subject) }, { title: t("before_after"), style: "s-third tall", cell: row => diff(row) },
    { title: t("who"), style: "s-sub tall", cell: row => [h("span", { class: "wrap-any", "data-field": "actor" }, row.actor), row.via ? h("span", { class: "muted", "data-field": "via" }, ` (${said("via", row.via)})`) : null] },
    { title: t("when"), style: "num s-end muted small nowrap", cell: row => time(row.at) },
  ] }), foot(t("newest_first"), found.next_cursor, cursor => {
    const next = new URLSearchParams(query);
    next.set("cursor", cursor);
    location.hash = to("audit", null, next);
  })];
  return page(context, { title: t("nav_audit"), lead: t("audit_lead") }, filterForm("audit", query, [
    { name: "subject", label: t("about"), grows: true }, { name: "actor", label: t("who"), grows: true }, { name: "from", label: t("from"), type: "date" }, { name: "to", label: t("to"), type: "date" },
  ]), h("section", { class: "card" }, list));
}

/** @param {string | null | undefined} id */
function subject(id) {
  if (!id) return "–";
  const sku = /^sku\/(.+)$/.exec(id)?.[1];
  if (sku) return h("a", { href: to("catalogue", sku), "data-field": "subject" }, sku);
  const screen = id.startsWith("ord_") ? "orders" : id.startsWith("ntf_") ? "notifications" : id.startsWith("whk_") ? "webhooks" : null;
  const text = /^[a-z]{2,4}_[0-9a-z]{26}$/.test(id) ? short(id) : id;
  return h("span", { "data-field": "subject", title: id }, screen ? h("a", { href: to(screen, id) }, text) : text);
}

/** @param {string} text @returns {Record<string, unknown>} */
function members(text) {
  try {
    const value = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? value : { "": value };
  } catch {
    return text ? { "": text } : {};
  }
}

/**
 * What an act changed, member by member.
 * @param {any} row
 */
export function diff(row) {
  const [before, after] = [members(row.before), members(row.after)];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(name => !same(before[name] ?? null, after[name] ?? null));
  if (names.length === 0) return h("span", { class: "muted" }, "–");
  const value = /** @param {unknown} each */ each => (each === undefined || each === null ? t("nothing") : typeof each === "string" ? each : JSON.stringify(each));
  const isNew = Object.keys(before).length === 0;
  const line = /** @param {string} name */ name => h("li", { class: "wrap-any" }, h("code", {}, name === "" ? "" : `${name}: `, isNew ? null : [h("del", {}, value(before[name])), " → "], h("ins", {}, value(after[name]))));
  if (isNew && names.length > 3) return h("details", {}, h("summary", {}, icon("chev", "icon-s turn"), t("values_made", { count: names.length })), h("ul", { class: "diff" }, names.map(line)));
  const first = names.slice(0, 3).map(line);
  return names.length <= 3 ? h("ul", { class: "diff" }, first) : h("div", {}, h("ul", { class: "diff" }, first), h("details", {}, h("summary", {}, icon("chev", "icon-s turn"), t("and_more", { count: names.length - 3 })), h("ul", { class: "diff" }, names.slice(3).map(line))));
}

/**
 * The entries of a person's page, the newest first.
 * @param {any[]} items
 */
export function entries(items) {
  return items.map(item => h("li", {}, icon("audit"), h("div", {}, h("p", {}, said("action", item.action)), h("p", {}, [item.reason, item.actor].filter(Boolean).join(" · "))), time(item.at)));
}
