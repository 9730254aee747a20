// @ts-check
import { PaydeskError } from "./errors.js";
import { sleep, visible } from "./wait.js";
import { pen } from "./draw.js";
import { present } from "./present.js";
import { PAY_STATES, planOf } from "./present-parts.js";
import { alertBox } from "./view-parts.js";
import { views } from "./views.js";
import { left } from "./words.js";

/** States that change by themselves, and what is left of them. */
const ALIVE = new Set(["plans", "methods", "checking", "closed", ...PAY_STATES]);
/** States in which what this page's payer did is known here first. */
const ACTED = new Set(["stripe", "apple_pay", "wechat_jsapi"]);
/** Milliseconds between two questions where no contract names them. */
const POLL = 2000;

/**
 * @typedef {import("./present-parts.js").Alert} Alert
 * @typedef {"plans" | "methods" | null} Choice
 *
 * @typedef {object} Host what a page and an element do differently
 * @property {HTMLElement} main the element with `data-state`
 * @property {import("./present-parts.js").Place} place
 * @property {string | null} csrf
 * @property {(address: string) => void} leave follows an address
 * @property {(error: PaydeskError) => void} ended the token is over or unknown
 * @property {(on: boolean) => void} offline shows or hides the banner
 * @property {(state: string, session: any, title: string) => void} changed after a new state is drawn
 * @property {(error: unknown) => void} failed something that nobody expects
 * @property {(session: any) => string | undefined} returnURL
 * @property {() => Choice} choice what `?view=` asks for
 * @property {(choice: Choice) => void} choose
 * @property {(sku: string, days: number | null) => boolean} plan false where the form is to be posted
 * @property {(where: HTMLElement) => HTMLElement} mountPoint where Stripe's element may stand
 * @property {{sku: string, days: number | null} | null} [chosen] a choice that the session does not know
 */

/** One session's way from choice to receipt: asks the server, draws its state, and lets acts change it. */
export class Flow {
  /** @param {{desk: import("./client.js").Paydesk, t: import("./words.js").Texts, locale: string, host: Host}} options */
  constructor({ desk, t, locale, host }) {
    this.desk = desk;
    this.t = t;
    this.locale = locale;
    this.host = host;
    this.main = host.main;
    this.pen = pen({ document: host.main.ownerDocument, t, csrf: host.csrf, address: host.place.address });
    this.stopping = new AbortController();
    /** @type {any} */
    this.session = null;
    /** @type {any[]} */
    this.products = [];
    /** @type {{key: string, items: any[]}} */
    this.methods = { key: "", items: [] };
    /** Whether an act is under way. */
    this.busy = false;
    /**
     * The payment whose payer has acted here, so that it is checked and not asked for again.
     * @type {string | null}
     */
    this.acted = null;
    /** Whether Stripe sent the payer back. */
    this.returned = false;
    /** @type {() => void} */
    this.wake = () => undefined;
    this.turn = 0;
    this.drawn = signatureOf(this.main);
    /**
     * Called after each answer of the server with what is shown.
     * @type {() => void}
     */
    this.settled = () => undefined;
  }

  get signal() {
    return this.stopping.signal;
  }

  stop() {
    this.stopping.abort();
    this.wake();
  }

  /** Asks for the session until nothing changes by itself any more. */
  async run() {
    const clock = setInterval(() => this.tick(), 1000);
    this.signal.addEventListener("abort", () => clearInterval(clock), { once: true });
    while (!this.signal.aborted) {
      const pause = this.session?.contract?.poll_after_ms ?? POLL;
      await Promise.race([sleep(Math.max(500, pause), this.signal).catch(() => undefined), new Promise(resolve => { this.wake = () => resolve(undefined); })]);
      if (this.signal.aborted) return;
      await visible(this.signal).catch(() => undefined);
      if (!this.busy && ALIVE.has(this.main.dataset.state ?? "")) await this.ask();
    }
  }

