// @ts-check
import { ICONS } from "./icons.js";

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {string | number | boolean | null | undefined} Value
 * @typedef {Node | string | null | undefined | false} Child
 * @typedef {(tag: string, attributes?: Record<string, Value> | null, ...children: (Child | Child[])[]) => HTMLElement} Draw
 * @typedef {{h: Draw, icon: (name: string) => Node, t: import("./words.js").Texts, csrf: string | null, address: string | null}} Pen
 */

/**
 * What a state's view draws with: elements without any text that is read as HTML.
 * @param {{document: Document, t: import("./words.js").Texts, csrf?: string | null, address?: string | null}} options
 * @returns {Pen}
 */
export function pen({ document, t, csrf = null, address = null }) {
  /** @type {Draw} */
  const h = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    set(element, attributes);
    append(element, children);
    return element;
  };
  const icon = (/** @type {string} */ name) => {
    const picture = document.createElementNS(SVG, "svg");
    set(picture, { class: "icon", "aria-hidden": "true" });
    const use = document.createElementNS(SVG, "use");
    use.setAttribute("href", `#i-${name}`);
    picture.append(use);
    return picture;
  };
  return { h, icon, t, csrf, address };
}

/**
 * The symbols that `icon` uses, for a tree that has none.
 * @param {Document} document
 */
export function sprite(document) {
  const all = document.createElementNS(SVG, "svg");
  set(all, { class: "sprite", "aria-hidden": "true" });
  for (const [name, path] of Object.entries(ICONS)) {
    const symbol = document.createElementNS(SVG, "symbol");
    set(symbol, { id: `i-${name}`, viewBox: "0 0 20 20" });
    const line = document.createElementNS(SVG, "path");
    line.setAttribute("d", path);
    symbol.append(line);
    all.append(symbol);
  }
  return all;
}

/** @param {Element} element @param {Record<string, Value> | null | undefined} attributes */
function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

/** @param {Element} element @param {(Child | Child[])[]} children */
function append(element, children) {
  for (const child of children.flat()) if (child !== null && child !== undefined && child !== false && child !== "") element.append(child);
}

/**
 * A form to the page's own address; in an element, which has none, only what is in it.
 * @param {Pen} p @param {string} act @param {...(Child | Child[])} children
 */
export function form(p, act, ...children) {
  return p.h("form", { method: "post", action: p.address ?? "" }, fields(p), p.h("input", { type: "hidden", name: "act", value: act }), ...children);
}

/** @param {Pen} p */
export function fields(p) {
  return p.h("input", { type: "hidden", name: "csrf", value: p.csrf ?? "" });
}

/**
 * A form of one button that names its act.
 * @param {Pen} p
 * @param {string} act
 * @param {string} style
 * @param {string} text
 */
export function button(p, act, style, text) {
  return p.h("form", { method: "post", action: p.address ?? "" }, fields(p), p.h("button", { class: style, type: "submit", name: "act", value: act, "data-action": act }, text));
}
