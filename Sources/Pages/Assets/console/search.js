// @ts-check
import { call } from "./api.js";
import { h, icon } from "./dom.js";
import { to } from "./router.js";
import { said, t } from "./text.js";

const SCREENS = /** @type {Record<string, string>} */ ({ order: "orders", user: "people", sku: "catalogue", webhook: "webhooks", notification: "notifications" });

/**
 * The address of what was found.
 * @param {{type: string, id: string, hint?: string | null}} found
 */
function addressOf(found) {
  const screen = SCREENS[found.type];
  if (screen) return to(screen, found.id);
  return to("orders", null, { reference: found.id });
}

/** The search of the header: what is typed is asked for, arrows walk the results, Enter opens one. */
export function search() {
  let asked = 0;
  let timer = 0;
  const results = h("ul", { class: "card results", "data-list": "results", id: "search-results", role: "listbox", "aria-label": t("search_results"), hidden: true });
  const live = h("p", { class: "sr", role: "status", "aria-live": "polite" });
  const input = h("input", { id: "q", type: "search", name: "q", maxlength: "128", autocomplete: "off", spellcheck: "false", placeholder: t("search_hint"), role: "combobox", "aria-expanded": "false", "aria-controls": "search-results", "aria-autocomplete": "list", oninput: soon, onkeydown: walk });

  function close() {
    results.hidden = true;
    results.replaceChildren();
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function soon() {
    clearTimeout(timer);
    asked += 1;
    if (input.value.trim() === "") return close();
    timer = setTimeout(ask, 150);
  }

  async function ask() {
    const mine = asked;
    const text = input.value.trim();
    try {
      const { data } = await call({ method: "GET", path: ["search"], query: { q: text } });
      if (mine === asked && input.isConnected) draw(data.items);
    } catch {
      if (mine === asked) close();
    }
  }

  /** @param {any[]} items */
  function draw(items) {
    results.replaceChildren(...items.map((item, index) => h("li", { id: `result-${index}`, role: "option", "aria-selected": "false", "data-type": item.type, "data-id": item.id, onclick: () => go(item), onmousedown: /** @param {Event} event */ event => event.preventDefault() },
      h("span", { class: "small muted" }, said("found", item.type)), h("span", { class: "clip strong" }, item.label || item.id), h("span", { class: "clip sub" }, item.hint && item.hint !== item.label ? item.hint : item.id))));
    if (items.length === 0) results.append(h("li", { class: "muted", role: "option", "aria-disabled": "true", "aria-selected": "false" }, t("search_nothing")));
    results.hidden = false;
    input.setAttribute("aria-expanded", "true");
    live.textContent = items.length === 0 ? t("search_nothing") : t("search_found", { count: items.length });
    found = items;
    chosen = -1;
  }

  let found = /** @type {any[]} */ ([]);
  let chosen = -1;

  /** @param {any} item */
  function go(item) {
    close();
    input.value = "";
    location.hash = addressOf(item);
  }

  /** @param {KeyboardEvent} event */
  function walk(event) {
    if (event.key === "Escape") return close();
    if (results.hidden || found.length === 0) return;
    if (event.key === "Enter") {
      event.preventDefault();
      return go(found[Math.max(0, chosen)]);
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    chosen = (chosen + (event.key === "ArrowDown" ? 1 : -1) + found.length) % found.length;
    Array.from(results.children).forEach((each, index) => /** @type {Element} */ (each).setAttribute("aria-selected", String(index === chosen)));
    input.setAttribute("aria-activedescendant", `result-${chosen}`);
    results.children[chosen]?.scrollIntoView({ block: "nearest" });
  }

  return h("search", { class: "search", onfocusout: /** @param {FocusEvent} event */ event => {
    if (!(event.relatedTarget instanceof Node) || !results.contains(event.relatedTarget)) close();
  } }, h("label", { class: "sr", for: "q" }, t("search")), icon("search"), input, results, live);
}
