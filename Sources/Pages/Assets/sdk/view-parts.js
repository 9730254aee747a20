// @ts-check
import { button } from "./draw.js";

/** @typedef {import("./draw.js").Pen} Pen */

/**
 * alert.mustache
 * @param {Pen} p
 * @param {import("./present-parts.js").Alert | null} alert
 */
export function alertBox(p, alert) {
  if (!alert) return null;
  const { h, icon } = p;
  return h("div", { class: alert.mild ? "alert alert-warn" : "alert", role: "alert", "data-field": "error", "data-reason": alert.reason, "data-failure": alert.failure },
    icon("alert"),
    h("p", null, h("b", null, alert.title), alert.text ? ` ${alert.text}` : null, alert.request_id ? h("span", { class: "request-id", "data-field": "request-id" }, alert.request_id) : null));
}

/**
 * summary.mustache
 * @param {Pen} p
 * @param {any} s
 */
export function summary(p, s) {
  const { h, t } = p;
  return h("section", { class: "summary", "aria-label": t.order_label },
    h("p", { class: "summary-name" }, s.name),
    h("p", { class: "summary-price" },
      h("span", { class: "amount", "data-amount": s.value, "data-currency": s.currency }, s.amount),
      s.period ? h("span", { class: "summary-for" }, s.period) : null));
}

/**
 * ways.mustache
 * @param {Pen} p
 * @param {any} m
 */
export function ways(p, m) {
  const { h, t } = p;
  return h("div", { class: "quiet-acts" },
    m.check ? button(p, "check", "link", t.check ?? "") : null,
    m.other_method ? h("a", { class: "link", href: m.other_method, "data-action": "other-method" }, t.other_method) : null,
    m.other_plan ? h("a", { class: "link", href: m.other_plan, "data-action": "other-plan" }, t.other_plan) : null,
    m.cancel ? button(p, "cancel", "link link-muted", t.cancel ?? "") : null);
}

/**
 * receipt.mustache
 * @param {Pen} p
 * @param {any} r
 */
export function receipt(p, r) {
  if (!r) return null;
  const { h, t } = p;
  const fact = (/** @type {string | undefined} */ name, /** @type {any} */ value, /** @type {string | null} */ style = null) => h("div", { class: style }, h("dt", null, name), h("dd", null, value));
  return h("section", { class: "receipt", "data-field": "receipt", "aria-label": t.receipt_label },
    h("dl", { class: "facts" },
      fact(t.receipt_amount, r.amount, "total"),
      r.refunded ? fact(t.receipt_refunded, h("span", { "data-amount": r.refunded.value, "data-currency": r.refunded.currency }, r.refunded.text), "total") : null,
      fact(t.receipt_for, r.item),
      r.method ? fact(t.receipt_method, r.method) : null,
      r.date ? fact(t.receipt_date, h("time", { datetime: r.date.datetime, "data-local": "minute" }, r.date.text)) : null,
      fact(t.receipt_order, h("span", { class: "id" }, r.order)),
      fact(t.receipt_shop, r.shop)),
    r.lines.map((/** @type {string} */ line) => h("p", { class: "lines" }, line)));
}

/** @param {Pen} p @param {string | undefined} text @param {string | null} [style] */
export function heading(p, text, style = null) {
  return p.h("h1", { class: style, tabindex: "-1" }, text);
}

/**
 * The way back as a quiet link.
 * @param {Pen} p
 * @param {any} back
 */
export function quietBack(p, back) {
  return back ? p.h("div", { class: "quiet-acts" }, p.h("a", { class: "link link-muted", href: back.href, "data-action": "back" }, back.text)) : null;
}
