// @ts-check
import { h, icon } from "./dom.js";
import { section, to } from "./router.js";
import { search } from "./search.js";
import { isDevelopment, mayAct, session } from "./session.js";
import { t, words } from "./text.js";

const MAIN = ["home", "orders", "people", "catalogue"];
const MORE = ["accounts", "notifications", "webhooks", "jobs", "keys", "audit"];

/** @param {string} name */
const meta = name => document.querySelector(`meta[name="paydesk-${name}"]`)?.getAttribute("content") ?? "";

/** The name of the server's shop. */
export const shop = () => meta("name");

/** @param {(locale: string) => unknown} speak */
export function languageButton(speak, style = "button quiet") {
  const other = words.locale === "en" ? "zh-Hans" : "en";
  return h("button", { type: "button", class: style, "data-action": "language", lang: other, onclick: () => speak(other) }, other === "en" ? "English" : "中文");
}

/**
 * The frame around the screens of who is signed in.
 * @param {HTMLElement} main
 * @param {{speak: (locale: string) => unknown, signOut: () => unknown}} acts
 */
export function frame(main, acts) {
  const link = /** @param {string} name */ name => h("a", { "data-nav": name, href: to(name), onclick: closeMore }, icon(name), h("span", {}, t(`nav_${name}`)));
  const more = h("div", { class: "rail-more", id: "more", popover: "auto" }, MORE.slice(0, 4).map(link), h("span", { class: "gap" }), MORE.slice(4).map(link));
  function closeMore() {
    if (more.matches(":popover-open")) more.hidePopover();
  }
  return [
    h("a", { class: "skip", href: "#main", onclick: /** @param {Event} event */ event => {
      event.preventDefault();
      /** @type {HTMLElement | null} */ (main.querySelector("h1"))?.focus();
    } }, t("skip")),
    h("div", { class: "frame" },
      h("header", { class: "mast" },
        h("a", { class: "brand", href: to("home") }, icon("logo"), "Paydesk ", h("span", { class: "muted clip" }, shop())),
        h("div", { class: "top" }, search(), h("div", { class: "top-end" },
          h("p", { class: "who" }, h("span", { class: "strong clip" }, session.who?.name ?? ""), h("span", { class: "muted" }, t(mayAct() ? "may_change" : "may_read"))),
          languageButton(acts.speak),
          h("button", { type: "button", class: "button quiet icon-only", "data-action": "sign-out", "aria-label": t("sign_out"), title: t("sign_out"), onclick: acts.signOut }, icon("out"))))),
      h("nav", { class: "rail", "aria-label": t("console") }, h("div", { class: "rail-in" }, MAIN.map(link),
        h("button", { type: "button", class: "more-button", popovertarget: "more" }, icon("more"), h("span", {}, t("more"))), more,
        h("p", { class: "rail-foot" }, h("span", {}, t(isDevelopment() ? "mode_development" : "mode_production")), h("span", {}, `Paydesk ${meta("version")}`)))),
      main),
    h("p", { class: "sr", role: "status", "aria-live": "polite", "data-live": true }),
  ];
}

/**
 * Marks the part of the navigation that is shown, and says so.
 * @param {string} screen
 * @param {string} title
 */
export function mark(screen, title) {
  const here = section(screen);
  for (const each of Array.from(document.querySelectorAll("a[data-nav]"))) {
    if (each.getAttribute("data-nav") === here) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  }
  document.querySelector(".more-button")?.toggleAttribute("data-current", here !== null && MORE.includes(here));
  document.title = `${title} · Paydesk`;
}
