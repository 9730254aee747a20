// @ts-check
import { Fault, needed } from "./fields.js";
import { money } from "./format.js";
import { major, minor } from "./money.js";
import { note } from "./parts.js";
import { t } from "./text.js";

/** @typedef {import("./dialog.js").Act} Act */

/**
 * What is left to be given back; null where nothing is, or where the store does it.
 * @param {any} order
 * @returns {import("./format.js").Money | null}
 */
export function refundable(order) {
  if (!["paid", "partially_refunded"].includes(order.status) || !order.charged || order.origin === "purchase") return null;
  if (!order.payments.some(/** @param {any} payment */ payment => payment.status === "succeeded")) return null;
  const taken = (order.refunds ?? []).filter(/** @param {any} refund */ refund => !["failed", "reversed"].includes(refund.status)).reduce(/** @param {number} sum @param {any} refund */ (sum, refund) => sum + refund.amount.value, 0);
  const value = order.charged.value - Math.max(taken, order.refunded?.value ?? 0);
  return value > 0 ? { value, currency: order.charged.currency } : null;
}

/** @param {any} order @param {import("./format.js").Money} left @returns {Act} */
export function refundAct(order, left) {
  const tier = order.grants?.find(/** @param {any} grant */ grant => grant.status === "active");
  /** @param {Record<string, string>} values @returns {import("./format.js").Money | null} null for all that is left */
  const amountOf = values => {
    if ((values.amount ?? "") === "") return null;
    const value = minor(values.amount ?? "", left.currency);
    if (value === null) throw new Fault("amount", t("fault_amount", { currency: left.currency }));
    return { value, currency: left.currency };
  };
  /** @param {Record<string, string>} values */
  const isWhole = values => {
    const typed = (values.amount ?? "") === "" ? left.value : minor(values.amount ?? "", left.currency);
    return typed === left.value;
  };
  return {
    name: "refund", title: t("refund_title", { user: order.user_id }), isDanger: true, cancel: t("refund_keep"), confirm: t("refund_confirm", { amount: money(left) }),
    label: values => {
      const value = (values.amount ?? "") === "" ? left.value : minor(values.amount ?? "", left.currency);
      return value === null ? t("refund") : t("refund_confirm", { amount: money({ value, currency: left.currency }) });
    },
    body: note("warn", "warn", t("refund_warning", { amount: money(left), user: order.user_id }), t(tier ? "refund_ends" : "refund_final", { name: tier?.tier || order.sku })),
    fields: [
      { name: "amount", label: t("amount"), type: "money", currency: left.currency, placeholder: major(left.value, left.currency), help: t("refund_empty", { amount: money(left) }) },
      { name: "currency", label: t("currency"), value: left.currency, readonly: true },
      { name: "reason", label: t("reason_audit") },
    ],
    type: { id: order.id, label: t("refund_type"), when: isWhole },
    request: values => ({ method: "POST", path: ["orders", order.id, "refunds"], body: { amount: amountOf(values), reason: values.reason ?? "" } }),
    done: data => t(data.status === "succeeded" ? "refund_done" : "refund_begun", { amount: money(data.amount) }),
  };
}

/** @param {any} order @returns {Act} */
export const closeAct = order => ({
  name: "close", title: t("close_title"), isDanger: true, confirm: t("close_confirm"), cancel: t("close_keep"),
  body: note("warn", "warn", t("close_warning", { user: order.user_id }), t("close_text")),
  request: () => ({ method: "POST", path: ["orders", order.id, "close"], body: {} }),
  done: () => t("close_done"),
});

/** @param {any} order @returns {Act} */
export const refreshAct = order => ({
  name: "refresh", title: t("refresh_title"), confirm: t("refresh"), body: note("", "info", t("refresh_text")),
  request: () => ({ method: "POST", path: ["orders", order.id, "refresh"], body: {} }),
  done: data => t("refresh_done", { status: t(`order_${data.status}`) }),
});

/** @param {any} order @param {any} mismatch @returns {Act} */
export const mismatchAct = (order, mismatch) => ({
  name: "settle-mismatch", title: t("settle_title", { amount: money(mismatch.amount) }), confirm: t("settle_confirm"),
  body: note("warn", "warn", t("settle_warning", { came: money(mismatch.amount), asked: order.amount ? money(order.amount) : "–" }), t("settle_text")),
  fields: [
    { name: "act", label: t("settle_act"), type: "select", choices: [["accept", t("settle_accept")], ["return", t("settle_return")]] },
    { name: "reason", label: t("reason_audit") },
  ],
  request: values => ({ method: "POST", path: ["orders", order.id, "mismatches", String(mismatch.n)], body: { act: values.act, reason: needed(values, "reason") } }),
  done: (_, values) => t(values.act === "accept" ? "settle_accepted" : "settle_returned"),
});
