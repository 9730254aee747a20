// @ts-check
import { h } from "./dom.js";
import { fieldRow } from "./fields.js";
import { card } from "./parts.js";
import { currencyList, optionRows, priceRows, unitRows } from "./sku-rows.js";
import { has, KINDS, UNITS } from "./sku-model.js";
import { said, t } from "./text.js";

/** @typedef {Record<string, any>} SKU */
/** @typedef {import("./fields.js").Field} Field */

/** @param {Field} field @param {boolean} isFixed */
const row = (field, isFixed) => fieldRow({ ...field, readonly: isFixed || field.readonly });

/** @param {string} name @param {boolean} isTicked @param {string} text @param {boolean} isFixed @param {string} [help] */
const tick = (name, isTicked, text, isFixed, help) => h("div", {}, h("label", { class: "check" }, h("input", { type: "checkbox", name, value: "true", checked: isTicked, disabled: isFixed }), h("span", {}, text)), help ? h("p", { class: "help" }, help) : null);

/** @param {string} name @param {string} label @param {string[]} values @param {string | undefined} value @param {boolean} isFixed @param {string} help */
function select(name, label, values, value, isFixed, help) {
  const shown = fieldRow({ name, label, type: "select", value, help, choices: values.map(each => [each, said(name, each)]) });
  if (isFixed) shown.querySelector("select").disabled = true;
  return shown;
}

/**
 * What it is: its id, its kind explained, its tier.
 * @param {SKU} sku
 * @param {boolean} isNew
 * @param {boolean} isFixed
 * @param {(kind: string) => unknown} choose
 */
export function kindCard(sku, isNew, isFixed, choose) {
  const kind = fieldRow({ name: "kind", label: t("kind"), type: "select", value: sku.kind, choices: KINDS.map(each => [each, said("kind", each)]), help: isNew ? undefined : t("kind_fixed") });
  const control = kind.querySelector("select");
  const explained = KINDS.map(each => h("div", { class: "choice", "data-kind": each, "aria-current": each === sku.kind ? "true" : null }, h("span", { class: "strong" }, said("kind", each)), h("span", { class: "help" }, t(`kind_${each}_help`))));
  control.disabled = !isNew || isFixed;
  control.addEventListener("change", () => choose(control.value));
  // A control that is switched off is not sent with the form.
  const sent = control.disabled ? h("input", { type: "hidden", name: "kind", value: sku.kind }) : null;
  if (sent) control.removeAttribute("name");
  return card(t("what_it_is"), {}, h("div", { class: "pad fields" },
    row({ name: "id", label: t("sku"), mono: true, value: sku.id, placeholder: "plus_month", help: t(isNew ? "id_help" : "id_fixed"), readonly: !isNew }, isFixed),
    kind, sent, h("div", { class: "choices kinds" }, explained),
    has(sku.kind, "tier") ? h("div", { class: "fields two" }, row({ name: "tier", label: t("tier"), value: sku.tier, placeholder: "Plus", help: t("tier_help") }, isFixed), row({ name: "rank", label: t("rank"), type: "number", value: String(sku.rank ?? 0), help: t("rank_help") }, isFixed)) : null,
    sku.kind === "consumable" ? units(sku, isFixed) : null));
}

/** @param {SKU} sku @param {boolean} isFixed */
function unit(sku, isFixed) {
  const shown = fieldRow({ name: "period.unit", label: t("period_unit"), type: "select", value: sku.period?.unit ?? "month", choices: UNITS.map(each => [each, said("period_unit", each)]) });
  if (isFixed) shown.querySelector("select").disabled = true;
  return shown;
}

/** @param {SKU} sku @param {boolean} isFixed */
export function priceCard(sku, isFixed) {
  const { kind } = sku;
  const hasDays = has(kind, "duration_days");
  const period = has(kind, "period") ? h("div", { class: "fields two" }, row({ name: "period.count", label: t("renews_every"), type: "number", value: sku.period ? String(sku.period.count) : "", help: t("renews_every_help") }, isFixed), unit(sku, isFixed)) : null;
  const length = hasDays ? row({ name: "duration_days", label: t(kind === "subscription" ? "period_days" : "duration_days"), type: "number", value: sku.duration_days ? String(sku.duration_days) : "", help: t(kind === "subscription" ? "period_help" : "duration_help") }, isFixed) : null;
  const prices = h("fieldset", { class: "rows" }, h("legend", { class: "label" }, t("price")), priceRows("prices", sku.prices ?? [], isFixed));
  const options = has(kind, "options") ? h("div", { class: "fields" }, h("h3", {}, t("lengths")), h("p", { class: "help" }, t("lengths_help")), optionRows(sku.options ?? [], isFixed)) : null;
  const elsewhere = has(kind, "one_period_elsewhere") ? tick("one_period_elsewhere", sku.one_period_elsewhere ?? false, t("one_period"), isFixed, t("one_period_help")) : null;
  return card(t(hasDays ? "lengths_and_prices" : "prices"), {}, h("div", { class: "pad fields" }, period, elsewhere, h("div", { class: "fields two" }, length, prices), options, h("p", { class: "help" }, t("prices_help")), currencyList()));
}

