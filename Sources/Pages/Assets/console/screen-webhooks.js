// @ts-check
import { h } from "./dom.js";
import { time } from "./format.js";
import { foot, rowLink, table } from "./list.js";
import { page } from "./page.js";
import { dot, empty, note } from "./parts.js";
import { to } from "./router.js";
import { said, t } from "./text.js";

/**
 * Where events are sent.
 * @param {import("./page.js").Context} context
 */
export async function webhooks(context) {
  const found = await context.get(["webhooks"], { cursor: context.query.get("cursor") });
  const list = found.items.length === 0 ? empty("webhooks", t("webhooks_none_title"), t("webhooks_none_text")) : [table({ name: "webhooks", caption: t("addresses"), rows: found.items, columns: [
    { title: t("address"), style: "s-main", cell: row => rowLink(to("webhooks", row.id), h("span", { class: "clip what wide-what", "data-field": "url", title: row.url }, row.url.replace(/^https?:\/\//, ""))) },
    { title: t("state"), style: "s-sub", cell: row => webhookState(row) }, { title: t("partner"), style: "s-third", cell: row => h("span", { class: "clip user" }, row.partner ?? "–") },
    { title: t("events"), style: "s-third", cell: row => h("span", { class: "clip what", title: (row.types ?? []).join(", ") }, typesOf(row)) }, { title: t("made"), style: "num s-sub-end muted nowrap", cell: row => time(row.created_at) },
    { title: t("act"), hidden: true, style: "num s-act", cell: row => switchButton(context, row, "small") },
  ] }), foot(t("newest_first"), found.next_cursor, cursor => {
    location.hash = to("webhooks", null, { cursor });
  })];
  return page(context, { title: t("nav_webhooks"), lead: t("webhooks_lead") }, h("section", { class: "card" }, list));
}

/** @param {any} row */
export const typesOf = row => ((row.types ?? []).length === 0 ? t("every_event") : row.types.join(t("comma")));

/** @param {any} row */
export function webhookState(row) {
  const data = { "data-field": "status", "data-status": row.status };
  if (row.status !== "enabled") return dot("idle", row.disabled_reason ? t("off_because", { reason: said("disabled", row.disabled_reason) }) : t("switched_off"), data);
  return row.failing_since ? dot("warn", t("failing"), data) : dot("good", said("webhook", "enabled"), data);
}

/** @param {import("./page.js").Context} context @param {any} row @param {string} look */
export function switchButton(context, row, look) {
  const isOn = row.status !== "enabled";
  return context.act(t(isOn ? "enable" : "disable"), () => ({
    name: isOn ? "enable" : "disable", title: t(isOn ? "hook_enable_title" : "hook_disable_title"), isDanger: !isOn, confirm: t(isOn ? "enable" : "disable"), body: note(isOn ? "" : "warn", isOn ? "info" : "warn", row.url, t(isOn ? "hook_enable_text" : "hook_disable_text")),
    request: () => ({ method: "PATCH", path: ["webhooks", row.id], body: { status: isOn ? "enabled" : "disabled" } }), done: () => t(isOn ? "hook_enable_done" : "hook_disable_done"),
  }), { name: isOn ? "enable" : "disable", look: isOn ? look : `${look} danger` });
}
