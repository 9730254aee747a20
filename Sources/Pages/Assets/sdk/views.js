// @ts-check
import { button, form } from "./draw.js";
import { alertBox, heading, quietBack, receipt, summary, ways } from "./view-parts.js";

/**
 * @typedef {import("./draw.js").Pen} Pen
 * @typedef {{before: (Node | null)[], after: (Node | null)[], live: "hidden" | "shown", style: string}} View
 *   what stands before and after the live text, how that is shown, and the classes of the card
 */

/**
 * One function for each template, with the same context and the same result.
 * @type {Record<string, (p: Pen, m: any, alert: any) => View>}
 */
export const views = { plans, methods, qr, redirect, stripe, apple_pay, apple_iap, wechat_jsapi, paid, message };

/** @param {(Node | null)[]} before @param {(Node | null)[]} [after] @param {Partial<View>} [more] @returns {View} */
const view = (before, after = [], more = {}) => ({ before, after, live: "hidden", style: "sheet", ...more });

/** @param {Pen} p @param {any} m @param {any} alert */
function plans(p, m, alert) {
  const { h, icon, t } = p;
  const items = m.items.map((/** @type {any} */ item) =>
    h("li", { "data-sku": item.sku, "data-days": item.days, "data-price": item.value, "data-currency": item.currency, "data-owned": item.owned ? "true" : null },
      form(p, "plan",
        item.days !== null ? h("input", { type: "hidden", name: "days", value: item.days }) : null,
        h("button", { class: "row plan", type: "submit", name: "sku", value: item.sku, "data-action": "choose-plan" },
          h("span", null, h("span", { class: "row-name" }, item.name), item.help ? h("span", { class: "row-help" }, item.help) : null),
          h("span", { class: "plan-price" }, h("b", null, item.amount), item.period ? h("span", { class: "row-help" }, item.period) : null),
          icon("next"),
          item.owned ? h("span", { class: "tag tag-good" }, icon("check"), t.plan_owned) : null))));
  return view([alertBox(p, alert), heading(p, t.plans_title), h("ul", { class: "rows plans" }, items), quietBack(p, m.back)]);
}

/** @param {Pen} p @param {any} m @param {any} alert */
function methods(p, m, alert) {
  const { h, icon, t } = p;
  const terms = m.terms === null ? null : h("label", { class: "terms" },
    h("input", { type: "checkbox", name: "terms", value: "accepted" }),
    h("span", null, h("span", { class: "terms-agree" }, t.terms_agree), h("span", { class: "terms-text", "data-field": "terms" }, m.terms)));
  const items = m.items.map((/** @type {any} */ item) =>
    h("li", { hidden: item.hidden },
      h("button", { class: "row", type: "submit", name: "method", value: item.value, "data-action": "method", "data-kind": item.kind, "data-account": item.account, "data-type": item.type },
        h("span", { class: "row-glyph" }, icon(item.icon)),
        h("span", null, h("span", { class: "row-name" }, item.name), item.help ? h("span", { class: "row-help" }, item.help) : null),
        icon("next"))));
  return view([
    summary(p, m.summary), alertBox(p, alert), heading(p, m.title, "ask"),
    form(p, "method", terms, h("ul", { class: "rows" }, items)),
    m.in_wechat ? h("p", { class: "note", "data-note": "in_wechat" }, t.in_wechat) : null,
    m.note ? h("p", { class: "note" }, m.note) : null,
    ways(p, m), quietBack(p, m.back)]);
}

/** @param {Pen} p @param {any} m @param {any} alert */
function qr(p, m, alert) {
  const { h, icon, t } = p;
  return view([
    alertBox(p, alert), heading(p, m.title), h("p", { class: "lead on-desk-block" }, m.lead),
    h("div", { class: "qr-sum" }, h("p", { class: "amount", "data-amount": m.value, "data-currency": m.currency }, m.amount), h("p", { class: "muted" }, m.item)),
    h("div", { class: "acts on-phone" },
      m.open ? h("a", { class: "button button-primary button-wide", href: m.open.href, "data-action": "open-app" }, m.open.text) : null,
      m.save ? [
        h("a", { class: "button button-quiet button-wide", href: m.save.href, download: m.save.name, "data-action": "save-code" }, icon("save"), t.qr_save),
        h("p", { class: "note" }, m.save.note)] : null),
    h("figure", { class: "qr" }, h("div", { class: "qr-paper" }, h("img", { "data-field": "qr", src: m.image.src, width: 312, height: 312, alt: m.image.alt }))),
    m.expires ? h("p", { class: "qr-left" }, `${t.qr_left} `, h("time", { "data-field": "expires", datetime: m.expires.datetime }, m.expires.text)) : null,
  ], [ways(p, m)], { live: "shown", style: "sheet qr-state centred" });
}

/** @param {Pen} p @param {any} m @param {any} alert */
function redirect(p, m, alert) {
  const { h, icon } = p;
  return view([
    summary(p, m.summary), alertBox(p, alert), heading(p, m.title), h("p", { class: "lead" }, m.lead),
    h("div", { class: "acts" }, h("a", { class: "button button-primary button-wide", href: m.go_on.href, "data-action": "go-on" }, m.go_on.text, icon("out"))),
  ], [ways(p, m)], { live: "shown" });
}

