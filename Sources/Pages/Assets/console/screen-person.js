// @ts-check
import { creditAct, debitAct, eraseAct, extendAct, grantAct, linkAct, renewalAct, revokeAct, transferAct } from "./acts-person.js";
import { history } from "./balances.js";
import { h, icon } from "./dom.js";
import { date, number, time } from "./format.js";
import { table } from "./list.js";
import { skuNames } from "./names.js";
import { page } from "./page.js";
import { card, copyable, none, state } from "./parts.js";
import { to } from "./router.js";
import { untilOf } from "./screen-order.js";
import { ordersTable } from "./screen-orders.js";
import { mayAct } from "./session.js";
import { said, t } from "./text.js";
import { entries } from "./screen-audit.js";

/** @typedef {import("./page.js").Context} Context */

/**
 * One person as a story: what they own, why, and what they paid.
 * @param {Context} context
 */
export async function person(context) {
  const id = context.id;
  const person = await context.get(["users", id]);
  const [why, audit, skus, nameOf] = await Promise.all([
    context.get(["users", id, "entitlements", "explain"]), context.get(["audit"], { subject: id }), mayAct() ? context.also(["skus"], { limit: "200" }) : null, skuNames(context),
  ]);
  const sold = (skus?.items ?? []).filter(/** @param {any} sku */ sku => sku.active);
  const owned = person.entitlements;
  return page(context, { title: id, crumbs: [[t("nav_people"), to("people")]], lead: person.created_at ? t("known_since", { date: date(person.created_at), count: number(person.orders.length) }) : null,
    beside: owned.active && owned.tier ? h("span", { class: "chip plus", "data-field": "tier" }, owned.tier) : null,
    acts: [context.act(t("grant_act"), () => grantAct(id, sold), { name: "grant", look: "primary" }), context.act(t("link_act"), () => linkAct(id, sold), { name: "payment-link" })] },
    owns(person),
    h("div", { class: "grid-main" },
      h("div", { class: "stack" }, explained(why), grants(context, owned.entitlements), subscriptions(context, person), purchases(context, person), orders(person, nameOf)),
      h("div", { class: "stack" }, await balances(context, person), usage(person.usage), card(t("changed"), {}, audit.items.length === 0 ? none(t("changed_none")) : h("ol", { class: "line pad" }, entries(audit.items.slice(0, 8)))), token(person), erasing(context, id))));
}

/**
 * What they own now, as cards.
 * @param {any} person
 */
function owns(person) {
  const owned = person.entitlements;
  const active = owned.entitlements.filter(/** @param {any} each */ each => ["active", "in_grace_period", "in_billing_retry"].includes(each.status));
  const tiers = (owned.tiers ?? []).map(/** @param {any} tier */ tier => {
    const grant = active.find(/** @param {any} each */ each => each.tier === tier.tier);
    return own(t("membership"), tier.tier, tier.perpetual ? t("for_good") : t("until", { date: date(tier.expires_at) }), grant ? said("source", grant.source?.type) : null);
  });
  const things = active.filter(/** @param {any} each */ each => !each.tier).map(/** @param {any} each */ each => own(t("thing"), each.sku, untilOf(each), said("source", each.source?.type)));
  const units = [...Object.entries(person.balances ?? {}).map(each => [...each, null]), ...Object.entries(person.sandbox_balances ?? {}).map(each => [...each, t("only_test")])]
    .map(([unit, count, note]) => own(t("balance"), `${number(Number(count))} ${unit}`, t("units_never_end"), /** @type {string | null} */ (note)));
  const all = [...tiers, ...things, ...units];
  return h("section", { class: "stack", "aria-labelledby": "own" }, h("h2", { id: "own" }, t("owns_now")), all.length === 0 ? h("div", { class: "card" }, none(t("owns_nothing_text"))) : h("div", { class: "owns" }, all));
}

/** @param {string} kind @param {string} name @param {string} until @param {string | null} source */
const own = (kind, name, until, source) => h("article", { class: "card own" }, h("p", { class: "small muted" }, kind), h("p", { class: "big clip", title: name }, name), h("p", {}, until), source ? h("p", { class: "small muted" }, source) : null);

