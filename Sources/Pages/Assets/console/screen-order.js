// @ts-check
import { h, icon } from "./dom.js";
import { amountOf, days, exact, iso, time } from "./format.js";
import { table } from "./list.js";
import { closeAct, mismatchAct, refreshAct, refundAct, refundable } from "./acts-order.js";
import { skuNames } from "./names.js";
import { page } from "./page.js";
import { card, dot, facts, none, note, state } from "./parts.js";
import { to } from "./router.js";
import { said, t } from "./text.js";

/** @typedef {import("./page.js").Context} Context */

/**
 * One order: its money, what happened, and what it gave.
 * @param {Context} context
 */
export async function order(context) {
  const [order, nameOf] = await Promise.all([context.get(["orders", context.id]), skuNames(context)]);
  const left = refundable(order);
  const isWaiting = order.status === "open";
  const isAsked = isWaiting || order.payments.some(/** @param {any} payment */ payment => ["pending", "unknown"].includes(payment.status)) || (order.refunds ?? []).some(/** @param {any} refund */ refund => ["created", "pending", "unknown"].includes(refund.status));
  const what = order.quantity > 1 ? `${nameOf(order.sku)} × ${order.quantity}` : nameOf(order.sku);
  return page(context, { title: what, crumbs: [[t("nav_orders"), to("orders")]],
    beside: [state("order", order.status), ...order.anomalies.map(/** @param {string} each */ each => dot("warn", said("anomaly", each), { "data-field": "anomalies" })), order.environment === "Production" ? null : h("span", { class: "chip test" }, said("environment", order.environment))],
    acts: [
      left ? context.act(t("refund"), () => refundAct(order, left), { name: "refund", look: "primary" }) : null,
      isAsked ? context.act(t("refresh"), () => refreshAct(order), { name: "refresh" }) : null,
      isWaiting ? context.act(t("close_order"), () => closeAct(order), { name: "close", look: "danger" }) : null,
    ] },
    h("p", { class: "amount-xl" }, amountOf("amount", order.amount ?? order.charged)),
    h("div", { class: "grid-main" },
      h("div", { class: "stack" }, mismatches(context, order), payments(order), timeline(order), refunds(order), disputes(order)),
      h("div", { class: "stack" }, grants(order), details(order), metadata(order))));
}

/** @param {Context} context @param {any} order */
function mismatches(context, order) {
  if ((order.mismatches ?? []).length === 0) return null;
  return card(t("mismatches"), { text: t("mismatches_text") }, table({ name: "mismatches", caption: t("mismatches"), rows: order.mismatches, id: row => String(row.n), columns: [
    { title: t("came"), style: "s-main", cell: row => amountOf("amount", row.amount) },
    { title: t("state"), style: "s-sub", cell: row => state("mismatch", row.state, { field: "state", look: row.state === "open" ? "warn" : "idle" }) },
    { title: t("account"), style: "s-third", cell: row => row.account ?? "–" },
    { title: t("reference"), style: "s-third tall mono wrap-any", cell: row => row.reference ?? row.payment_id ?? "–" },
    { title: t("when"), style: "num s-sub-end muted", cell: row => time(row.at) },
    { title: t("act"), hidden: true, style: "num s-act", cell: row => (row.state === "open" ? context.act(t("settle"), () => mismatchAct(order, row), { name: "settle-mismatch", look: "small" }) : null) },
  ] }));
}

/** @param {any} order */
function payments(order) {
  if (order.payments.length === 0) return card(t("payments"), {}, none(t(order.origin === "purchase" ? "payments_store" : "payments_none")));
  return card(t("payments"), {}, table({ name: "payments", caption: t("payments"), rows: order.payments, columns: [
    { title: t("account"), style: "s-main tall", cell: row => [h("span", { class: "strong" }, row.provider), row.processor ? h("span", { class: "sub" }, row.processor) : null, h("span", { class: "sub id" }, row.id)] },
    { title: t("state"), style: "s-sub tall", cell: row => [state("payment", row.status), row.failure ? h("span", { class: "sub", "data-field": "failure" }, row.failure.message || said("failure", row.failure.reason)) : null, row.unfenced && row.status !== "succeeded" ? h("span", { class: "sub" }, t("unfenced")) : null] },
    { title: t("amount"), style: "num s-end", cell: row => amountOf("amount", row.amount) },
    { title: t("reference"), style: "s-third tall mono wrap-any", cell: row => h("span", { "data-field": "reference" }, row.reference ?? "–") },
    { title: t("made"), style: "num s-sub-end muted nowrap", cell: row => time(row.created_at) },
  ] }));
}

/** @param {any} order */
function timeline(order) {
  const items = order.timeline.map(/** @param {any} event */ event => h("li", {}, icon(symbolOf(event.type)), h("div", {}, h("p", {}, said("action", event.type)), event.detail ? h("p", {}, event.detail) : null), time(event.at, { full: true })));
  return card(t("timeline"), { text: t("timeline_text") }, items.length === 0 ? none(t("timeline_none")) : h("ol", { class: "line pad", "data-list": "timeline" }, items));
}

/** @param {string} type */
function symbolOf(type) {
  if (/refund|return/.test(type)) return "refund";
  if (/fail|anomal|mismatch|dispute/.test(type)) return "warn";
  if (/paid|succe|grant/.test(type)) return "check";
  return /open|creat/.test(type) ? "orders" : "jobs";
}