/** @param {Pen} p @param {any} m @param {any} alert */
function stripe(p, m, alert) {
  const { h, icon, t } = p;
  const bone = (/** @type {number} */ title, /** @type {number} */ field) => h("div", null, h("span", { class: `bone bone-${title} shimmer` }), h("span", { class: "bone-field" }, h("span", { class: `bone bone-${field} shimmer` })));
  const acts = m.go_on
    ? [h("p", { class: "lead" }, t.stripe_go_on_lead), h("div", { class: "acts" }, h("a", { class: "button button-primary button-wide", href: m.go_on.href, "data-action": "go-on" }, m.go_on.text))]
    : [
      h("div", { class: "element", "data-field": "payment-element", "aria-busy": "true", "aria-label": t.stripe_element, role: "group" }, bone(35, 55), h("div", { class: "bone-pair" }, bone(55, 55), bone(35, 35))),
      h("div", { class: "acts" }, h("button", { class: "button button-primary button-wide", type: "button", "data-action": "pay", disabled: true }, m.pay)),
      h("p", { class: "safe" }, icon("lock"), h("span", null, m.safe))];
  return view([summary(p, m.summary), alertBox(p, alert), heading(p, t.stripe_title, "ask"), ...acts], [ways(p, m)]);
}

/** @param {Pen} p @param {any} m @param {any} alert */
function apple_pay(p, m, alert) {
  const { h, t } = p;
  return view([
    summary(p, m.summary), alertBox(p, alert), heading(p, t.apple_pay_title), h("p", { class: "lead" }, t.apple_pay_lead),
    h("div", { class: "acts" }, h("button", { class: "apple-pay", type: "button", "data-action": "apple-pay", lang: m.button.lang, "aria-label": m.button.text, disabled: true }, m.button.text)),
  ], [ways(p, m)]);
}

/** @param {Pen} p @param {any} m @param {any} alert */
function apple_iap(p, m, alert) {
  const { h, t } = p;
  return view([
    summary(p, m.summary), alertBox(p, alert), heading(p, t.apple_iap_title), h("p", { class: "lead" }, t.apple_iap_lead),
    h("div", { class: "receipt" }, h("p", { class: "muted small" }, t.apple_iap_products),
      h("ul", { class: "products" }, m.products.map((/** @type {string} */ id) => h("li", { class: "mono", "data-field": "product" }, id)))),
  ], [ways(p, m)], { live: "shown" });
}

/** @param {Pen} p @param {any} m @param {any} alert */
function wechat_jsapi(p, m, alert) {
  const { h, t } = p;
  return view([
    summary(p, m.summary), alertBox(p, alert), heading(p, t.wechat_title), h("p", { class: "lead" }, m.lead),
    m.pay ? h("div", { class: "acts" }, h("button", { class: "button button-primary button-wide", type: "button", "data-action": "wechat-pay", disabled: true }, m.pay)) : null,
  ], [ways(p, m)], { live: "shown" });
}

/** @param {Pen} p @param {any} m @param {any} alert */
function paid(p, m, alert) {
  const { h, icon, t } = p;
  return view([
    alertBox(p, alert), h("div", { class: "sign sign-good", "aria-hidden": "true" }, icon("check")), heading(p, m.title),
    h("p", { class: "amount", "data-amount": m.value, "data-currency": m.currency }, m.amount),
    m.until ? h("p", { class: "lead" }, m.until.before, h("time", { "data-field": "valid-until", datetime: m.until.datetime, "data-local": "day" }, m.until.text), m.until.after) : null,
    m.for_good ? h("p", { class: "lead", "data-field": "valid-until", "data-perpetual": "true" }, m.for_good) : null,
    m.lead ? h("p", { class: "lead" }, m.lead) : null,
    receipt(p, m.receipt),
    m.back ? h("div", { class: "acts" }, h("a", { class: "button button-primary button-wide", href: m.back.href, "data-action": "back" }, m.back.text)) : null,
    m.back ? h("p", { class: "note returns", "data-note": "returns" }, m.back.note) : null,
    h("div", { class: "quiet-acts" }, h("button", { class: "link", type: "button", "data-action": "print", hidden: true }, icon("print"), t.print)),
  ], [], { style: "sheet centred" });
}

/** @param {Pen} p @param {any} m @param {any} alert */
function message(p, m, alert) {
  const { h, icon, t } = p;
  const wide = (/** @type {string} */ style) => `button ${style} button-wide`;
  return view([
    alertBox(p, alert),
    m.sign ? h("div", { class: m.sign.tone ? `sign sign-${m.sign.tone}` : "sign", "aria-hidden": "true" }, icon(m.sign.icon)) : h("div", { class: "spinner", "aria-hidden": "true" }),
    heading(p, m.title), h("p", { class: "lead" }, m.lead),
    m.item ? h("p", { class: "mini" }, h("span", null, m.item.name), h("span", { "data-amount": m.item.value, "data-currency": m.item.currency }, m.item.amount)) : null,
    m.number ? h("p", { class: "mini" }, h("span", null, t.request_id), h("span", { class: "id", "data-field": "request-id" }, m.number)) : null,
    receipt(p, m.receipt),
    h("div", { class: "acts" },
      m.reload !== null ? h("a", { class: wide("button-primary"), href: m.reload }, t.load_again) : null,
      m.retry ? h("a", { class: wide("button-primary"), href: m.retry, "data-action": "retry" }, t.closed_retry) : null,
      m.back ? h("a", { class: wide(m.back_first ? "button-primary" : "button-quiet"), href: m.back.href, "data-action": "back" }, m.back.text) : null,
      m.manage_app_store ? h("a", { class: wide("button-quiet"), href: "https://apps.apple.com/account/subscriptions", "data-action": "manage-app-store" }, t.owned_manage) : null,
      m.support ? h("a", { class: wide("button-quiet"), href: m.support.href, "data-action": "support" }, m.support.text) : null,
      m.check ? button(p, "check", wide("button-quiet"), t.check_again ?? "") : null),
    m.other_method ? h("div", { class: "quiet-acts" }, h("a", { class: "link", href: m.other_method, "data-action": "other-method" }, t.other_method)) : null,
  ], [], { style: "sheet centred" });
}