/** @param {any} why */
function explained(why) {
  const items = why.facts.map(/** @param {any} fact */ fact => h("li", {}, icon(symbolOf(fact.type)), h("div", {}, h("p", {}, fact.text), fact.order_id ? h("p", {}, h("a", { href: to("orders", fact.order_id) }, t("to_the_order"))) : null), time(fact.at)));
  return card(t("why"), { text: t("why_text") }, items.length === 0 ? none(t("why_none")) : h("ol", { class: "line pad", "data-list": "facts" }, items), why.conclusion ? h("p", { class: "pad result-line" }, why.conclusion) : null);
}

/** @param {string} type */
function symbolOf(type) {
  if (/refund|revok/.test(type)) return "refund";
  if (/order|pay/.test(type)) return "orders";
  if (/grant|credit|partner|admin/.test(type)) return "plus";
  return /transaction|purchase|apple/.test(type) ? "shop" : "jobs";
}

/** @param {Context} context @param {any[]} rows */
function grants(context, rows) {
  if (rows.length === 0) return card(t("grants"), {}, none(t("grants_none")));
  const isLive = /** @param {any} row */ row => !["revoked", "expired", "upgraded"].includes(row.status);
  return card(t("grants"), {}, table({ name: "grants", caption: t("grants"), rows, columns: [
    { title: t("gives"), style: "s-main tall", cell: row => [row.sku, h("span", { class: "sub" }, row.tier ? row.tier + t("pause") + untilOf(row) : untilOf(row))] },
    { title: t("state"), style: "s-sub", cell: row => state("grant", row.status) },
    { title: t("from_where"), style: "s-third tall", cell: row => (row.source?.order_id ? h("a", { href: to("orders", row.source.order_id) }, said("source", row.source.type)) : said("source", row.source?.type)) },
    { title: t("begins"), style: "num s-sub-end muted nowrap", cell: row => time(row.starts_at, { day: true }) },
    { title: t("act"), hidden: true, style: "num s-act", cell: row => (isLive(row) ? context.act(t("revoke"), () => revokeAct(row), { name: "revoke", look: "small danger" }) : null) },
  ] }));
}

/** @param {Context} context @param {any} person */
function subscriptions(context, person) {
  const rows = person.subscriptions;
  if (rows.length === 0) return null;
  return card(t("subscriptions"), {}, table({ name: "subscriptions", caption: t("subscriptions"), rows, columns: [
    { title: t("plan"), style: "s-main tall", cell: row => [h("span", { class: "strong" }, row.sku ?? row.product_id), h("span", { class: "sub" }, t(row.will_renew ? "renews_on" : "until", { date: date(row.expires_at) }))] },
    { title: t("state"), style: "s-sub", cell: row => state("grant", row.status) },
    { title: t("from_where"), style: "s-third", cell: row => said("manage", row.manage ?? row.source ?? "app_store") },
    { title: t("act"), hidden: true, style: "num s-act", cell: row => h("span", { class: "acts" }, subscriptionActs(context, row)) },
  ] }));
}

/** @param {Context} context @param {any} row */
function subscriptionActs(context, row) {
  const isManaged = row.manage === "paydesk" || row.source === "paydesk";
  const isOver = ["expired", "revoked", "upgraded"].includes(row.status);
  if (isOver) return [];
  const acts = [context.act(t("extend"), () => extendAct(row, isManaged), { name: "extend", look: "small" })];
  if (!isManaged) return acts;
  if (row.status === "in_billing_retry" || row.status === "in_grace_period") acts.push(context.act(t("retry_charge"), () => renewalAct(row, "retry-charge"), { name: "retry-charge", look: "small" }));
  if (row.will_renew) acts.push(context.act(t("cancel_renewal"), () => renewalAct(row, "cancel-renewal"), { name: "cancel-renewal", look: "small danger" }));
  else acts.push(context.act(t("resume_renewal"), () => renewalAct(row, "resume-renewal"), { name: "resume-renewal", look: "small" }));
  return acts;
}