/**
 * Names and descriptions, languages side by side.
 * @param {SKU} sku
 * @param {boolean} isFixed
 */
export function namesCard(sku, isFixed) {
  const languages = [...new Set(["zh-Hans", ...Object.keys(sku.localizations ?? {})])];
  const area = /** @param {string} name @param {string} value */ (name, value) => {
    const shown = fieldRow({ name, label: t("description"), type: "area", value });
    if (isFixed) shown.querySelector("textarea").readOnly = true;
    return shown;
  };
  const column = /** @param {string} title @param {string} name @param {string} description @param {any} words @param {string | null} lang */ (title, name, description, words, lang) =>
    h("div", {}, h("h3", { lang: lang === null ? null : undefined }, title), row({ name, label: t("name"), value: words?.name ?? "" }, isFixed), area(description, words?.description ?? ""));
  return card(t("names"), { text: t("names_text") }, h("div", { class: "langs" }, column(t("language_default"), "name", "description", sku, null),
    ...languages.map(language => column(said("language", language), `localizations.${language}.name`, `localizations.${language}.description`, sku.localizations?.[language], language))));
}

/**
 * What few need.
 * @param {SKU} sku
 * @param {boolean} isFixed
 * @param {import("./dom.js").Child} summary
 */
export function moreCard(sku, isFixed, summary) {
  const { kind } = sku;
  const attributes = sku.attributes && Object.keys(sku.attributes).length > 0 ? JSON.stringify(sku.attributes, null, 2) : "";
  const area = fieldRow({ name: "attributes", label: t("attributes"), type: "area", value: attributes, mono: true, help: t("attributes_help") });
  if (isFixed) area.querySelector("textarea").readOnly = true;
  return h("section", { class: "card" }, h("details", { class: "more-fields" }, summary, h("div", { class: "pad fields" },
    has(kind, "units") && kind !== "consumable" ? units(sku, isFixed) : null,
    has(kind, "stacking") ? select("stacking", t("stacking"), ["extend", "none"], sku.stacking ?? "extend", isFixed, t("stacking_help")) : null,
    has(kind, "stack_group") ? row({ name: "stack_group", label: t("stack_group"), value: sku.stack_group ?? "", help: t("stack_group_help") }, isFixed) : null,
    has(kind, "on_refund") ? select("on_refund", t("on_refund"), ["revoke", "keep"], sku.on_refund ?? "revoke", isFixed, t("on_refund_help")) : null,
    has(kind, "once") ? select("once", t("once"), ["ever", "running", "none"], sku.once ?? "ever", isFixed, t("once_help")) : null,
    has(kind, "consumption") ? select("consumption", t("consumption"), ["ignore", "no_preference", "decline", "grant_full"], sku.consumption ?? "ignore", isFixed, t("consumption_help")) : null,
    has(kind, "physical") ? tick("physical", sku.physical ?? false, t("physical"), isFixed, t("physical_help")) : null,
    has(kind, "client_fallback") ? tick("client_fallback", sku.client_fallback ?? false, t("client_fallback"), isFixed, t("client_fallback_help")) : null,
    has(kind, "subscribe_id") ? row({ name: "subscribe_id", label: t("subscribe_id"), type: "number", value: sku.subscribe_id ? String(sku.subscribe_id) : "", help: t("subscribe_id_help") }, isFixed) : null,
    row({ name: "plan_code", label: t("plan_code"), value: sku.plan_code ?? "", help: t("plan_code_help") }, isFixed), area)));
}

/**
 * What it adds to balances.
 * @param {SKU} sku
 * @param {boolean} isFixed
 */
const units = (sku, isFixed) => h("fieldset", { class: "rows" }, h("legend", { class: "label" }, t("units")), unitRows(sku.units ?? {}, isFixed), h("p", { class: "help" }, t(sku.kind === "consumable" ? "units_help" : "units_more_help")));
