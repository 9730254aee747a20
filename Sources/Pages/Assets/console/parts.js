// @ts-check
import { h, icon, svg } from "./dom.js";
import { said, t } from "./text.js";

/** The look of each word of a state: shape and colour; the word stands beside it. */
const LOOKS = /** @type {Record<string, string>} */ ({
  paid: "good", succeeded: "good", active: "good", won: "good", processed: "good", enabled: "good", accepted: "good", done: "good", closed_circuit: "good", works: "good", on_sale: "good",
  open: "live", pending: "live", created: "live", running: "live", scheduled: "live", in_grace_period: "warn", stored: "live",
  unknown: "warn", partially_refunded: "idle", refunded: "idle", closed: "idle", cancelled: "idle", expired: "idle", upgraded: "idle", revoked: "idle", returned: "idle", waiting: "idle", disabled: "idle", archived: "idle", ended: "idle", reversed: "warn",
  failed: "bad", quarantined: "bad", rejected: "bad", lost: "bad", suspended: "warn", in_billing_retry: "warn", half_open: "warn", never_used: "warn",
});

/**
 * A state as a mark and a word.
 * @param {string} family the prefix of its texts
 * @param {string} word the API's
 * @param {{look?: string, field?: string, text?: string}} [more]
 */
export function state(family, word, more = {}) {
  return dot(more.look ?? LOOKS[word] ?? "idle", more.text ?? said(family, word), { "data-field": more.field ?? "status", "data-status": word });
}

/**
 * @param {string} look good, warn, bad, idle or live
 * @param {string} text
 * @param {Record<string, string | null | undefined>} [attributes]
 */
export function dot(look, text, attributes = {}) {
  return h("span", { class: `status ${look}`, ...attributes }, svg("svg", { "aria-hidden": "true" }, svg("use", { href: `#i-m-${look}` })), h("span", {}, text));
}

/**
 * A list of names and values; null leaves one out.
 * @param {([string, import("./dom.js").Child] | null | false)[]} pairs
 */
export function facts(pairs, style = "facts") {
  const list = h("dl", { class: style });
  for (const pair of pairs) if (pair) list.append(h("dt", {}, pair[0]), h("dd", {}, pair[1]));
  return list;
}

/**
 * A card with a heading.
 * @param {string | null} title
 * @param {{text?: string | null, acts?: import("./dom.js").Child, id?: string}} head
 * @param {...import("./dom.js").Child} children
 */
export function card(title, head, ...children) {
  const top = title === null ? null : h("div", { class: "card-head" }, h("h2", {}, title), head.acts ? h("div", { class: "acts" }, head.acts) : null, head.text ? h("p", {}, head.text) : null);
  return h("section", { class: "card", id: head.id }, top, ...children);
}

/**
 * A note with a bold line and a quiet one.
 * @param {"" | "good" | "warn" | "bad"} look
 * @param {string} symbol
 * @param {string} strong
 * @param {...import("./dom.js").Child} more
 */
export function note(look, symbol, strong, ...more) {
  const rest = more.flat().filter(Boolean).map(each => (typeof each === "string" ? h("p", { class: "small" }, each) : each));
  return h("div", { class: `note ${look}` }, icon(symbol, look === "" ? "icon" : `icon t-${look}`), h("div", {}, h("p", { class: "strong" }, strong), ...rest));
}

/**
 * In the place of an empty list: what would stand here, and how it gets there.
 * @param {string} symbol
 * @param {string} title
 * @param {string} text
 * @param {...import("./dom.js").Child} acts
 */
export function empty(symbol, title, text, ...acts) {
  const given = acts.flat().filter(Boolean);
  return h("div", { class: "empty", "data-empty": true }, icon(symbol), h("h2", {}, title), h("p", {}, text), given.length > 0 ? h("div", { class: "acts" }, given) : null);
}

/**
 * A short line in the place of an empty list inside a card.
 * @param {string} text
 */
export const none = text => h("p", { class: "pad muted", "data-empty": true }, text);

/**
 * A text with a button that copies it.
 * @param {string} text
 * @param {string} label of the button
 * @param {{field?: string, isSecret?: boolean}} [more]
 */
export function copyable(text, label, more = {}) {
  const value = more.isSecret ? h("output", { "data-secret": true }, text) : h("code", { tabindex: "0", "data-field": more.field }, text);
  const button = h("button", { type: "button", class: more.isSecret ? "button" : "button icon-only", "data-action": "copy", "aria-label": more.isSecret ? null : label, title: more.isSecret ? null : label,
    onclick: () => copy(text, value, button) }, icon("copy", more.isSecret ? "icon-s" : "icon"), more.isSecret ? t("copy") : null);
  return h("div", { class: "copy" }, value, button);
}

/** @param {string} text @param {HTMLElement} shown @param {HTMLElement} button */
async function copy(text, shown, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.replaceChildren(icon("check", "icon-s"), h("span", { class: button.classList.contains("icon-only") ? "sr" : "" }, t("copied")));
  } catch {
    // Without the permission the reader copies it by hand.
    const range = document.createRange();
    range.selectNodeContents(shown);
    getSelection()?.removeAllRanges();
    getSelection()?.addRange(range);
  }
}

/**
 * @param {string} action
 * @param {string} text
 * @param {() => unknown} press
 * @param {{look?: string, symbol?: string, type?: string}} [more]
 */
export function button(action, text, press, more = {}) {
  return h("button", { type: "button", class: `button ${more.look ?? ""}`.trim(), "data-action": action, onclick: press }, more.symbol ? icon(more.symbol, "icon-s") : null, text);
}
