// @ts-check
import { h, icon } from "./dom.js";
import { affix, fieldRow } from "./fields.js";
import { isCurrency, major, sign } from "./money.js";
import { button } from "./parts.js";
import { t } from "./text.js";

/** @typedef {{value: number, currency: string}} Money */

/**
 * Rows that can be added and taken out; their names are numbered anew after each.
 * @param {{action: string, add: string, rows: any[], row: (value: any, index: number) => HTMLElement, isFixed: boolean}} list
 */
export function rows(list) {
  const shown = h("div", { class: "rows" });
  const renumber = () => Array.from(shown.children).forEach((row, index) => {
    for (const each of Array.from(row.querySelectorAll("[name]"))) each.setAttribute("name", (each.getAttribute("data-stem") ?? "").replace("#", String(index)));
    for (const each of Array.from(row.querySelectorAll("[data-label]"))) each.setAttribute("aria-label", `${each.getAttribute("data-label")} ${index + 1}`);
  });
  /** @param {any} value */
  const add = value => {
    const row = list.row(value, shown.children.length);
    row.querySelector("[data-remove]")?.addEventListener("click", () => {
      const next = /** @type {HTMLElement | null} */ ((row.nextElementSibling ?? row.previousElementSibling)?.querySelector("input") ?? shown.parentElement?.querySelector(`[data-action="${list.action}"]`));
      row.remove();
      renumber();
      next?.focus();
      shown.dispatchEvent(new Event("input", { bubbles: true }));
    });
    shown.append(row);
    renumber();
    return row;
  };
  for (const value of list.rows) add(value);
  const more = list.isFixed ? null : h("div", {}, button(list.action, list.add, () => /** @type {HTMLElement | null} */ (add(null).querySelector("input"))?.focus(), { look: "small quiet", symbol: "plus" }));
  return h("div", { class: "rows" }, shown, more);
}

/** @param {string} label */
export const remover = label => h("button", { type: "button", class: "button quiet icon-only", "data-remove": true, "aria-label": label, title: label }, icon("close", "icon-s"));

/**
 * The prices of a SKU or of one of its lengths, in major units.
 * @param {string} stem `prices`
 * @param {Money[]} prices
 * @param {boolean} isFixed
 */
export function priceRows(stem, prices, isFixed) {
  const known = prices.map(price => price.currency);
  return rows({ action: "add-price", add: t("add_currency"), isFixed, rows: prices.length === 0 && !isFixed ? [null] : prices, row: price => {
    const currency = price?.currency ?? "";
    const mark = h("span", { "aria-hidden": "true" }, sign(currency));
    const value = h("input", { class: "field", "data-stem": `${stem}[#].value`, name: "x", inputmode: "decimal", autocomplete: "off", "data-label": t("price"), value: price ? major(price.value, price.currency) : "", readonly: isFixed });
    const unit = h("input", { class: "field", "data-stem": `${stem}[#].currency`, name: "x", maxlength: 3, autocomplete: "off", spellcheck: "false", list: "currencies", "data-label": t("currency"), value: currency, placeholder: known.includes("CNY") ? "USD" : "CNY", readonly: isFixed, oninput: () => {
      unit.value = unit.value.toUpperCase();
      mark.textContent = isCurrency(unit.value) ? sign(unit.value) : "";
    } });
    const box = affix("", value);
    box.replaceChildren(mark, value);
    return h("div", { class: "price-row" }, unit, box, isFixed ? null : remover(t("remove_price")));
  } });
}

/**
 * The lengths in which a pass is sold, each with its prices.
 * @param {{days: number, prices: Money[]}[]} options
 * @param {boolean} isFixed
 */
export function optionRows(options, isFixed) {
  const shown = h("div", { class: "fields" });
  let last = 0;
  /** @param {{days: number, prices: Money[]} | null} option */
  const add = option => {
    const index = last;
    last += 1;
    const box = h("fieldset", { class: "rows option" }, h("legend", { class: "label" }, t("length")),
      fieldRow({ name: `options[${index}].days`, label: t("days_label"), type: "number", value: option ? String(option.days) : "", readonly: isFixed }), priceRows(`options[${index}].prices`, option?.prices ?? [], isFixed),
      isFixed ? null : h("div", {}, h("button", { type: "button", class: "button small quiet", onclick: () => {
        box.remove();
        shown.dispatchEvent(new Event("input", { bubbles: true }));
      } }, t("remove_length"))));
    shown.append(box);
    return box;
  };
  for (const option of options) add(option);
  return h("div", { class: "fields" }, shown, isFixed ? null : h("div", {}, button("add-option", t("add_length"), () => /** @type {HTMLElement | null} */ (add(null).querySelector("input"))?.focus(), { look: "small", symbol: "plus" })));
}

/** @param {Record<string, number>} units @param {boolean} isFixed */
export function unitRows(units, isFixed) {
  const given = Object.entries(units);
  return rows({ action: "add-unit", add: t("add_unit"), isFixed, rows: given.length === 0 && !isFixed ? [null] : given, row: unit => h("div", { class: "price-row unit-row" },
    h("input", { class: "field", "data-stem": "units[#].name", name: "x", "data-label": t("unit"), placeholder: "coins", autocomplete: "off", spellcheck: "false", value: unit?.[0] ?? "", readonly: isFixed }),
    h("input", { class: "field", "data-stem": "units[#].value", name: "x", "data-label": t("how_many"), inputmode: "numeric", autocomplete: "off", value: unit ? String(unit[1]) : "", readonly: isFixed }), isFixed ? null : remover(t("remove_unit"))) });
}

/** The currencies that a browser knows, for the fields' suggestions. */
export function currencyList() {
  const known = /** @type {string[]} */ (/** @type {any} */ (Intl).supportedValuesOf?.("currency") ?? ["CNY", "USD", "EUR", "HKD", "JPY"]);
  return h("datalist", { id: "currencies" }, known.map(each => h("option", { value: each })));
}
