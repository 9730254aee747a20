// @ts-check
import { h } from "./dom.js";
import { Fault } from "./fields.js";
import { remover, rows } from "./sku-rows.js";
import { said, t } from "./text.js";

/** @typedef {{id: string, product_id: string, audience: string, once: boolean}} Offer */

const AUDIENCES = ["any", "new", "lapsed", "running"];
const OFTEN = ["any", "one"];

/**
 * The promotional offers of a subscription that are signed, each with those who may have it.
 * @param {Offer[]} offers
 * @param {boolean} isFixed
 */
export function offerRows(offers, isFixed) {
  /** @param {string} name @param {string} label @param {[string, string][]} choices value and text @param {string} value */
  const choice = (name, label, choices, value) => h("select", { class: "field", "data-stem": `offers[#].${name}`, name: "x", "data-label": label, disabled: isFixed },
    choices.map(([word, shown]) => h("option", { value: word, selected: word === value }, shown)));
  /** @param {string} name @param {string} label @param {string} value @param {string} placeholder */
  const text = (name, label, value, placeholder) => h("input", { class: "field mono", "data-stem": `offers[#].${name}`, name: "x", "data-label": label, value, placeholder, autocomplete: "off", spellcheck: "false", readonly: isFixed });
  return h("fieldset", { class: "rows" }, h("legend", { class: "label" }, t("offers")), h("p", { class: "help" }, t("offers_help")),
    rows({ action: "add-offer", add: t("add_offer"), isFixed, rows: offers, row: offer => h("div", { class: "product-row offer-row" },
      text("id", t("offer_id"), offer?.id ?? "", "spring"), text("product_id", t("offer_product"), offer?.product_id ?? "", "app.example.month"), isFixed ? null : remover(t("remove_offer")),
      choice("audience", t("offer_audience"), AUDIENCES.map(each => [each, said("audience", each)]), offer?.audience ?? "any"),
      choice("once", t("offer_often"), OFTEN.map(each => [each, said("often", each)]), offer?.once ? "one" : "any")) }));
}

/**
 * The offers that are typed; a row without texts counts for nothing.
 * @param {Record<string, string>} values
 * @returns {Offer[]}
 */
export function offersOf(values) {
  const numbers = Object.keys(values).flatMap(key => {
    const match = /^offers\[(\d+)\]\.id$/.exec(key);
    return match ? [Number(match[1])] : [];
  }).sort((a, b) => a - b);
  return numbers.flatMap(number => {
    const part = /** @param {string} name */ name => values[`offers[${number}].${name}`] ?? "";
    if (part("id") === "" && part("product_id") === "") return [];
    for (const name of ["id", "product_id"]) if (part(name) === "") throw new Fault(`offers[${number}].${name}`, t("fault_needed"));
    return [{ id: part("id"), product_id: part("product_id"), audience: part("audience") || "any", once: part("once") === "one" }];
  });
}
