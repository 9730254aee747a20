// @ts-check
import { call } from "./api.js";
import { curls } from "./curl.js";
import { open } from "./dialog.js";
import { h, icon, unique } from "./dom.js";
import { button } from "./parts.js";
import { mayAct } from "./session.js";
import { t } from "./text.js";

/** What a screen knows while it is drawn: its place, the calls that it made, and how to read it again. */
export class Context {
  /**
   * @param {import("./router.js").Place} place
   * @param {AbortSignal} signal ends when the screen is left
   * @param {() => unknown} reload
   */
  constructor(place, signal, reload) {
    this.id = place.id ?? "";
    this.query = place.query;
    this.signal = signal;
    this.reload = reload;
    this.reads = /** @type {import("./api.js").Request[]} */ ([]);
  }

  /**
   * Reads from the admin API; the call stands in the screen's curl.
   * @param {string[]} path
   * @param {Record<string, string | string[] | null | undefined>} [query]
   */
  async get(path, query) {
    const request = { method: "GET", path, query };
    this.reads.push(request);
    return (await call(request, this.signal)).data;
  }

  /**
   * Reads what a screen can do without, as lists of choices; null where it is refused.
   * @param {string[]} path
   * @param {Record<string, string | string[] | null | undefined>} [query]
   */
  async also(path, query) {
    try {
      return (await call({ method: "GET", path, query }, this.signal)).data;
    } catch (error) {
      if (this.signal.aborted) throw error;
      return null;
    }
  }

  /**
   * The button of an act; null for who may not act.
   * @param {string} text
   * @param {() => import("./dialog.js").Act} act
   * @param {{look?: string, symbol?: string, name: string}} more
   */
  act(text, act, more) {
    return mayAct() ? button(more.name, text, () => open(act(), this.reload), more) : null;
  }
}

/**
 * @typedef {object} Head
 * @property {string} title
 * @property {string | null} [lead]
 * @property {[string, string][]} [crumbs] text and address, the last one without
 * @property {import("./dom.js").Child} [beside] beside the title
 * @property {import("./dom.js").Child} [acts]
 */

/**
 * A screen with its head.
 * @param {Context} context
 * @param {Head} head
 * @param {...import("./dom.js").Child} children
 */
export function page(context, head, ...children) {
  const crumbs = head.crumbs ? h("nav", { "aria-label": t("where_you_are") }, h("ol", { class: "crumbs" }, head.crumbs.map(([text, address]) => h("li", {}, h("a", { href: address }, text))),
    h("li", { "aria-current": "page" }, h("span", { class: "clip" }, head.title)))) : null;
  const shown = context.reads.length === 0 ? [null, null] : curlOf(context.reads);
  return h("div", { class: "page" }, crumbs,
    h("div", { class: "head" }, h("div", {}, h("div", { class: "head-line" }, h("h1", { tabindex: "-1" }, head.title), head.beside ?? null), head.lead ? h("p", {}, head.lead) : null),
      h("div", { class: "acts" }, head.acts ?? null, shown[0])),
    shown[1], ...children);
}

/**
 * The button and the text of a screen's calls.
 * @param {import("./api.js").Request[]} reads
 */
function curlOf(reads) {
  const text = h("pre", { class: "wrap", "data-curl": true, tabindex: "0", "aria-label": "curl", hidden: true, id: unique("curl") });
  const toggle = h("button", { type: "button", class: "button quiet", "data-action": "curl", "aria-expanded": "false", "aria-controls": text.id, onclick: () => {
    text.hidden = !text.hidden;
    toggle.setAttribute("aria-expanded", String(!text.hidden));
    text.textContent = curls(reads, location.origin);
  } }, icon("code", "icon-s"), "curl");
  return [toggle, text];
}
