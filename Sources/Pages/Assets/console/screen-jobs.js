// @ts-check
import { h } from "./dom.js";
import { tabs } from "./filters.js";
import { exact, number, time } from "./format.js";
import { foot, table } from "./list.js";
import { page } from "./page.js";
import { button, card, dot, empty, none, note, state } from "./parts.js";
import { open } from "./dialog.js";
import { to } from "./router.js";
import { mayAct } from "./session.js";
import { said, t } from "./text.js";

/** @typedef {import("./page.js").Context} Context */

const STATES = ["quarantined", "running", "waiting"];

/**
 * What Paydesk does by itself, the hold of renewals, and the node's last calls.
 * @param {Context} context
 */
export async function jobs(context) {
  const status = context.query.get("status");
  const [found, billing, requests] = await Promise.all([context.get(["jobs"], { status, cursor: context.query.get("cursor") }), context.also(["billing"]), mayAct() ? context.also(["requests"]) : null]);
  const list = found.items.length === 0 ? empty("jobs", t("jobs_none_title"), t("jobs_none_text")) : [table({ name: "jobs", caption: t("nav_jobs"), rows: found.items, columns: [
    { title: t("what"), style: "s-main tall", cell: row => [said("job", row.kind), row.error ? h("span", { class: "sub", "data-field": "error" }, row.error) : null] },
    { title: t("state"), style: "s-sub", cell: row => state("job", row.status) }, { title: t("about"), style: "s-third tall wrap-any", cell: row => about(row.subject) },
    { title: t("tried"), style: "num s-none", cell: row => (row.attempts ? t("times", { count: number(row.attempts) }) : "–") }, { title: t("next"), style: "num s-end muted small nowrap", cell: row => time(row.run_at) },
    { title: t("act"), hidden: true, style: "num s-act", cell: row => (row.status === "quarantined" ? context.act(t("try_again"), () => retryAct(row), { name: "retry", look: "small" }) : null) },
  ] }), foot(t("jobs_foot"), found.next_cursor, cursor => {
    location.hash = to("jobs", null, { status, cursor });
  })];
  return page(context, { title: t("nav_jobs"), lead: t("jobs_lead") }, hold(context, billing?.hold ?? null),
    tabs(t("state"), [{ text: t("all"), address: to("jobs"), isCurrent: status === null }, ...STATES.map(each => ({ text: said("job", each), address: to("jobs", null, { status: each }), isCurrent: status === each }))]),
    h("section", { class: "card" }, list), requests ? calls(requests.items) : null);
}

/** @param {string | null | undefined} subject */
function about(subject) {
  if (!subject) return "–";
  const screen = subject.startsWith("ord_") ? "orders" : subject.startsWith("ntf_") ? "notifications" : null;
  return screen ? h("a", { href: to(screen, subject) }, subject) : subject;
}

/** @param {any} job @returns {import("./dialog.js").Act} */
const retryAct = job => ({
  name: "retry", title: t("retry_title"), confirm: t("try_again"), body: note("", "info", said("job", job.kind), t("retry_text")),
  request: () => ({ method: "POST", path: ["jobs", job.id, "retry"], body: {} }), done: () => t("retry_done"),
});

/** @param {Context} context @param {any} held */
function hold(context, held) {
  if (!held) return null;
  const due = typeof held.due === "object" && held.due !== null ? held.due.count : held.due;
  const act = mayAct() ? button("release-hold", t("release"), () => open({
    name: "release-hold", title: t("release_title"), confirm: t("release_confirm"), isDanger: true, body: note("warn", "warn", t("release_warning", { count: number(due ?? 0) }), held.unchecked ? t("release_unchecked", { count: number(held.unchecked) }) : t("release_text")),
    request: () => ({ method: "POST", path: ["billing"], body: { hold: false } }), done: () => t("release_done"),
  }, context.reload), { look: "small" }) : null;
  return note("warn", "warn", t("hold_title", { date: exact(held.since) }), held.reason ?? "", t("hold_text", { count: number(due ?? 0) }), act ? h("p", {}, act) : null);
}

/** @param {any[]} rows */
function calls(rows) {
  if (rows.length === 0) return card(t("requests"), {}, none(t("requests_none")));
  return card(t("requests"), { text: t("requests_text") }, table({ name: "requests", caption: t("requests"), style: "list cards compact", rows: rows.slice(0, 50), id: row => row.request_id, columns: [
    { title: t("call"), style: "s-main", cell: row => h("span", { class: "mono" }, `${row.method} ${row.route ?? "–"}`) }, { title: t("answer"), style: "s-sub", cell: row => dot(row.status < 400 ? "good" : row.status < 500 ? "warn" : "bad", row.error ? `${row.status} ${row.error}` : String(row.status)) },
    { title: t("took"), style: "num s-sub-end", cell: row => `${number(row.duration_ms)} ms` }, { title: t("person"), style: "s-none", cell: row => h("span", { class: "clip user" }, row.user_id ?? row.caller ?? "–") }, { title: t("when"), style: "num s-none muted nowrap", cell: row => time(row.at) },
  ] }));
}
