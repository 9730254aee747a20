// @ts-check
import { whole } from "./fields.js";
import { note } from "./parts.js";
import { shownNames } from "./names.js";
import { t } from "./text.js";

/** @typedef {import("./dialog.js").Act} Act */

/** @param {any} account */
const nameOf = account => account.manifest?.display_name || account.id;

/** @param {any} account @param {boolean} isOn @returns {Act} */
export const switchAct = (account, isOn) => ({
  name: isOn ? "enable" : "disable", title: t(isOn ? "enable_title" : "disable_title", { name: nameOf(account) }), isDanger: !isOn, confirm: t(isOn ? "enable" : "disable"),
  body: note(isOn ? "" : "warn", isOn ? "info" : "warn", t(isOn ? "enable_text" : "disable_text", { name: nameOf(account) }), isOn ? null : t("disable_more")),
  request: () => ({ method: "PATCH", path: ["accounts", account.id], body: { enabled: isOn } }), done: () => t(isOn ? "enable_done" : "disable_done", { name: nameOf(account) }),
});

/** @param {any} account @returns {Act} */
export const syncAct = account => ({
  name: "sync", title: t("sync_title", { name: nameOf(account) }), confirm: t("sync"), body: note("", "info", t("sync_text")),
  request: () => ({ method: "POST", path: ["accounts", account.id, "sync"], body: {} }),
  done: data => (data.job_id ? t("sync_job") : t("sync_done", { checked: data.checked ?? 0, changed: data.changed ?? 0 })),
});

/** @param {any} account @returns {Act} */
export const resetAct = account => ({
  name: "reset", title: t("reset_title", { name: nameOf(account) }), confirm: t("reset"), body: note("", "info", t("reset_text")),
  request: () => ({ method: "PATCH", path: ["accounts", account.id], body: { reset: true } }), done: () => t("reset_done"),
});

/** @param {string} text */
const list = text => text.split(/[\s,]+/).filter(each => each !== "");

/** @param {any} account @returns {Act} */
export function routingAct(account) {
  const rules = account.routing ?? {};
  const text = /** @param {unknown} value */ value => (value === null || value === undefined ? "" : String(value));
  return {
    name: "routing", title: t("routing_title", { name: nameOf(account) }), confirm: t("routing_confirm"), body: note("", "info", t("routing_note"), t("routing_text")),
    fields: [
      { name: "priority", label: t("priority"), type: "number", value: text(rules.priority), help: t("priority_help") }, { name: "weight", label: t("weight"), type: "number", value: text(rules.weight), help: t("weight_help") },
      { name: "currencies", label: t("currencies"), value: (rules.currencies ?? []).join(", "), help: t("list_help") },
      { name: "platforms", label: t("platforms"), type: "checks", value: (rules.platforms ?? []).join(","), choices: ["ios", "android", "web", "desktop"].map(each => [each, t(`platform_${each}`)]), help: t("platforms_help") },
      { name: "skus", label: t("skus"), value: (rules.skus ?? []).join(", "), help: t("list_help") },
      { name: "min", label: t("least_amount"), type: "number", value: text(rules.min), help: t("minor_help") }, { name: "max", label: t("most_amount"), type: "number", value: text(rules.max), help: t("minor_help") },
    ],
    request: values => ({ method: "PATCH", path: ["accounts", account.id], body: { routing: {
      priority: whole(values, "priority", 0), weight: whole(values, "weight", 0), currencies: list(values.currencies ?? "").map(each => each.toUpperCase()), platforms: values.platforms ? values.platforms.split(",") : [], skus: list(values.skus ?? ""),
      min: values.min === "" ? null : whole(values, "min", 0), max: values.max === "" ? null : whole(values, "max", 0),
    } } }),
    done: () => t("routing_done"),
  };
}

/**
 * A purchase by the user `demo` over this account.
 * @param {any} account
 * @param {any[]} skus
 * @returns {Act}
 */
export function testAct(account, skus) {
  const fits = skus.filter(sku => sku.kind !== "subscription");
  const sold = fits.length > 0 ? fits : skus;
  const repeatable = sold.find(sku => sku.kind !== "non_consumable" && sku.prices.some(/** @param {any} price */ price => price.value > 0)) ?? sold[0];
  return {
    name: "test-checkout", title: t("test_title", { name: nameOf(account) }), confirm: t("test_confirm"), body: note("", "info", t("test_note"), t("test_text")),
    fields: [{ name: "sku", label: t("sku"), type: "select", value: repeatable.id, choices: sold.map(sku => [sku.id, shownNames(sku)]) }],
    request: values => {
      const sku = sold.find(each => each.id === values.sku) ?? repeatable;
      return { method: "POST", path: ["sessions"], body: { purpose: "checkout", user_id: "demo", skus: [sku.id], currency: sku.prices[0].currency, provider: account.id } };
    },
    done: () => t("test_done"), after: data => window.open(data.url, "_blank"),
  };
}
