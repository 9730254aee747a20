// @ts-check
import { h, icon, unique } from "./dom.js";
import { to } from "./router.js";
import { t } from "./text.js";

/**
 * @typedef {object} Filter
 * @property {string} name the API's parameter
 * @property {string} label
 * @property {[string, string][]} [choices] value and text; a text field where absent
 * @property {"text" | "date"} [type]
 * @property {boolean} [grows]
 * @property {boolean} [isRare] stands with the further ones
 */

/**
 * A form whose values stand in the address.
 * @param {string} name of the list
 * @param {URLSearchParams} query
 * @param {Filter[]} filters
 */
export function filterForm(name, query, filters) {
  const id = unique("filters");
  const row = /** @param {Filter} filter */ filter => {
    const field = `${id}-${filter.name}`;
    const value = query.get(filter.name) ?? "";
    return h("div", { class: filter.grows ? "field-row grow" : "field-row" }, h("label", { for: field }, filter.label), control(filter, field, value));
  };
  const rare = filters.filter(filter => filter.isRare);
  const further = rare.length === 0 ? null : h("details", { class: "further", open: rare.some(filter => query.get(filter.name)) }, h("summary", {}, icon("chev", "icon-s turn"), t("more_filters")), h("div", { class: "filters" }, rare.map(row)));
  const form = h("form", { class: "filters", "data-filter": name, novalidate: true, onsubmit: /** @param {Event} event */ event => {
    event.preventDefault();
    const values = Object.fromEntries(filters.map(filter => [filter.name, String(new FormData(form).get(filter.name) ?? "").trim()]));
    const address = to(name, null, values);
    if (location.hash === address) dispatchEvent(new HashChangeEvent("hashchange"));
    else location.hash = address;
  } }, ...filters.filter(filter => !filter.isRare).map(row), h("button", { type: "submit", class: "button", "data-action": "filter" }, t("filter")), further);
  return form;
}

/** @param {Filter} filter @param {string} id @param {string} value */
function control(filter, id, value) {
  if (!filter.choices) return h("input", { class: "field", id, name: filter.name, type: filter.type ?? "text", value, maxlength: "256", autocomplete: "off", spellcheck: "false" });
  const choices = value !== "" && !filter.choices.some(([each]) => each === value) ? [...filter.choices, /** @type {[string, string]} */ ([value, value])] : filter.choices;
  return h("select", { class: "field", id, name: filter.name }, h("option", { value: "" }, t("any")), choices.map(([each, text]) => h("option", { value: each, selected: each === value }, text)));
}

/**
 * Links to the most used filters.
 * @param {string} label
 * @param {{text: string, address: string, isCurrent: boolean, count?: number}[]} tabs
 */
export function tabs(label, tabs, style = "tabs") {
  return h("nav", { class: style, "aria-label": label }, tabs.map(tab =>
    h("a", { class: "tab", href: tab.address, "aria-current": tab.isCurrent ? "true" : null }, tab.text, tab.count ? h("span", {}, tab.count) : null)));
}

/**
 * The bounds of days in the reader's zone as seconds for the API.
 * @param {URLSearchParams} query
 */
export function dayBounds(query) {
  return { from: bound(query.get("from"), 0), to: bound(query.get("to"), 1) };
}

/** @param {string | null} day `2026-11-25` @param {number} more days */
function bound(day, more) {
  const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? "");
  if (!found) return day;
  return String(Math.floor(new Date(Number(found[1]), Number(found[2]) - 1, Number(found[3]) + more).getTime() / 1000));
}
