// @ts-check
import { CallError } from "./api.js";
import { h, icon } from "./dom.js";
import { t, words } from "./text.js";

/** @type {HTMLElement | null} */
let shown = null;

/** Takes the outcome of the last act away. */
export function clear() {
  shown?.remove();
  shown = null;
}

let staysOnce = false;

/** Keeps the outcome over the next change of the screen, which the act itself makes. */
export function stay() {
  staysOnce = true;
}

/** Takes the outcome away when another screen is shown. */
export function left() {
  if (!staysOnce) clear();
  staysOnce = false;
}

/**
 * Shows the outcome of an act, in the dialog that is open, else at the foot of the page.
 * @param {"ok" | "error"} kind
 * @param {string} text
 * @param {{requestID?: string, error?: string, inside?: Element | null}} [more]
 */
export function show(kind, text, more = {}) {
  clear();
  const open = more.inside ?? Array.from(document.querySelectorAll("dialog[open]")).pop()?.querySelector("[data-outcome]") ?? null;
  const words = h("p");
  const close = open ? null : h("button", { type: "button", class: "button quiet icon-only small", "aria-label": t("close"), onclick: clear }, icon("close", "icon-s"));
  const id = more.requestID ? h("span", { class: "sub mono" }, more.requestID) : null;
  shown = h("div", { class: open ? `note ${kind === "ok" ? "good" : "bad"}` : "toast", role: "status", "data-result": kind, "data-request-id": more.requestID ?? "", "data-error": more.error },
    icon(kind === "ok" ? "check" : "bad", `icon ${kind === "ok" ? "t-good" : "t-bad"}`), h("div", {}, words, kind === "error" ? id : null), close);
  (open ?? document.body).append(/** @type {HTMLElement} */ (shown));
  // A region that is there before its words is read out.
  setTimeout(() => words.append(text), 30);
  shown?.scrollIntoView?.({ block: "nearest" });
}

/**
 * The words of a refusal: the server's message, or what to do where no answer came.
 * @param {unknown} error
 */
export function wordsOf(error) {
  if (!(error instanceof CallError)) return t("error_page");
  if (error.error === "network") return t("error_network");
  if (words.table[`error_${error.error}`]) return t(`error_${error.error}`, { seconds: error.retryAfter ?? 60 });
  return error.message || t("error_internal_error");
}

/**
 * Shows a refusal.
 * @param {unknown} error
 * @param {Element | null} [inside]
 */
export function fail(error, inside) {
  const known = error instanceof CallError ? { requestID: error.requestID, error: error.error } : { error: "page" };
  show("error", wordsOf(error), { ...known, inside });
}
