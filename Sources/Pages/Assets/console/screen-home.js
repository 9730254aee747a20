// @ts-check
import { chart } from "./chart.js";
import { h, icon } from "./dom.js";
import { tabs } from "./filters.js";
import { amountOf, dayName, money, number, time } from "./format.js";
import { rowLink, table } from "./list.js";
import { page } from "./page.js";
import { card, dot, none } from "./parts.js";
import { to } from "./router.js";
import { isDevelopment } from "./session.js";
import { said, t } from "./text.js";

/** @typedef {import("./page.js").Context} Context */

const DAY = 86_400;
const DAYS = 30;

/**
 * What was paid, and what waits for a person.
 * @param {Context} context
 */
export async function home(context) {
  const environments = isDevelopment() ? ["Sandbox", "Production"] : ["Production", "Sandbox"];
  const environment = context.query.get("environment") ?? environments[0] ?? "Production";
  const today = Math.floor(Date.now() / 1000 / DAY) * DAY;
  const range = { from: String(today - (DAYS - 1) * DAY), to: String(today + DAY - 1), environment, limit: "200" };
  const [attention, doctor, byDay, byMethod] = await Promise.all([
    context.get(["attention"]), context.get(["doctor"]), all(context, { ...range, by: "day" }), all(context, { ...range, by: "method" }),
  ]);
  const currencies = [...new Set(byDay.map(row => row.currency).filter(Boolean))].sort((a, b) => paid(byDay, b) - paid(byDay, a));
  const asked = context.query.get("currency");
  const currency = asked && currencies.includes(asked) ? asked : (currencies[0] ?? null);
  const days = byDay.filter(row => row.currency === currency || row.currency === null);
  return page(context, { title: t("nav_home"), lead: t(environment === "Production" ? "home_production" : "home_sandbox"),
    acts: tabs(t("environment"), environments.map(name => ({ text: said("environment", name), address: to("home", null, { environment: name }), isCurrent: name === environment })), "tabs seg") },
    figures(days, currency, attention.items, today), waits(attention.items), byDayCard(byDay, currency, currencies, environment, today), methodCard(byMethod), refundCard(byDay), findings(doctor.items));
}

/**
 * Reads every page of a statistic.
 * @param {Context} context
 * @param {Record<string, string>} query
 * @returns {Promise<any[]>}
 */
async function all(context, query) {
  let rows = /** @type {any[]} */ ([]);
  let cursor = null;
  do {
    const page = /** @type {any} */ (cursor === null ? await context.get(["stats"], query) : await context.also(["stats"], { ...query, cursor }));
    rows = rows.concat(page?.items ?? []);
    cursor = page?.next_cursor ?? null;
  } while (cursor !== null && rows.length < 2000);
  return rows;
}

/** @param {any[]} rows @param {string} currency */
const paid = (rows, currency) => rows.filter(row => row.currency === currency).reduce((sum, row) => sum + (row.orders_paid ?? 0), 0);

/** @param {any[]} rows @param {"charged" | "refunded"} name */
const sum = (rows, name) => rows.reduce((total, row) => total + (row[name]?.value ?? 0), 0);

/** @param {any[]} days @param {string | null} currency @param {any[]} attention @param {number} today */
function figures(days, currency, attention, today) {
  const name = new Date(today * 1000).toISOString().slice(0, 10);
  const now = days.filter(row => row.key === name || row.day === name);
  const orders = /** @param {any[]} rows */ rows => rows.reduce((total, row) => total + (row.orders_paid ?? 0), 0);
  const value = /** @param {any[]} rows @param {"charged" | "refunded"} field */ (rows, field) => (currency === null ? h("span", { class: "muted" }, "–") : amountOf(field, { value: sum(rows, field), currency }));
  const urgent = attention.filter(item => item.severity === "bad").length;
  const [charged, refunded] = [sum(days, "charged"), sum(days, "refunded")];
  const share = charged > 0 ? t("share_of_paid", { share: `${(Math.round((refunded / charged) * 1000) / 10).toString()}%` }) : t("orders_count", { count: number(0) });
  return h("dl", { class: "card numbers" },
    h("div", { class: "number" }, h("dt", {}, t("paid_today")), h("dd", {}, value(now, "charged")), h("dd", {}, t("orders_until_now", { count: number(orders(now)) }))),
    h("div", { class: "number" }, h("dt", {}, t("paid_30")), h("dd", {}, value(days, "charged")), h("dd", {}, t("orders_count", { count: number(orders(days)) }))),
    h("div", { class: "number" }, h("dt", {}, t("refunded_30")), h("dd", {}, value(days, "refunded")), h("dd", {}, share)),
    h("div", { class: "number" }, h("dt", {}, t("waits_title")), h("dd", {}, number(attention.length)), h("dd", {}, urgent === 0 ? t("nothing_urgent") : t("urgent_count", { count: number(urgent) }))));
}

