// @ts-check

/** @typedef {{screen: string, id: string | null, query: URLSearchParams}} Place */

/** The screens of the first part of an address: the list, and the one of a single thing. */
const SCREENS = /** @type {Record<string, [string, string | null]>} */ ({
  home: ["home", null], orders: ["orders", "order"], people: ["people", "person"], catalogue: ["catalogue", "sku"], accounts: ["accounts", null],
  notifications: ["notifications", "notification"], jobs: ["jobs", null], webhooks: ["webhooks", "webhook"], keys: ["keys", null], audit: ["audit", null],
});

/**
 * The place of an address; `not-found` where it is none.
 * @param {string} hash `#/orders/ord_…?status=paid`
 * @returns {Place}
 */
export function place(hash) {
  const [path = "", query = ""] = splitOnce(hash.replace(/^#/, ""), "?");
  const nowhere = { screen: "not-found", id: null, query: new URLSearchParams() };
  if (path === "" || path === "/") return { screen: "home", id: null, query: new URLSearchParams(query) };
  const parts = path.split("/").slice(1);
  const known = Object.hasOwn(SCREENS, parts[0] ?? "") ? SCREENS[parts[0] ?? ""] : undefined;
  if (!path.startsWith("/") || !known || parts.length > 2) return nowhere;
  if (parts.length === 1) return { screen: known[0], id: null, query: new URLSearchParams(query) };
  if (known[1] === null || parts[1] === "") return nowhere;
  try {
    return { screen: known[1], id: decodeURIComponent(parts[1] ?? ""), query: new URLSearchParams(query) };
  } catch {
    return nowhere;
  }
}

/**
 * The part of the navigation that a screen belongs to.
 * @param {string} screen
 */
export function section(screen) {
  return Object.keys(SCREENS).find(name => SCREENS[name]?.includes(screen)) ?? null;
}

/**
 * The address of a place.
 * @param {string} name the first part, `orders`
 * @param {string | null} [id]
 * @param {Record<string, string | null | undefined> | URLSearchParams} [query]
 */
export function to(name, id = null, query = {}) {
  const entries = query instanceof URLSearchParams ? [...query] : Object.entries(query);
  const given = new URLSearchParams();
  for (const [key, value] of entries) if (value !== null && value !== undefined && value !== "") given.append(key, value);
  const text = given.toString();
  return `#/${name}${id === null ? "" : `/${encodeURIComponent(id)}`}${text === "" ? "" : `?${text}`}`;
}

/** @param {string} text @param {string} mark */
function splitOnce(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
