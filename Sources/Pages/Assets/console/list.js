// @ts-check
import { h } from "./dom.js";
import { t } from "./text.js";

/**
 * @typedef {object} Column
 * @property {string} title
 * @property {string} [style] classes of the cells; `s-…` says where it stands on a phone
 * @property {boolean} [hidden] the heading is for screen readers alone
 * @property {(row: any, index: number) => import("./dom.js").Child} cell
 */
/**
 * @typedef {object} List
 * @property {string} name `data-list`
 * @property {string} caption
 * @property {Column[]} columns
 * @property {any[]} rows
 * @property {((row: any, index: number) => string) | null} [id] the API's id
 * @property {(row: any) => Record<string, string>} [data] further attributes of a row
 * @property {string} [style]
 */

/**
 * A table that a phone shows as cards. Its parts have roles, since CSS takes the ones of their tags away there.
 * @param {List} list
 */
export function table(list) {
  const heads = list.columns.map(column => {
    const style = (column.style ?? "").split(" ").filter(each => ["num", "s-wide"].includes(each)).join(" ");
    return h("th", { scope: "col", role: "columnheader", class: style || null }, column.hidden ? h("span", { class: "sr" }, column.title) : column.title);
  });
  const rows = list.rows.map((row, index) =>
    h("tr", { role: "row", "data-id": list.id ? list.id(row, index) : list.id === null ? null : row.id, ...(list.data?.(row) ?? {}) },
      ...list.columns.map(column => cell(column, row, index))));
  const whole = h("table", { class: list.style ?? "list cards", "data-list": list.name, role: "table", onclick: follow },
    h("caption", { class: "sr" }, list.caption),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads)), h("tbody", { role: "rowgroup" }, rows));
  return h("div", { class: "table-wrap", role: "region", "aria-label": list.caption, tabindex: "0" }, whole);
}

/**
 * A cell; one that has nothing to say is left out on a phone.
 * @param {Column} column
 * @param {any} row
 * @param {number} index
 */
function cell(column, row, index) {
  const made = h("td", { role: "cell", class: column.style ?? null }, column.cell(row, index));
  if (made.textContent === "–" && !(column.style ?? "").includes("s-main")) made.classList.add("s-dash");
  return made;
}

/**
 * Follows the link of the row that was clicked beside it.
 * @param {MouseEvent} event
 */
function follow(event) {
  if (!(event.target instanceof Element) || event.target.closest("a, button, input, select, label, summary, pre")) return;
  if (getSelection()?.isCollapsed === false) return;
  /** @type {HTMLElement | null | undefined} */ (event.target.closest("tr")?.querySelector("a.row"))?.click();
}

/**
 * A link that makes its whole row the target.
 * @param {string} address
 * @param {...import("./dom.js").Child} children
 */
export const rowLink = (address, ...children) => h("a", { class: "row", href: address }, ...children);

/**
 * The foot of a list with the way to its next page, where there is one.
 * @param {string} text
 * @param {string | null | undefined} cursor
 * @param {(cursor: string) => unknown} go
 */
export function foot(text, cursor, go) {
  return h("div", { class: "card-foot" }, h("span", {}, text),
    cursor ? h("button", { type: "button", class: "button small", "data-action": "next", onclick: () => go(cursor) }, t("next_page")) : null);
}
