// @ts-check
import { h, icon, unique } from "./dom.js";
import { sign } from "./money.js";
import { t } from "./text.js";

/**
 * @typedef {object} Field a field of a form; its name is the API's
 * @property {string} name
 * @property {string} label
 * @property {string} [help]
 * @property {"text" | "area" | "money" | "number" | "select" | "checks" | "date" | "file"} [type]
 * @property {string} [value]
 * @property {string} [placeholder]
 * @property {string} [currency] of a `money` field
 * @property {[string, string][]} [choices] value and text
 * @property {boolean} [readonly]
 * @property {boolean} [mono]
 * @property {string} [accept] of a `file` field
 */

/** A value that the form refuses before anything is sent. */
export class Fault extends Error {
  /** @param {string} field @param {string} text */
  constructor(field, text) {
    super(text);
    this.field = field;
  }
}

/**
 * A labelled field.
 * @param {Field} field
 */
export function fieldRow(field) {
  const id = unique("f");
  if (field.type === "checks") return checks(field, id);
  const help = field.help ? h("p", { class: "help", id: `${id}-help` }, field.help) : null;
  const common = { class: field.mono ? "field mono" : "field", id, name: field.name, "aria-describedby": help ? `${id}-help` : null, readonly: field.readonly ?? false };
  return h("div", { class: "field-row" }, h("label", { for: id }, field.label), control(field, common), help);
}

/** @param {Field} field @param {Record<string, any>} common */
function control(field, common) {
  const text = { ...common, value: field.value ?? "", placeholder: field.placeholder ?? null, autocomplete: "off", spellcheck: "false" };
  switch (field.type) {
    case "area": return h("textarea", { ...common, rows: 3 }, field.value ?? "");
    case "select": return h("select", common, (field.choices ?? []).map(([value, words]) => h("option", { value, selected: value === field.value }, words)));
    case "money": return affix(sign(field.currency ?? ""), h("input", { ...text, inputmode: "decimal" }));
    case "number": return h("input", { ...text, inputmode: "numeric" });
    case "date": return h("input", { ...text, type: "datetime-local" });
    case "file": return h("input", { ...common, type: "file", accept: field.accept ?? null });
    default: return h("input", { ...text, maxlength: "2048" });
  }
}

/**
 * A field with a sign before it.
 * @param {string} text
 * @param {Element} input
 */
export const affix = (text, input) => h("div", { class: "affix" }, h("span", { "aria-hidden": "true" }, text), input);

/** @param {Field} field @param {string} id */
function checks(field, id) {
  const chosen = (field.value ?? "").split(",");
  return h("fieldset", { class: "rows", "aria-describedby": field.help ? `${id}-help` : null }, h("legend", { class: "label" }, field.label),
    h("div", { class: "checks" }, (field.choices ?? []).map(([value, text]) => h("label", { class: "check" }, h("input", { type: "checkbox", name: field.name, value, checked: chosen.includes(value) }), h("span", {}, text)))),
    field.help ? h("p", { class: "help", id: `${id}-help` }, field.help) : null);
}

/**
 * What is typed: texts by name, several ticks as a list with commas, a file as itself.
 * @param {HTMLFormElement} form
 */
export function valuesOf(form) {
  const values = /** @type {Record<string, any>} */ ({});
  for (const [name, value] of new FormData(form)) {
    values[name] = typeof value !== "string" ? value : name in values ? `${values[name]},${value}` : value.trim();
  }
  return values;
}

/**
 * Takes the marks of refused fields away.
 * @param {Element} form
 */
export function unmark(form) {
  for (const each of Array.from(form.querySelectorAll("[aria-invalid]"))) each.removeAttribute("aria-invalid");
  for (const each of Array.from(form.querySelectorAll("[data-fault]"))) each.remove();
}

/**
 * Marks a refused field, says why below it, and goes there.
 * @param {Element} form
 * @param {string} name as the API names it; a field of a part (`prices[0]`) takes the fault of the whole
 * @param {string} text
 * @returns {boolean} false where the form has no such field
 */
export function mark(form, name, text) {
  const fields = /** @type {HTMLElement[]} */ (Array.from(form.querySelectorAll("input[name], select[name], textarea[name]")));
  const named = /** @param {string} each */ each => fields.find(field => field.getAttribute("name") === each);
  const stem = name.replace(/[.[].*$/, "");
  const field = named(name) ?? fields.find(each => (each.getAttribute("name") ?? "").startsWith(name)) ?? named(stem) ?? fields.find(each => (each.getAttribute("name") ?? "").startsWith(`${stem}[`));
  if (!field) return false;
  const id = unique("fault");
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-errormessage", id);
  (field.closest(".field-row, .price-row, .product-row, fieldset") ?? field.parentElement)?.append(h("p", { class: "error", id, "data-fault": true }, icon("warn", "icon-s"), h("span", {}, text)));
  field.focus();
  return true;
}

/**
 * A whole number of a field.
 * @param {Record<string, string>} values
 * @param {string} name
 * @param {number} least
 * @param {number} [most]
 */
export function whole(values, name, least, most = Number.MAX_SAFE_INTEGER) {
  const text = values[name] ?? "";
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (!(value >= least && value <= most)) throw new Fault(name, most < Number.MAX_SAFE_INTEGER ? t("fault_between", { least, most }) : t("fault_whole", { least }));
  return value;
}

/**
 * A text that may not be empty.
 * @param {Record<string, string>} values
 * @param {string} name
 */
export function needed(values, name) {
  const value = values[name] ?? "";
  if (value === "") throw new Fault(name, t("fault_needed"));
  return value;
}
