// @ts-check
import { h } from "./dom.js";
import { number, time } from "./format.js";
import { resetAct, routingAct, switchAct, syncAct, testAct } from "./acts-accounts.js";
import { table } from "./list.js";
import { page } from "./page.js";
import { copyable, dot, empty } from "./parts.js";
import { to } from "./router.js";
import { isDevelopment, mayAct } from "./session.js";
import { said, t } from "./text.js";

/** @typedef {import("./page.js").Context} Context */

/**
 * Who takes the money, and whether they answer.
 * @param {Context} context
 */
export async function accounts(context) {
  const isTestable = isDevelopment() && mayAct();
  const [found, skus] = await Promise.all([context.get(["accounts"]), isTestable ? context.also(["skus"], { limit: "200" }) : null]);
  const sold = (skus?.items ?? []).filter(/** @param {any} sku */ sku => sku.active && (sku.prices ?? []).length > 0);
  const list = found.items.length === 0 ? empty("accounts", t("accounts_none_title"), t("accounts_none_text")) : table({ name: "accounts", caption: t("nav_accounts"), rows: found.items, columns: [
    { title: t("account"), style: "s-main tall", cell: row => [h("span", { class: "strong" }, row.manifest?.display_name || row.id), h("span", { class: "sub id" }, row.id), row.test ? h("span", { class: "chip test" }, t("test_account")) : null] },
    { title: t("state"), style: "s-sub tall", cell: row => [health(row), h("span", { class: "sub" }, row.overridden ? t("overridden") : said("provider_kind", row.kind))] },
    { title: t("notifications"), style: "s-third tall", cell: notifications },
    { title: t("routing"), style: "s-third tall", cell: row => routing(row.routing) },
    { title: t("act"), hidden: true, style: "num s-act tall", cell: row => h("span", { class: "acts" }, acts(context, row, sold)) },
  ] });
  return page(context, { title: t("nav_accounts"), lead: t("accounts_lead") }, h("section", { class: "card" }, list));
}

/** @param {any} row */
function health(row) {
  if (!row.enabled) return dot("idle", t("switched_off"), { "data-field": "enabled", "data-status": "false" });
  const words = /** @type {Record<string, [string, string]>} */ ({ closed: ["good", t("health_closed")], half_open: ["warn", t("health_half_open")], open: ["bad", t("health_open")] });
  const [look, text] = words[row.health] ?? ["idle", row.health];
  return dot(look, text, { "data-field": "health", "data-status": row.health });
}

/** @param {any} row */
function notifications(row) {
  const last = row.last_notification_at ? h("span", { class: "sub" }, h("a", { href: to("notifications", null, { account: row.id }) }, t("last_notification")), " ", time(row.last_notification_at, { field: "last_notification_at" })) : h("span", { class: "sub" }, t("never_notified"));
  return row.notify_url ? [copyable(row.notify_url, t("copy_address", { name: row.id }), { field: "notify_url" }), last] : last;
}

/**
 * Which payments it takes, in words.
 * @param {any} rules
 */
function routing(rules) {
  if (!rules) return "–";
  const parts = [t("priority_weight", { priority: number(rules.priority ?? 0), weight: number(rules.weight ?? 0) })];
  if (rules.currencies?.length > 0) parts.push(rules.currencies.join(t("comma")));
  if (rules.platforms?.length > 0) parts.push(rules.platforms.map(/** @param {string} each */ each => said("platform", each)).join(t("comma")));
  if (rules.skus?.length > 0) parts.push(rules.skus.join(t("comma")));
  return parts.map((part, index) => h("span", { class: index === 0 ? "" : "sub" }, part));
}

/** @param {Context} context @param {any} row @param {any[]} sold */
function acts(context, row, sold) {
  return [
    row.test && row.enabled && row.kind !== "apple_iap" && sold.length > 0 && isDevelopment() ? context.act(t("test_checkout"), () => testAct(row, sold), { name: "test-checkout", look: "small" }) : null,
    context.act(t("sync"), () => syncAct(row), { name: "sync", look: "small" }), context.act(t("routing_act"), () => routingAct(row), { name: "routing", look: "small" }),
    row.overridden ? context.act(t("reset"), () => resetAct(row), { name: "reset", look: "small" }) : null,
    row.enabled ? context.act(t("disable"), () => switchAct(row, false), { name: "disable", look: "small danger" }) : context.act(t("enable"), () => switchAct(row, true), { name: "enable", look: "small" }),
  ];
}
