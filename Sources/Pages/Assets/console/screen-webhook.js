// @ts-check
import { h } from "./dom.js";
import { number, short, time } from "./format.js";
import { foot, table } from "./list.js";
import { page } from "./page.js";
import { card, dot, facts, none, note, state } from "./parts.js";
import { fail } from "./result.js";
import { to } from "./router.js";
import { switchButton, typesOf, webhookState } from "./screen-webhooks.js";
import { said, t } from "./text.js";

/** @typedef {import("./page.js").Context} Context */

/**
 * One address: its deliveries, and each attempt.
 * @param {Context} context
 */
export async function webhook(context) {
  const [found, deliveries] = await Promise.all([find(context), context.get(["webhooks", context.id, "deliveries"], { cursor: context.query.get("cursor") })]);
  const title = found ? found.url.replace(/^https?:\/\//, "") : context.id;
  return page(context, { title, crumbs: [[t("nav_webhooks"), to("webhooks")]], beside: found ? webhookState(found) : null, acts: found ? [context.act(t("rotate"), () => rotateAct(found), { name: "rotate" }), switchButton(context, found, "")] : null },
    h("div", { class: "grid-main" }, h("div", { class: "stack" }, list(context, deliveries)), h("div", { class: "stack" }, found ? card(t("where_to"), {}, h("div", { class: "pad" }, facts([
      [t("address"), h("span", { "data-field": "url" }, found.url)], [t("partner"), h("span", { "data-field": "partner" }, found.partner ?? "–")], [t("events"), typesOf(found)], [t("made"), time(found.created_at, { full: true })],
      found.failing_since ? [t("failing_since"), time(found.failing_since, { full: true })] : null, [t("id"), h("span", { class: "id", "data-field": "id" }, found.id)],
    ]))) : null, card(t("in_order"), {}, h("p", { class: "pad muted" }, t("in_order_text"))))));
}

/**
 * Finds the webhook in the list, since no call reads a single one.
 * @param {Context} context
 */
async function find(context) {
  let cursor = null;
  do {
    const page = /** @type {any} */ (await context.also(["webhooks"], { limit: "200", cursor }));
    const one = page?.items.find(/** @param {any} each */ each => each.id === context.id);
    if (one) return one;
    cursor = page?.next_cursor ?? null;
  } while (cursor !== null);
  return null;
}

/** @param {any} hook @returns {import("./dialog.js").Act} */
const rotateAct = hook => ({
  name: "rotate", title: t("rotate_title"), confirm: t("rotate_confirm"), body: note("warn", "warn", t("rotate_note"), t("rotate_text")),
  request: () => ({ method: "POST", path: ["webhooks", hook.id, "rotate-secret"], body: {} }),
  secret: data => ({ title: t("rotate_secret"), text: t("rotate_secret_text"), value: data.secret }), done: () => t("rotate_done"),
});

/** @param {Context} context @param {any} found */
function list(context, found) {
  if (found.items.length === 0) return card(t("deliveries"), {}, none(t("deliveries_none")));
  const attempts = h("div", {});
  return card(t("deliveries"), { text: t("deliveries_text") }, table({ name: "deliveries", caption: t("deliveries"), rows: found.items, columns: [
    { title: t("event"), style: "s-main tall", cell: row => [h("span", { class: "mono" }, row.type), h("span", { class: "sub id", title: row.id }, short(row.id))] },
    { title: t("state"), style: "s-sub tall", cell: row => [state("delivery", row.status), h("span", { class: "sub" }, row.last_error ? said("attempt", row.last_error) : row.last_status ? String(row.last_status) : "")] },
    { title: t("tried"), style: "num s-sub-end", cell: row => t("times", { count: number(row.attempts ?? 0) }) }, { title: t("when"), style: "num s-end muted small nowrap", cell: row => time(row.done_at ?? row.next_at ?? row.created_at) },
    { title: t("act"), hidden: true, style: "num s-act", cell: row => h("span", { class: "acts" }, h("button", { type: "button", class: "button small", onclick: () => show(context, row, attempts) }, t("attempts")), context.act(t("redeliver"), () => redeliverAct(row), { name: "redeliver", look: "small" })) },
  ] }), attempts, foot(t("newest_first"), found.next_cursor, cursor => {
    location.hash = to("webhooks", context.id, { cursor });
  }));
}

/** @param {any} delivery @returns {import("./dialog.js").Act} */
const redeliverAct = delivery => ({
  name: "redeliver", title: t("redeliver_title"), confirm: t("redeliver"), body: note("", "info", delivery.type, t("redeliver_text")),
  request: () => ({ method: "POST", path: ["deliveries", delivery.id, "redeliver"], body: {} }), done: () => t("redeliver_done"),
});

/**
 * Shows each attempt of a delivery with the receiver's answer.
 * @param {Context} context
 * @param {any} delivery
 * @param {Element} shown
 */
async function show(context, delivery, shown) {
  try {
    const one = await context.get(["deliveries", delivery.id]);
    const rows = one.history ?? [];
    const title = t("attempts_of", { type: delivery.type });
    shown.replaceChildren(h("h3", { class: "pad", tabindex: "-1" }, title), rows.length === 0 ? none(t("attempts_none")) : table({ name: "history", caption: title, rows, id: (_, index) => String(index + 1), columns: [
      { title: t("when"), style: "s-sub-end nowrap", cell: row => time(row.at, { full: true }) },
      { title: t("answer"), style: "s-sub", cell: row => (row.status ? dot(row.status < 300 ? "good" : "bad", String(row.status)) : dot("bad", said("attempt", row.error))) },
      { title: t("body"), style: "s-third tall", cell: row => (row.body ? h("pre", { class: "wrap" }, row.body) : h("span", { class: "muted" }, "–")) },
    ] }));
    /** @type {HTMLElement | null} */ (shown.querySelector("h3"))?.focus();
  } catch (error) {
    if (!context.signal.aborted) fail(error);
  }
}