  /**
   * Asks for the session once and draws what it says; a server that does not answer is told by the banner.
   * @param {Alert | null} [alert]
   * @returns {Promise<boolean>} whether it was answered
   */
  async ask(alert = null) {
    const turn = ++this.turn;
    try {
      const session = await this.desk.session({ signal: this.signal, patience: 0 });
      this.host.offline(false);
      if (turn !== this.turn && alert === null) return true;
      await this.show(session, alert);
      return true;
    } catch (error) {
      if (this.signal.aborted) return false;
      this.lost(error);
      return false;
    }
  }

  /** @param {unknown} error */
  lost(error) {
    if (!(error instanceof PaydeskError)) return this.host.failed(error);
    if (error.status === 401) {
      this.stop();
      this.host.ended(error);
    } else if (error.error === "network" || error.status >= 500) this.host.offline(true);
    else if (error.status !== 429) this.host.failed(error);
  }

  /**
   * Draws a session's state where it differs from what is shown.
   * @param {any} session
   * @param {Alert | null} alert
   */
  async show(session, alert = null) {
    this.session = { ...session, chosen: this.host.chosen ?? session.chosen };
    let { state, reason } = this.effective();
    // What this page's payer has done, the server may not know yet.
    if (state === "checking" && this.session.order && !this.returned) this.session.order = { ...this.session.order, next_action: "wait" };
    const attempt = newestOf(session)?.id ?? session.contract?.payment_id ?? session.contract?.setup_id ?? "";
    const signature = [state, reason ?? "", session.order?.id ?? "", attempt, session.order?.status ?? "", session.order?.next_action ?? "", this.host.chosen?.sku ?? ""].join("|");
    if (signature !== this.drawn || alert) {
      await this.load(state);
      ({ state, reason } = this.possible(state, reason));
      this.draw(state, reason, alert);
      this.drawn = signature;
    }
    const status = newestOf(session)?.status;
    if (status && this.main.dataset.paymentStatus !== status) this.main.dataset.paymentStatus = status;
    this.settled();
  }

  /**
   * The session's state, or what an act or `?view=` makes of it.
   * @returns {{state: string, reason: string | null}}
   */
  effective() {
    const { state, reason, order, contract, expires_at: end, skus, chosen } = this.session;
    const choice = this.host.choice();
    const changeable = !["owned", "unavailable", "attention", "paid"].includes(state) && end > this.now();
    if (choice && changeable && (!order || order.status === "open" || order.status === "closed")) {
      return { state: choice === "plans" && skus.length > 1 ? "plans" : skus.length > 1 && !chosen ? "plans" : "methods", reason: null };
    }
    if (this.host.chosen && state === "plans") return { state: "methods", reason: null };
    const attempt = contract?.payment_id ?? contract?.setup_id ?? null;
    const acted = attempt !== null && this.acted === attempt && ACTED.has(state);
    if (acted || (this.returned && state === "stripe")) return { state: "checking", reason: null };
    return { state, reason };
  }

  /**
   * Where no method is left that this browser can do, there is nothing to choose.
   * @param {string} state
   * @param {string | null} reason
   */
  possible(state, reason) {
    if (state !== "methods") return { state, reason };
    const { items, in_wechat: left } = present(this.facts(state, reason, null)).methods;
    if (items.some((/** @type {any} */ item) => !item.hidden)) return { state, reason };
    // WeChat's sheet is in no list before WeChat has named the payer.
    const elsewhere = left || (this.methods.items.length === 0 && /MicroMessenger/i.test(this.host.place.agent));
    return { state: "unavailable", reason: elsewhere ? "in_wechat" : "no_account" };
  }

