// @ts-check
import { h, icon } from "./dom.js";
import { mark as markField, unmark } from "./fields.js";
import { languageButton, shop } from "./frame.js";
import { clear, fail, wordsOf } from "./result.js";
import { isDevelopment, signIn } from "./session.js";
import { t } from "./text.js";

/**
 * The page of who is not signed in.
 * @param {(locale: string) => unknown} speak
 * @param {() => unknown} done
 * @param {unknown} [refused] the refusal of a link
 */
export function signInPage(speak, done, refused) {
  const outcome = h("div", { "data-outcome": true });
  const button = h("button", { type: "submit", class: "button primary wide", "data-action": "sign-in" }, t("sign_in"));
  const input = h("input", { class: "field", id: "key", type: "password", name: "key", autocomplete: "off", spellcheck: "false", placeholder: "pdk_…", "aria-describedby": "key-help" });
  const form = h("form", { class: "card", novalidate: true, onsubmit: submit }, h("div", { class: "pad fields" },
    h("div", { class: "head" }, h("div", {}, h("h1", { tabindex: "-1" }, t("sign_in")), h("p", {}, t("sign_in_lead")))),
    h("div", { class: "field-row" }, h("label", { for: "key" }, t("api_key")), input, h("p", { class: "help", id: "key-help" }, t("sign_in_help"))),
    outcome, button));

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    if (button.getAttribute("aria-busy") === "true") return;
    unmark(form);
    clear();
    if (input.value.trim() === "") {
      markField(form, "key", t("fault_needed"));
      return;
    }
    button.setAttribute("aria-busy", "true");
    try {
      await signIn({ key: input.value.trim() });
      input.value = "";
      clear();
      done();
    } catch (error) {
      button.removeAttribute("aria-busy");
      fail(error, outcome);
      markField(form, "key", wordsOf(error));
    }
  }

  if (refused !== undefined) setTimeout(() => fail(refused, outcome));
  return [
    h("p", { class: "brand" }, icon("logo"), "Paydesk ", h("span", { class: "muted" }, shop())), form,
    h("p", { class: "quiet-line" }, languageButton(speak, "button quiet small")),
    h("details", { class: "small" }, h("summary", {}, icon("chev", "icon-s turn"), t("no_key")), h("p", { class: "muted" }, t(isDevelopment() ? "no_key_development" : "no_key_text"))),
  ];
}