/** @param {Context} context @param {any} person */
function purchases(context, person) {
  const rows = person.purchases;
  if (rows.length === 0) return null;
  return card(t("purchases"), { text: t("purchases_text") }, table({ name: "purchases", caption: t("purchases"), rows, id: row => row.transaction_id, columns: [
    { title: t("product"), style: "s-main tall", cell: row => [h("span", { class: "mono wrap-any" }, row.product_id), h("span", { class: "sub" }, row.sku ?? t("no_sku"))] },
    { title: t("environment"), style: "s-sub", cell: row => [said("environment", row.environment), row.box ? ` (${t("box")})` : ""] },
    { title: t("transaction"), style: "s-third id", cell: row => row.transaction_id },
    { title: t("when"), style: "num s-sub-end muted nowrap", cell: row => time(row.purchased_at) },
    { title: t("act"), hidden: true, style: "num s-act", cell: row => context.act(t("transfer"), () => transferAct(row), { name: "transfer", look: "small" }) },
  ] }));
}

/** @param {any} person @param {(sku: string) => string} nameOf */
const orders = (person, nameOf) => card(t("nav_orders"), { acts: h("a", { class: "small", href: to("orders", null, { user_id: person.user_id }) }, t("show_all")) }, person.orders.length === 0 ? none(t("person_no_orders")) : ordersTable(person.orders, t("nav_orders"), nameOf, { isShort: true }));

/** @param {Context} context @param {any} person */
async function balances(context, person) {
  const units = Object.keys(person.balances ?? {});
  const acts = [context.act(t("credit"), () => creditAct(person.user_id, units), { name: "credit", look: "small" }), units.length > 0 || Object.keys(person.sandbox_balances ?? {}).length > 0 ? context.act(t("debit"), () => debitAct(person.user_id, units), { name: "debit", look: "small" }) : null];
  if (units.length === 0) return card(t("balances"), { acts }, none(t("balances_none")));
  const shown = table({ name: "balances", caption: t("balances"), rows: units, id: unit => unit, columns: [{ title: t("unit"), style: "s-main", cell: unit => unit }, { title: t("balance"), style: "num s-end strong", cell: unit => number(person.balances[unit]) }] });
  return card(t("balances"), { acts }, shown, await Promise.all(units.slice(0, 4).map(unit => history(context, person.user_id, unit))));
}

/** @param {any[]} rows */
function usage(rows) {
  if (rows.length === 0) return null;
  const meter = /** @param {any} row */ row => (row.limit === null ? null : h("meter", { min: 0, max: Math.max(1, row.limit), high: row.limit * 0.9, optimum: 0, value: row.used, "aria-label": row.meter }, `${row.used} / ${row.limit}`));
  return card(t("usage"), {}, table({ name: "usage", caption: t("usage"), rows, id: row => row.meter, columns: [
    { title: t("meter"), style: "s-main tall", cell: row => [row.meter, meter(row), h("span", { class: "sub" }, t("resets", { date: date(row.resets_at) }))] },
    { title: t("used"), style: "num s-end", cell: row => (row.limit === null ? number(row.used) : t("of", { used: number(row.used), limit: number(row.limit) })) },
  ] }));
}

/** @param {any} person */
function token(person) {
  if (!person.app_account_token) return null;
  return card(t("for_your_app"), {}, h("div", { class: "pad fields" }, h("div", { class: "field-row" }, h("span", { class: "label" }, t("account_token")), copyToken(person.app_account_token), h("p", { class: "help" }, t("account_token_help")))));
}

/** @param {string} text */
const copyToken = text => copyable(text, t("copy"), { field: "app_account_token" });

/** @param {Context} context @param {string} id */
function erasing(context, id) {
  const act = context.act(t("erase"), () => eraseAct(id), { name: "erase", look: "danger" });
  return act ? card(t("erase_title"), {}, h("div", { class: "pad fields" }, h("p", { class: "muted" }, t("erase_text")), h("div", {}, act))) : null;
}
