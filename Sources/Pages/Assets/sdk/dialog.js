// @ts-check
import { pen, sprite } from "./draw.js";
import { Flow } from "./flow.js";
import { Acts } from "./flow-acts.js";
import { isFollowable } from "./methods.js";
import { canApplePay } from "./pay-apple.js";
import { addStyles, language, loadTexts } from "./texts.js";

const STATES = /** @type {Record<string, string>} */ ({ qr: "qr", stripe: "stripe", apple_pay: "apple_pay" });

/**
 * Shows a contract in a dialog until its order is decided or the payer closes it.
 * @param {import("./paydesk").Contract} contract
 * @param {{signal: AbortSignal | null, desk: import("./client.js").Paydesk}} context
 * @returns {Promise<void>}
 */
export async function payInDialog(contract, { signal, desk }) {
  const locale = language(desk.locale);
  const t = await loadTexts(locale);
  const { h, icon } = pen({ document, t });
  const box = document.createElement("div");
  const root = box.attachShadow({ mode: "open" });
  await addStyles(root);
  const main = h("div", { class: "sheet", lang: locale });
  const close = h("button", { class: "link link-muted", type: "button", "aria-label": t.close }, icon("x"));
  const dialog = /** @type {HTMLDialogElement} */ (h("dialog", { "aria-label": t.order_label }, h("div", { class: "dialog-bar" }, close), main));
  root.append(sprite(document), dialog);
  document.body.append(box);
  try {
    if (contract.terms && !(await agreed(main, contract.terms, { h, t, dialog, close, signal }))) return;
    await paid({ contract, desk, t, locale, main, dialog, close, signal });
  } finally {
    dialog.close();
    box.remove();
  }
}

/**
 * The sentence of a managed subscription and its box.
 * @param {HTMLElement} main
 * @param {string} terms
 * @param {{h: import("./draw.js").Draw, t: import("./words.js").Texts, dialog: HTMLDialogElement, close: HTMLElement, signal: AbortSignal | null}} given
 * @returns {Promise<boolean>}
 */
function agreed(main, terms, { h, t, dialog, close, signal }) {
  const box = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", name: "terms", value: "accepted" }));
  const go = /** @type {HTMLButtonElement} */ (h("button", { class: "button button-primary button-wide", type: "button", "data-action": "go-on", disabled: true }, t.go_on));
  main.append(
    h("h1", { tabindex: "-1" }, t.terms_title),
    h("label", { class: "terms" }, box, h("span", null, h("span", { class: "terms-agree" }, t.terms_agree), h("span", { class: "terms-text", "data-field": "terms" }, terms))),
    h("div", { class: "acts" }, go));
  dialog.showModal();
  return new Promise(resolve => {
    const end = (/** @type {boolean} */ answer) => {
      main.replaceChildren();
      resolve(answer);
    };
    box.addEventListener("change", () => { go.disabled = !box.checked; });
    go.addEventListener("click", () => end(true));
    close.addEventListener("click", () => end(false), { once: true });
    dialog.addEventListener("close", () => end(false), { once: true });
    signal?.addEventListener("abort", () => end(false), { once: true });
  });
}

/**
 * @param {{contract: import("./paydesk").Contract, desk: import("./client.js").Paydesk, t: import("./words.js").Texts, locale: string,
 *   main: HTMLElement, dialog: HTMLDialogElement, close: HTMLElement, signal: AbortSignal | null}} given
 * @returns {Promise<void>}
 */
function paid({ contract, desk, t, locale, main, dialog, close, signal }) {
  return new Promise((resolve, reject) => {
    const session = new ContractSession(desk, contract);
    /** @type {Flow} */
    const flow = new Flow({
      desk: /** @type {any} */ (session), t, locale,
      host: {
        main, csrf: null, choice: () => null, choose: () => done(), plan: () => true, offline: on => on && flow.say(t.offline),
        place: { agent: navigator.userAgent, can: type => type === "stripe" || canApplePay(), base: desk.baseURL, address: null },
        leave: target => isFollowable(target) && location.assign(target),
        ended: error => done(error), failed: error => done(error),
        changed: state => state in STATES || state === "checking" || done(),
        returnURL: () => location.href, mountPoint: where => where,
      },
    });
    const done = (/** @type {unknown} */ error = null) => {
      flow.stop();
      if (error) reject(error);
      else resolve();
    };
    new Acts(flow);
    close.addEventListener("click", () => done(), { once: true });
    dialog.addEventListener("close", () => done(), { once: true });
    signal?.addEventListener("abort", () => done(), { once: true });
    flow.ask().then(() => {
      if (!dialog.open) dialog.showModal();
      main.querySelector("h1")?.focus();
      return flow.run();
    }).catch(done);
  });
}

/** What a session would tell of one order and its contract, for a user's own token. */
class ContractSession {
  /** @param {import("./client.js").Paydesk} desk @param {any} contract */
  constructor(desk, contract) {
    this.desk = desk;
    this.contract = contract;
    this.transport = desk.transport;
    /** @type {any[] | null} */
    this.known = null;
  }

  /** @param {{signal?: AbortSignal | null}} options */
  async session({ signal }) {
    const order = await this.desk.order(this.contract.order_id, { signal });
    const decided = order.status !== "open" ? "done" : order.next_action === "retry" ? "done" : order.next_action === "wait" ? "checking" : STATES[this.contract.type];
    return {
      id: null, skus: [order.sku], chosen: { sku: order.sku, days: order.days }, quantity: order.quantity, days: order.days, currency: order.amount?.currency ?? null, platform: this.desk.platform,
      return_url: null, cancel_url: null, expires_at: 0, state: decided, reason: null, order, contract: this.contract, granted: null, terms: {}, branding: { name: "", merchant_lines: [], support_url: null },
    };
  }

  /** @param {any} options */
  async products(options) {
    this.known ??= await this.desk.products(options);
    return this.known;
  }

  /** @param {any} options */
  paymentMethods(options) {
    return this.desk.paymentMethods(options);
  }

  /** @param {string} id @param {any} options */
  refresh(id, options) {
    return this.desk.refresh(id, options);
  }

  /** @param {string} id @param {any} options */
  cancel(id, options) {
    return this.desk.cancel(id, options);
  }

  /** @param {string} id @param {any} options */
  order(id, options) {
    return this.desk.order(id, options);
  }

  /** @param {string} order @param {string} validationURL */
  applePaySession(order, validationURL) {
    return this.desk.applePaySession(order, validationURL);
  }

  /** @param {string} order @param {unknown} token @param {string} key */
  applePayPayment(order, token, key) {
    return this.desk.applePayPayment(order, token, key);
  }
}
