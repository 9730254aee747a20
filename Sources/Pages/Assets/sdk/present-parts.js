// @ts-check
import * as words from "./words.js";
import { methodName, wayBack } from "./methods.js";

const { fill } = words;

/**
 * Everything that a state is drawn from.
 * @typedef {object} Facts
 * @property {any} session data of GET /v1/public/session
 * @property {string} state the state to draw, which the session's own may differ from (`?view=`, an act of this page)
 * @property {string | null} reason
 * @property {any[]} products
 * @property {import("./methods.js").Method[]} methods
 * @property {Alert | null} alert
 * @property {words.Texts} t
 * @property {string} locale `en` or `zh-Hans`
 * @property {Place} place
 * @property {number} now seconds, by the server's clock
 *
 * @typedef {object} Place where it is drawn
 * @property {string} agent the User-Agent
 * @property {(type: string) => boolean} can whether this browser can do `stripe`, `apple_pay`
 * @property {string} base what the paths of images and of the sandbox are relative to: "" on the page, else the server's address
 * @property {string | null} address the page's own, null in an element
 * @property {string} [zone] the time zone, of tests
 *
 * @typedef {{reason: string, failure?: string | null, title: string, text?: string | null, request_id?: string | null, mild?: boolean}} Alert
 */

/** States of an attempt that waits for the payer. */
export const PAY_STATES = new Set(["qr", "redirect", "stripe", "apple_pay", "apple_iap", "wechat_jsapi"]);

/**
 * The plan that a state is about: while it is chosen how to pay, the one that was chosen, which an open order may not
 * have yet; else the order's.
 * @param {any} session
 * @param {string} state
 * @returns {{sku: string | null, days: number | null}}
 */
export function planOf(session, state) {
  const { order, chosen, skus, days } = session;
  const ordered = order ? { sku: order.sku, days: order.days } : null;
  const plan = (state === "methods" || state === "plans" ? chosen ?? ordered : ordered ?? chosen) ?? { sku: skus?.length === 1 ? skus[0] : null, days };
  return { sku: plan.sku, days: plan.days ?? (ordered?.sku === plan.sku ? ordered?.days : null) ?? days ?? null };
}

/**
 * The product that is bought, or one made of what the order tells.
 * @param {Facts} f
 */
export function productOf(f) {
  const sku = planOf(f.session, f.state).sku ?? f.session.skus?.[0] ?? "";
  return f.products.find(product => product.sku === sku) ?? { sku, name: sku, kind: "", prices: [], options: [], owned: false };
}

/** @param {Facts} f @returns {number | null} */
export function daysOf(f) {
  return planOf(f.session, f.state).days;
}

/**
 * The name, with the quantity where there are several.
 * @param {Facts} f
 */
export function nameOf(f) {
  const name = productOf(f).name;
  const count = f.session.order?.quantity ?? f.session.quantity ?? 1;
  return count > 1 ? fill(f.t.times ?? "", { name, count }) : name;
}

/**
 * What is to be paid: the contract's amount, else the order's, else the price.
 * @param {Facts} f
 */
export function sum(f) {
  const { contract, currency, quantity } = f.session;
  const product = productOf(f);
  const days = daysOf(f);
  const option = product.options?.find((/** @type {any} */ each) => each.days === days);
  const price = (option ?? product).prices?.find((/** @type {any} */ each) => each.currency === (currency ?? each.currency));
  const isChoice = f.state === "methods" || f.state === "plans";
  const ordered = f.session.order;
  // An order that has ended, or of another plan, says nothing about what is chosen now.
  const order = isChoice && ordered && (ordered.status === "closed" || ordered.sku !== product.sku || ordered.days !== days) ? null : ordered;
  const trial = product.renewal === "managed" && product.trial_days > 0 && !order;
  const listed = price ? { value: trial ? 0 : price.value * (quantity ?? 1), currency: price.currency } : null;
  const money = (PAY_STATES.has(f.state) ? contract?.amount : null) ?? order?.charged ?? order?.amount ?? listed ?? { value: 0, currency: currency ?? "CNY" };
  return { amount: money.value === 0 ? f.t.free ?? "" : words.amount(money, f.locale), value: money.value, currency: money.currency };
}

/**
 * The way back with the order's id, before an order the address of giving up.
 * @param {Facts} f
 */
export function backOf(f) {
  const { order, return_url: done, cancel_url: given } = f.session ?? {};
  if (order) return done ? wayBack(done, order) : null;
  return given ?? done ?? null;
}

/** @param {Facts} f @param {string} text */
export function back(f, text) {
  const href = backOf(f);
  return href ? { href, text: fill(text, { shop: f.session.branding.name }) } : null;
}

/**
 * The running attempt's method.
 * @param {Facts} f
 * @returns {import("./methods.js").Method}
 */
export function runningMethod(f) {
  const { contract, order } = f.session;
  const account = contract?.provider ?? order?.provider ?? "";
  return f.methods.find(method => method.account === account && (!contract || method.type === contract.type))
    ?? f.methods.find(method => method.account === account) ?? { account, kind: "", display_name: account, type: contract?.type ?? "" };
}

/** @param {Facts} f */
export function receipt(f) {
  const { order, branding } = f.session;
  const account = order.payments.find((/** @type {any} */ each) => each.status === "succeeded")?.provider ?? order.provider;
  const method = f.methods.find(each => each.account === account);
  const back = order.refunded?.value > 0 ? order.refunded : null;
  return {
    shop: branding.name, amount: sum(f).amount, item: nameOf(f), order: order.id,
    method: account ? (method ? methodName(method, f.t) : account) : null,
    date: order.paid_at === null ? null : { datetime: words.iso(order.paid_at), text: words.minute(order.paid_at, f.locale, f.place.zone) },
    refunded: back ? { text: words.amount(back, f.locale), value: back.value, currency: back.currency } : null,
    lines: branding.merchant_lines ?? [],
  };
}
