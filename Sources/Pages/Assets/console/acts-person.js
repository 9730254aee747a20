// @ts-check
import { needed, whole } from "./fields.js";
import { note } from "./parts.js";
import { stay } from "./result.js";
import { to } from "./router.js";
import { shownNames } from "./names.js";
import { t } from "./text.js";

/** @typedef {import("./dialog.js").Act} Act */

/** @param {any[]} skus @returns {[string, string][]} */
const choices = skus => skus.map(sku => [sku.id, shownNames(sku)]);

/** @param {string} user @param {any[]} skus @returns {Act} */
export const grantAct = (user, skus) => ({
  name: "grant", title: t("grant_title", { user }), confirm: t("grant_confirm"), body: note("", "info", t("grant_note"), t("grant_note_text")),
  fields: [
    { name: "sku", label: t("sku"), type: "select", choices: choices(skus) },
    { name: "duration_days", label: t("duration_days"), type: "number", help: t("grant_days_help") },
    { name: "reason", label: t("reason_audit") },
  ],
  request: values => {
    const body = /** @type {Record<string, unknown>} */ ({ sku: values.sku });
    if (values.duration_days !== "") body.duration_days = whole(values, "duration_days", 1);
    body.reason = needed(values, "reason");
    return { method: "POST", path: ["users", user, "grants"], body };
  },
  done: data => t("grant_done", { name: data.tier || data.sku }),
});

/** @param {any} grant @returns {Act} */
export const revokeAct = grant => ({
  name: "revoke", title: t("revoke_title", { name: grant.tier || grant.sku }), isDanger: true, confirm: t("revoke_confirm"), body: note("warn", "warn", t("revoke_warning"), t("revoke_text")),
  request: () => ({ method: "DELETE", path: ["grants", grant.id] }), done: () => t("revoke_done"),
});

/** @param {any} purchase @returns {Act} */
export const transferAct = purchase => ({
  name: "transfer", title: t("transfer_title"), confirm: t("transfer_confirm"), isDanger: true, body: note("warn", "warn", t("transfer_warning"), purchase.product_id),
  fields: [{ name: "user_id", label: t("transfer_to"), mono: true }],
  request: values => ({ method: "POST", path: ["purchases", purchase.original_transaction_id, "transfer"], body: { user_id: needed(values, "user_id"), environment: purchase.environment } }),
  done: data => t("transfer_done", { user: data.user_id }),
});

/** @param {any} subscription @param {boolean} isManaged @returns {Act} */
export const extendAct = (subscription, isManaged) => ({
  name: "extend", title: t("extend_title"), confirm: t("extend_confirm"), body: note("", "info", t(isManaged ? "extend_managed" : "extend_apple")),
  fields: [
    { name: "days", label: t("extend_days"), type: "number", value: "7" },
    ...(isManaged ? [] : [/** @type {import("./fields.js").Field} */ ({ name: "reason_code", label: t("extend_reason"), type: "select", value: "1", choices: [["0", t("extend_reason_0")], ["1", t("extend_reason_1")], ["2", t("extend_reason_2")], ["3", t("extend_reason_3")]] })]),
  ],
  request: values => ({ method: "POST", path: ["subscriptions", subscription.id, "extend"], body: isManaged ? { days: whole(values, "days", 1, 90) } : { days: whole(values, "days", 1, 90), reason_code: Number(values.reason_code) } }),
  done: data => t("extend_done", { count: data.days ?? "" }),
});

/** @param {any} subscription @param {"cancel-renewal" | "resume-renewal" | "retry-charge"} name @returns {Act} */
export function renewalAct(subscription, name) {
  const verb = { "cancel-renewal": "cancel", "resume-renewal": "resume", "retry-charge": "retry" }[name];
  const words = name.replace("-", "_");
  return {
    name, title: t(`${words}_title`), confirm: t(`${words}_confirm`), isDanger: verb === "cancel", body: note(verb === "resume" ? "" : "warn", verb === "resume" ? "info" : "warn", t(`${words}_text`)),
    fields: verb !== "cancel" ? [] : [
      { name: "when", label: t("cancel_when"), type: "select", choices: [["period_end", t("cancel_period_end")], ["now", t("cancel_now")]] },
      { name: "refund", label: t("cancel_refund"), type: "select", choices: [["none", t("cancel_none")], ["prorated", t("cancel_prorated")], ["full", t("cancel_full")]] },
    ],
    request: values => ({ method: "POST", path: ["subscriptions", subscription.id, verb], body: verb === "cancel" ? { when: values.when, refund: values.refund } : {} }),
    done: () => t(`${words}_done`),
  };
}

/** @param {string} user @param {string[]} units @param {"credit" | "debit"} name @returns {Act} */
const moveAct = (user, units, name) => ({
  name, title: t(`${name}_title`, { user }), confirm: t(`${name}_confirm`), isDanger: name === "debit", body: note("", "info", t(`${name}_text`)),
  fields: [
    { name: "unit", label: t("unit"), value: units[0] ?? "", help: units.length > 0 ? t("units_known", { units: units.join(t("comma")) }) : t("units_new") },
    { name: "amount", label: t("how_many"), type: "number" }, { name: "reason", label: t("reason_audit") },
  ],
  request: values => {
    const unit = needed(values, "unit");
    const amount = whole(values, "amount", 1);
    return { method: "POST", path: ["users", user, "balances", unit, name], body: { amount, reason: needed(values, "reason") } };
  },
  done: data => t("balance_done", { count: data.balance, unit: data.unit }),
});

/** @param {string} user @param {string[]} units */
export const creditAct = (user, units) => moveAct(user, units, "credit");
/** @param {string} user @param {string[]} units */
export const debitAct = (user, units) => moveAct(user, units, "debit");

/** @param {string} user @param {any[]} skus @returns {Act} */
export function linkAct(user, skus) {
  const priced = skus.filter(sku => (sku.prices ?? []).length > 0 || (sku.options ?? []).length > 0);
  const currencies = [...new Set(priced.flatMap(sku => [...(sku.prices ?? []), ...(sku.options ?? []).flatMap(/** @param {any} option */ option => option.prices)]).map(price => price.currency))];
  return {
    name: "payment-link", title: t("link_title", { user }), confirm: t("link_confirm"), body: note("", "info", t("link_note", { user }), t("link_note_text")),
    fields: [
      { name: "skus", label: t("link_skus"), type: "checks", choices: choices(priced), help: t("link_skus_help") },
      { name: "currency", label: t("currency"), type: "select", choices: currencies.map(each => [each, each]) },
      { name: "return_url", label: t("link_return"), help: t("link_return_help") },
    ],
    request: values => {
      const body = /** @type {Record<string, unknown>} */ ({ purpose: "checkout", user_id: user, skus: values.skus ? values.skus.split(",") : [], currency: values.currency });
      if (values.return_url) body.return_url = values.return_url;
      return { method: "POST", path: ["sessions"], body };
    },
    secret: data => ({ title: t("link_secret_title", { user }), text: t("link_secret_text"), value: data.url }),
    done: () => t("link_done"),
  };
}

/** @param {string} user @returns {Act} */
export const eraseAct = user => ({
  name: "erase", title: t("erase_dialog", { user }), isDanger: true, confirm: t("erase_confirm"), body: note("bad", "warn", t("erase_warning", { user }), t("erase_text")),
  type: { id: user, label: t("erase_type") },
  request: () => ({ method: "POST", path: ["users", user, "erase"], body: {} }),
  done: () => t("erase_done"),
  after: () => {
    stay();
    location.hash = to("people");
  },
});