  /**
   * What a state's words need beside the session.
   * @param {string} state
   */
  async load(state) {
    const { currency, platform } = this.session;
    const { sku, days } = planOf(this.session, state);
    if (this.products.length === 0 || state === "plans") {
      this.products = await this.desk.products({ currency: currency ?? undefined, platform, signal: this.signal });
    }
    const wanted = { sku: sku ?? "", currency: currency ?? undefined, platform, days };
    const key = JSON.stringify(wanted);
    if (sku === null || (key === this.methods.key && state !== "methods")) return;
    const items = await this.desk.paymentMethods({ ...wanted, signal: this.signal }).catch(error => {
      if (error instanceof PaydeskError && error.status >= 400 && error.status < 500 && error.status !== 401) return [];
      throw error;
    });
    this.methods = { key, items };
  }

  /** @param {string} state @param {string | null} reason @param {Alert | null} alert @returns {import("./present-parts.js").Facts} */
  facts(state, reason, alert) {
    return { session: this.session, state, reason, products: this.products, methods: this.methods.items, alert, t: this.t, locale: this.locale, place: this.host.place, now: this.now() };
  }

  /** Seconds by the server's clock. */
  now() {
    return Math.floor((this.desk.transport.now() + this.desk.transport.clockOffset) / 1000);
  }

  /** @param {string} state @param {string | null} reason @param {Alert | null} alert @param {string | null} [number] a request id */
  draw(state, reason, alert, number = null) {
    const shown = present({ ...this.facts(state, reason, alert), ...(number ? { number } : {}) });
    const kind = Object.keys(shown).find(name => name in views) ?? "message";
    const view = /** @type {any} */ (views)[kind](this.pen, shown[kind], shown.alert);
    for (const [name, value] of Object.entries(shown.main)) {
      if (value === null) this.main.removeAttribute(`data-${name.replace(/_/g, "-")}`);
      else this.main.setAttribute(`data-${name.replace(/_/g, "-")}`, value);
    }
    this.main.setAttribute("class", view.style);
    const live = this.liveText();
    for (const child of Array.from(this.main.childNodes)) if (child !== live) child.remove();
    live.before(...view.before.filter(Boolean));
    live.after(...view.after.filter(Boolean));
    live.setAttribute("class", view.live === "shown" ? "live" : "visually-hidden");
    live.textContent = shown.live;
    this.main.querySelector("h1")?.focus();
    this.host.changed(state, this.session, shown.title);
  }

  /**
   * The live text stays the same element in every state, so that its changes are spoken.
   * @returns {HTMLElement}
   */
  liveText() {
    const found = /** @type {HTMLElement | null} */ (this.main.querySelector("[data-live]"));
    if (found) return found;
    const live = this.pen.h("p", { role: "status", "aria-live": "polite", "data-live": true, class: "visually-hidden" });
    this.main.append(live);
    return live;
  }

  /**
   * Says something without a new state.
   * @param {string | undefined} text
   */
  say(text) {
    if (text) this.liveText().textContent = text;
  }

  /**
   * Shows an alert where the state stays as it is, or takes the old one away.
   * @param {Alert | null} alert
   */
  alert(alert) {
    this.main.querySelector('[data-field="error"]')?.remove();
    const box = alertBox(this.pen, alert);
    if (!box) return;
    this.main.querySelector("h1")?.before(box);
    box.scrollIntoView?.({ block: "nearest" });
  }

  /** Counts down. */
  tick() {
    const ends = /** @type {HTMLElement | null} */ (this.main.querySelector('[data-field="expires"]'));
    if (!ends) return;
    const rest = Date.parse(ends.getAttribute("datetime") ?? "") / 1000 - (this.desk.transport.now() + this.desk.transport.clockOffset) / 1000;
    if (rest <= 0 && ends.textContent !== left(0)) this.say(this.t.qr_over);
    ends.textContent = left(rest);
  }
}

/** @param {any} session */
export function newestOf(session) {
  const attempts = session?.order?.payments ?? [];
  return attempts[attempts.length - 1] ?? null;
}

/**
 * What is shown, by the hooks that the server has written.
 * @param {HTMLElement} main
 */
function signatureOf(main) {
  const { state = "", reason = "", order = "", payment = "", orderStatus = "", nextAction = "" } = main.dataset;
  return [state, reason, order, payment, orderStatus, nextAction, ""].join("|");
}
