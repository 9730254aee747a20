// @ts-check
import { h, icon } from "./dom.js";
import { time } from "./format.js";
import { table } from "./list.js";
import { page } from "./page.js";
import { card, facts, none, note } from "./parts.js";
import { to } from "./router.js";
import { notificationState } from "./screen-notifications.js";
import { mayAct } from "./session.js";
import { said, t } from "./text.js";

/**
 * One message: how it was checked, and what was sent.
 * @param {import("./page.js").Context} context
 */
export async function notification(context) {
  const one = await context.get(["notifications", context.id]);
  return page(context, { title: one.type || t("not_read"), crumbs: [[t("nav_notifications"), to("notifications")]], beside: notificationState(one), lead: one.status === "rejected" ? t("refused_lead") : null,
    acts: context.act(t("replay"), () => replayAct(one), { name: "replay", look: "primary" }) },
    h("div", { class: "grid-main" }, h("div", { class: "stack" }, steps(one.steps ?? []), found(one.facts ?? []), sent(one)), h("div", { class: "stack" }, details(one))));
}

/** @param {any} one @returns {import("./dialog.js").Act} */
const replayAct = one => ({
  name: "replay", title: t("replay_title"), confirm: t("replay"), body: note("", "info", t("replay_note"), t("replay_text")),
  request: () => ({ method: "POST", path: ["notifications", one.id, "replay"], body: {} }), done: data => t("replay_done", { status: said("notification", data.status) }),
});

/** @param {any[]} rows */
function steps(rows) {
  if (rows.length === 0) return card(t("steps"), {}, none(t("steps_none")));
  return card(t("steps"), { text: t("steps_text") }, table({ name: "steps", caption: t("steps"), rows, id: row => row.name, columns: [
    { title: t("step"), style: "s-main tall", cell: row => h("span", { class: "with-icon" }, icon(row.ok ? "check" : "bad", `icon ${row.ok ? "t-good" : "t-bad"}`), h("span", {}, said("step", row.name))) },
    { title: t("state"), style: "s-sub tall", cell: row => t(row.ok ? "step_ok" : "step_failed") }, { title: t("detail"), style: "s-third tall wrap-any", cell: detail },
  ] }));
}

/**
 * Why a step failed; of one that passed, its name says all, where the table has it.
 * @param {any} row
 */
function detail(row) {
  if (!row.ok) return said("refusal", row.detail);
  return said("step", row.name) === row.name ? (row.detail ?? "") : "";
}

/** @param {any[]} rows */
function found(rows) {
  if (rows.length === 0) return null;
  return card(t("facts"), { text: t("facts_text") }, table({ name: "facts", caption: t("facts"), rows, id: null, columns: [
    { title: t("what"), style: "s-main tall", cell: row => said("action", row.type) }, { title: t("about"), style: "s-third tall mono wrap-any", cell: row => (String(row.subject ?? "").startsWith("ord_") ? h("a", { href: to("orders", row.subject) }, row.subject) : row.subject ?? "–") },
    { title: t("detail"), style: "s-third tall wrap-any", cell: row => row.detail ?? "" },
  ] }));
}

/** @param {any} one */
function sent(one) {
  if (one.body === null && one.headers === null) return card(t("sent"), {}, none(t(mayAct() ? "sent_dropped" : "sent_reader")));
  const headers = Object.entries(one.headers ?? {}).map(([name, value]) => `${name}: ${value}`).join("\n");
  return card(t("sent"), { text: t("sent_text") }, h("div", { class: "pad fields" },
    headers ? [h("h3", {}, t("headers")), h("pre", { class: "wrap", "data-field": "headers", tabindex: "0", role: "region", "aria-label": t("headers") }, headers)] : null,
    one.body === null ? h("p", { class: "muted" }, t("sent_dropped")) : [h("h3", {}, one.body_encoding === "base64" ? t("body_base64") : t("body")), h("pre", { class: "wrap", "data-field": "body", tabindex: "0", role: "region", "aria-label": t("body") }, pretty(one))]));
}

/**
 * JSON with line breaks; another text as it is.
 * @param {any} one
 */
function pretty(one) {
  if (one.body_encoding === "base64") return one.body;
  try {
    return JSON.stringify(JSON.parse(one.body), null, 2);
  } catch {
    return one.body;
  }
}

/** @param {any} one */
const details = one => card(t("the_message"), {}, h("div", { class: "pad" }, facts([
  [t("account"), h("a", { href: to("notifications", null, { account: one.account }), "data-field": "account" }, one.account)], [t("event"), h("span", { class: "id", "data-field": "provider_event_id" }, one.provider_event_id ?? "–")],
  [t("arrived"), time(one.received_at, { field: "received_at", full: true })], [t("taken_over"), time(one.processed_at, { field: "processed_at", full: true })], [t("id"), h("span", { class: "id", "data-field": "id" }, one.id)],
])));