/** @param {any[]} items */
function waits(items) {
  if (items.length === 0) return card(t("waits_title"), {}, none(t("waits_nothing")));
  const rows = items.slice().sort((a, b) => (a.severity === b.severity ? 0 : a.severity === "bad" ? -1 : 1));
  return card(t("waits_title"), {}, table({ name: "attention", caption: t("waits_title"), rows, id: row => row.kind, data: row => ({ "data-kind": row.kind, "data-severity": row.severity }), columns: [
    { title: t("what"), style: "s-main tall", cell: row => h("span", { class: "with-icon" }, icon(row.severity === "bad" ? "bad" : "warn", `icon t-${row.severity}`),
      h("span", {}, row.severity === "bad" ? h("span", { class: "sr" }, t("urgent")) : null, rowLink(row.link, t(`attention_${row.kind}`, { count: number(row.count) })), h("span", { class: "sub" }, t(`attention_${row.kind}_help`)))) },
    { title: t("since"), style: "num s-sub-end muted nowrap", cell: row => (row.oldest_at === null ? "" : time(row.oldest_at, { field: "oldest_at" })) },
  ] }));
}

/** @param {any[]} rows @param {string | null} currency @param {string[]} currencies @param {string} environment @param {number} today */
function byDayCard(rows, currency, currencies, environment, today) {
  const points = Array.from({ length: DAYS }, (_, index) => {
    const name = new Date((today - (DAYS - 1 - index) * DAY) * 1000).toISOString().slice(0, 10);
    const value = rows.filter(row => row.key === name && row.currency === currency).reduce((total, row) => total + (row.charged?.value ?? 0), 0);
    return { name, label: dayName(name).replace(/ \d{4}$|^\d{4}年/, ""), value };
  });
  const choose = currencies.length < 2 ? null : h("select", { class: "field", name: "currency", "aria-label": t("currency"), onchange: /** @param {Event} event */ event => {
    location.hash = to("home", null, { environment, currency: /** @type {HTMLSelectElement} */ (event.target).value });
  } }, currencies.map(each => h("option", { value: each, selected: each === currency }, each)));
  const unit = currency ?? "CNY";
  const shown = rows.filter(row => row.currency !== null).sort((a, b) => (a.key < b.key ? 1 : a.key > b.key ? -1 : 0));
  const numbers = shown.length === 0 ? h("p", { class: "muted", "data-empty": true }, t("money_nothing")) : h("details", {}, h("summary", {}, icon("chev", "icon-s turn"), t("as_table")), table({
    name: "money", caption: t("paid_by_day"), style: "compact", rows: shown, id: row => `${row.key} ${row.currency}`, columns: [
      { title: t("day"), cell: row => h("time", { datetime: row.key }, dayName(row.key)) }, ...moneyColumns(),
    ] }));
  return card(t("paid_by_day"), { acts: choose }, h("div", { class: "pad" }, chart(points, value => money({ value: Math.round(value), currency: unit }).replace(/\.0+$/, "")), h("p", { class: "help" }, t("today_dashed")), numbers));
}

/**
 * The columns of each statistic.
 * @returns {import("./list.js").Column[]}
 */
const moneyColumns = () => [
  { title: t("orders"), style: "num", cell: row => number(row.orders_paid ?? 0) },
  { title: t("paid"), style: "num", cell: row => amountOf("charged", row.charged) },
  { title: t("refunded"), style: "num", cell: row => amountOf("refunded", row.refunded) },
];

/** @param {any[]} rows */
function methodCard(rows) {
  const shown = rows.filter(row => row.currency !== null);
  if (shown.length === 0) return card(t("by_method"), {}, none(t("money_nothing")));
  return card(t("by_method"), {}, table({ name: "methods", caption: t("by_method"), style: "compact", rows: shown, id: row => `${row.key} ${row.currency}`, columns: [{ title: t("method"), cell: row => said("type", row.key) }, ...moneyColumns()] }));
}

/** @param {any[]} rows of days */
function refundCard(rows) {
  const shown = rows.filter(row => (row.refunded?.value ?? 0) > 0 || (row.lost?.value ?? 0) > 0).sort((a, b) => (a.key < b.key ? 1 : -1));
  if (shown.length === 0) return card(t("refunded_30"), {}, none(t("refunds_nothing")));
  return card(t("refunded_30"), {}, table({ name: "refunded", caption: t("refunded_30"), style: "compact", rows: shown, id: row => `${row.key} ${row.currency}`, columns: [
    { title: t("day"), cell: row => h("time", { datetime: row.key }, dayName(row.key)) },
    { title: t("refunded"), style: "num", cell: row => amountOf("refunded", row.refunded) },
    { title: t("lost_part"), style: "num", cell: row => amountOf("lost", row.lost) },
  ] }));
}

/** @param {any[]} items */
function findings(items) {
  const weight = /** @param {any} item */ item => (item.good ? (item.warning ? 1 : 2) : 0);
  const rows = items.slice().sort((a, b) => weight(a) - weight(b));
  return card(t("findings"), { text: t("findings_text") }, table({ name: "findings", caption: t("findings"), rows, id: row => row.check, columns: [
    { title: t("check"), style: "s-main", cell: row => said("check", row.check) },
    { title: t("state"), style: "s-sub", cell: row => (row.good ? (row.warning ? dot("warn", t("finding_warning")) : dot("good", t("finding_good"))) : dot("bad", t("finding_bad"))) },
    { title: t("detail"), style: "s-third tall", cell: row => row.detail },
  ] }));
}
