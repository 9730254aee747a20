// @ts-check
import { Paydesk } from "./client.js";
import { PaydeskError } from "./errors.js";
import { pen, sprite } from "./draw.js";
import { Flow } from "./flow.js";
import { Acts } from "./flow-acts.js";
import { isFollowable } from "./methods.js";
import { canApplePay } from "./pay-apple.js";
import { addStyles, language, loadTexts } from "./texts.js";

/** Parts of the element by what they are, for a page's own styles. */
const PARTS = /** @type {[string, string][]} */ ([
  ["[data-state]", "card"], ["h1", "title"], [".amount", "amount"], ['[data-action="method"]', "method"], [".button, .apple-pay", "button"], ['[data-field="qr"]', "qr"], [".alert", "alert"],
]);

/**
 * Draws a session into `<paydesk-checkout>`; in a frame only the link that opens the cashier in the top window.
 * @param {HTMLElement & {givenDesk: Paydesk | null}} element
 * @returns {{stop(): void}}
 */
export function runElement(element) {
  const stopping = new AbortController();
  draw(element, stopping.signal).catch(error => {
    if (!stopping.signal.aborted) tell(element, "paydesk-error", { error: asError(error) });
  });
  return { stop: () => stopping.abort() };
}

/** @param {HTMLElement & {givenDesk: Paydesk | null}} element @param {AbortSignal} signal */
async function draw(element, signal) {
  const root = /** @type {ShadowRoot} */ (element.shadowRoot);
  const token = element.getAttribute("token");
  const base = element.getAttribute("base-url");
  const locale = language(element.getAttribute("locale") ?? element.givenDesk?.locale);
  const desk = element.givenDesk ?? (token && base ? new Paydesk({ baseURL: base, token, locale }) : null);
  if (!desk) return;
  const t = await loadTexts(locale);
  const { h } = pen({ document, t });
  if (window.top !== window.self) {
    await addStyles(root);
    const address = `${desk.baseURL}/pay/${encodeURIComponent(await desk.transport.token())}`;
    if (!signal.aborted) root.replaceChildren(h("p", { class: "link-only" }, h("a", { class: "button button-primary button-wide", part: "button", href: address, target: "_top" }, t.frame_link)));
    return;
  }
  const session = await desk.session({ signal });
  await addStyles(root, session.branding.accent);
  if (signal.aborted) return;
  const main = h("div", { class: "sheet", lang: locale });
  const banner = h("p", { class: "banner", "data-banner": "offline", role: "status", hidden: true });
  root.replaceChildren(sprite(document), banner, main);
  flowOf({ element, root, desk, t, locale, main, banner, signal }).then(flow => flow.run());
}

/**
 * @param {{element: HTMLElement, root: ShadowRoot, desk: Paydesk, t: import("./words.js").Texts, locale: string, main: HTMLElement, banner: HTMLElement, signal: AbortSignal}} given
 */
async function flowOf({ element, root, desk, t, locale, main, banner, signal }) {
  let paid = false;
  /** @type {"plans" | "methods" | null} */
  let view = null;
  const can = (/** @type {string} */ type) => type === "stripe" || (type === "apple_pay" && canApplePay());
  /** @type {import("./flow.js").Host} */
  const host = {
    main, csrf: null, chosen: null, choice: () => view,
    place: { agent: navigator.userAgent, can, base: desk.baseURL, address: null },
    leave: target => isFollowable(target) && location.assign(target),
    ended: error => {
      flow.draw(error.details.reason === "session_expired" ? "expired" : "unknown", null, null);
      tell(element, "paydesk-error", { error });
    },
    offline: on => {
      banner.hidden = !on;
      banner.textContent = on ? t.offline ?? "" : "";
    },
    changed: (state, session) => {
      for (const [selector, part] of PARTS) for (const found of root.querySelectorAll(selector)) found.setAttribute("part", part);
      tell(element, "paydesk-state", { state, order: session?.order ?? null });
      if (state === "paid" && !paid) {
        paid = true;
        tell(element, "paydesk-paid", { order: session.order });
      }
    },
    failed: error => tell(element, "paydesk-error", { error: asError(error) }),
    returnURL: session => session.return_url ?? undefined,
    choose: next => {
      view = next;
      if (next === "plans") host.chosen = null;
    },
    plan: (sku, days) => {
      host.chosen = { sku, days };
      view = "methods";
      flow.ask();
      return true;
    },
    mountPoint: where => slotted(element, where),
  };
  const flow = new Flow({ desk, t, locale, host });
  signal.addEventListener("abort", () => flow.stop(), { once: true });
  new Acts(flow, root);
  await flow.ask();
  return flow;
}

/**
 * Stripe's frame cannot stand in a shadow tree, so it stands in the page and is shown by a slot.
 * @param {HTMLElement} element
 * @param {HTMLElement} where
 */
function slotted(element, where) {
  element.querySelector('[slot="paydesk-payment"]')?.remove();
  const { h } = pen({ document, t: {} });
  const place = h("div", { slot: "paydesk-payment" });
  element.append(place);
  where.replaceChildren(h("slot", { name: "paydesk-payment" }));
  where.removeAttribute("aria-busy");
  return place;
}

/** @param {HTMLElement} element @param {string} name @param {object} detail */
function tell(element, name, detail) {
  element.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
}

/** @param {unknown} error */
function asError(error) {
  return error instanceof PaydeskError ? error : new PaydeskError("network", { cause: error });
}