/** @param {any} order */
function refunds(order) {
  const rows = order.refunds ?? [];
  if (rows.length === 0) return card(t("refunds"), {}, none(t("refunds_none")));
  return card(t("refunds"), {}, table({ name: "refunds", caption: t("refunds"), rows, columns: [
    { title: t("reason"), style: "s-main tall wrap-any", cell: row => h("span", { "data-field": "reason" }, row.reason || "–") },
    { title: t("state"), style: "s-sub", cell: row => state("refund", row.status) },
    { title: t("amount"), style: "num s-end", cell: row => amountOf("amount", row.amount) },
    { title: t("reference"), style: "s-third mono wrap-any", cell: row => row.reference ?? "–" },
    { title: t("made"), style: "num s-sub-end muted nowrap", cell: row => time(row.created_at) },
  ] }));
}

/** @param {any} order */
function disputes(order) {
  const rows = order.disputes ?? [];
  if (rows.length === 0) return null;
  return card(t("disputes"), { text: t("disputes_text") }, table({ name: "disputes", caption: t("disputes"), rows, columns: [
    { title: t("amount"), style: "s-main", cell: row => amountOf("amount", row.amount) },
    { title: t("state"), style: "s-sub", cell: row => state("dispute", row.status, { look: row.status === "open" ? "warn" : undefined }) },
    { title: t("made"), style: "num s-sub-end muted nowrap", cell: row => time(row.created_at) },
    { title: t("dispute"), style: "s-third id", cell: row => row.id },
  ] }));
}

/** @param {any} order */
function grants(order) {
  const rows = order.grants ?? [];
  const first = rows[0];
  const summary = first ? h("div", { class: "pad" }, note(["active", "in_grace_period"].includes(first.status) ? "good" : "", first.status === "active" ? "check" : "info", sentence(first), whyOf(first))) : null;
  return card(t("gave"), {}, rows.length === 0 ? none(t(order.status === "open" ? "gave_later" : "gave_nothing")) : [summary, table({ name: "grants", caption: t("gave"), rows, columns: [
    { title: t("gives"), style: "s-main tall", cell: row => [row.tier || row.sku, h("span", { class: "sub" }, untilOf(row))] },
    { title: t("state"), style: "s-sub", cell: row => state("grant", row.status) },
    { title: t("grant"), style: "s-third id s-wide", cell: row => h("span", { class: "id", title: row.id }, row.id.slice(-6)) },
  ] })]);
}

/**
 * What a grant gives, and until when.
 * @param {any} grant
 */
export function sentence(grant) {
  const name = grant.tier || grant.sku;
  if (grant.perpetual) return t("owns_for_good", { name });
  if (grant.expires_at === null) return name;
  return t(["active", "in_grace_period"].includes(grant.status) ? "owns_until" : "owned_until", { name, date: exact(grant.expires_at) });
}

/** @param {any} grant */
export function untilOf(grant) {
  if (grant.perpetual) return t("for_good");
  return grant.expires_at === null ? t("units_only") : t(grant.will_renew ? "renews_on" : "until", { date: exact(grant.expires_at) });
}

/** @param {any} grant */
function whyOf(grant) {
  if (grant.perpetual || grant.expires_at === null) return t("why_for_good");
  return t("why_days", { length: days(Math.max(1, Math.round((grant.expires_at - grant.starts_at) / 86_400))), date: exact(grant.starts_at) });
}

/** @param {any} order */
function details(order) {
  return card(t("the_order"), {}, h("div", { class: "pad" }, facts([
    [t("person"), h("a", { href: to("people", order.user_id), "data-field": "user_id" }, order.user_id)],
    [t("sku"), h("a", { href: to("catalogue", order.sku), "data-field": "sku" }, order.sku)],
    [t("charged"), amountOf("charged", order.charged)], [t("refunded"), amountOf("refunded", order.refunded)],
    [t("platform"), h("span", { "data-field": "platform" }, said("platform", order.platform))], [t("origin"), h("span", { "data-field": "origin" }, said("origin", order.origin))],
    [t("environment"), h("span", { "data-field": "environment" }, said("environment", order.environment))],
    [t("made"), h("time", { "data-field": "created_at", datetime: iso(order.created_at), title: exact(order.created_at) }, exact(order.created_at))],
    order.paid_at === null ? null : [t("paid_at"), time(order.paid_at, { field: "paid_at", full: true })],
    order.closed_at === null ? null : [t("closed_at"), time(order.closed_at, { field: "closed_at", full: true })],
    order.status === "open" && order.expires_at ? [t("ends"), time(order.expires_at, { field: "expires_at", full: true })] : null,
    order.subscription_id ? [t("subscription"), h("span", { class: "id", "data-field": "subscription_id" }, order.subscription_id)] : null,
    order.partner ? [t("partner"), h("span", { "data-field": "partner" }, order.partner)] : null,
    [t("order"), h("span", { class: "id", "data-field": "id" }, order.id)],
  ])));
}

/** @param {any} order */
function metadata(order) {
  const pairs = Object.entries(order.metadata ?? {});
  return pairs.length === 0 ? null : card(t("metadata"), { text: t("metadata_text") }, h("div", { class: "pad" }, facts(pairs.map(([name, value]) => /** @type {[string, string]} */ ([name, String(value)])), "facts tight")));
}
