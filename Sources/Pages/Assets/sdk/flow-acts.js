// @ts-check
import { PaydeskError } from "./errors.js";
import { sleep } from "./wait.js";
import { fill } from "./words.js";
import { isFollowable } from "./methods.js";
import { beginApplePay } from "./pay-apple.js";
import { mountStripe } from "./pay-stripe.js";
import { payInWeChat } from "./pay-wechat.js";

/** Milliseconds after which an act whose answer was lost is tried again. */
const AGAIN = 2000;
/** Milliseconds in which a second press is the same one. */
const SAME = 2000;

/** What a payer does in a flow: presses, forms, Stripe's element, Apple's button. */
export class Acts {
  /** @param {import("./flow.js").Flow} flow @param {EventTarget} [root] where its events arrive */
  constructor(flow, root = flow.main) {
    this.flow = flow;
    /** @type {{payment: string, confirm: (() => Promise<{message: string} | null>) | null} | null} */
    this.stripe = null;
    /** When WeChat's button was pressed. */
    this.pressed = -SAME;
    const { signal } = flow;
    root.addEventListener("click", event => this.click(/** @type {MouseEvent} */ (event)), { signal });
    root.addEventListener("submit", event => this.submit(/** @type {SubmitEvent} */ (event)), { signal });
    flow.settled = () => this.prepare();
  }

  /** Brings what the shown state needs: Stripe's element, the buttons of sheets, the printer's link. */
  prepare() {
    const { main, session } = this.flow;
    const contract = session?.contract;
    // Only a page of our own prints as a receipt.
    const print = /** @type {HTMLElement | null} */ (main.querySelector('[data-action="print"]'));
    if (print && this.flow.host.place.address !== null) print.hidden = false;
    for (const [action, type] of [["apple-pay", "apple_pay"], ["wechat-pay", "wechat_jsapi"]]) {
      const sheet = /** @type {HTMLButtonElement | null} */ (main.querySelector(`[data-action="${action}"]`));
      if (sheet && contract?.type === type) sheet.disabled = false;
    }
    const where = /** @type {HTMLElement | null} */ (main.querySelector('[data-field="payment-element"]'));
    if (!where) this.stripe = null;
    else if (contract?.type === "stripe" && this.stripe?.payment !== (contract.payment_id ?? contract.setup_id)) this.mount(where, contract);
  }

  /** @param {HTMLElement} where @param {any} contract */
  async mount(where, contract) {
    const { flow } = this;
    const mine = { payment: contract.payment_id ?? contract.setup_id, confirm: null };
    this.stripe = mine;
    try {
      const returnURL = flow.host.returnURL(flow.session) ?? location.href;
      const mounted = await mountStripe({ contract, where: flow.host.mountPoint(where), locale: flow.locale, returnURL, isWanted: () => this.stripe === mine });
      if (!mounted || this.stripe !== mine) return;
      this.stripe = { ...mine, confirm: mounted.confirm };
      const pay = /** @type {HTMLButtonElement | null} */ (flow.main.querySelector('[data-action="pay"]'));
      if (pay) pay.disabled = false;
    } catch (error) {
      flow.host.failed(error);
      if (this.stripe === mine) flow.alert({ reason: "provider_unavailable", title: flow.t.stripe_not_loaded ?? "", text: flow.t.stripe_not_loaded_text });
    }
  }

  /** @param {MouseEvent} event */
  click(event) {
    const control = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target)?.closest?.("[data-action]"));
    if (!control || event.defaultPrevented) return;
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    const action = control.dataset.action ?? "";
    if (["other-method", "other-plan", "retry"].includes(action) && plain) {
      event.preventDefault();
      void this.choose(control.getAttribute("href")?.endsWith("=plans") ? "plans" : "methods");
    } else if (action === "pay") void this.confirm(control);
    else if (action === "apple-pay") this.applePay();
    else if (action === "wechat-pay") void this.wechatPay(control);
    else if (action === "print") control.ownerDocument.defaultView?.print();
  }

  /** @param {SubmitEvent} event */
  submit(event) {
    const form = /** @type {HTMLFormElement} */ (event.target);
    const button = /** @type {HTMLButtonElement | null} */ (event.submitter ?? form.querySelector("button"));
    const act = button?.name === "act" ? button.value : /** @type {HTMLInputElement | null} */ (form.querySelector('input[name="act"]'))?.value;
    if (!button) return;
    if (act === "plan") {
      const days = /** @type {HTMLInputElement | null} */ (form.querySelector('input[name="days"]'))?.value;
      if (this.flow.host.plan(button.value, days ? Number(days) : null)) event.preventDefault();
      return;
    }
    if (act !== "method" && act !== "cancel" && act !== "check") return;
    event.preventDefault();
    if (act === "method") {
      const box = /** @type {HTMLInputElement | null} */ (form.querySelector('input[name="terms"]'));
      if (box && !box.checked) {
        this.flow.alert(this.words("terms"));
        return box.focus();
      }
      return void this.press(button);
    }
    const order = this.flow.session?.order?.id;
    if (act === "cancel" && order) return void this.run(button, () => this.flow.desk.cancel(order, { signal: this.flow.signal }));
    return void this.check(button);
  }

  /**
   * Goes on with a method.
   * @param {HTMLButtonElement} button
   */
  async press(button) {
    const { flow } = this;
    const { account = "", type = "" } = button.dataset;
    const contract = await this.run(button, async () => {
      const { session } = flow;
      const chosen = session.chosen ?? { sku: session.skus[0], days: session.days };
      const free = type === "none";
      return flow.desk.contract({
        sku: chosen.sku, days: chosen.days ?? undefined, platform: session.platform, provider: free ? undefined : account,
        accept: free ? undefined : [type], return_url: flow.host.returnURL(session),
      }, { signal: flow.signal });
    }, () => flow.host.choose(null));
    if (contract?.type === "url" && flow.main.dataset.state === "redirect" && isFollowable(contract.checkout_url ?? "")) flow.host.leave(contract.checkout_url ?? "");
  }

  /**
   * Asks the provider, then the server.
   * @param {HTMLElement} button
   */
  async check(button) {
    const { flow } = this;
    const order = flow.session?.order?.id;
    const before = flow.drawn;
    await this.run(button, () => order ? flow.desk.refresh(order, { signal: flow.signal }).catch(failure => {
      // Asked less than 5 s ago, or already decided: the session tells.
      if (!(failure instanceof PaydeskError) || failure.error === "network" || failure.status >= 500) throw failure;
    }) : Promise.resolve());
    if (flow.drawn === before) flow.say(flow.t.not_yet);
  }

  /** @param {"plans" | "methods"} choice */
  async choose(choice) {
    this.flow.host.choose(choice);
    if (!this.flow.busy) await this.flow.ask();
  }

  /**
   * One act at a time: the button shows it, an answer that was lost is asked for again, a refusal becomes the alert.
   * @template T
   * @param {HTMLElement} button
   * @param {() => Promise<T>} act
   * @param {() => void} [before] runs after the act and before the next state is drawn
   * @returns {Promise<T | undefined>}
   */
  async run(button, act, before = () => undefined) {
    const { flow } = this;
    if (flow.busy) return undefined;
    flow.busy = true;
    button.setAttribute("aria-busy", "true");
    /** @type {import("./present-parts.js").Alert | null} */
    let alert = null;
    /** @type {T | undefined} */
    let result;
    try {
      if (!flow.session) while (!(await flow.ask()) && !flow.signal.aborted) await sleep(AGAIN, flow.signal);
      result = await this.answered(act);
      before();
    } catch (error) {
      if (flow.signal.aborted) return undefined;
      alert = this.alertOf(error);
    } finally {
      flow.busy = false;
    }
    while (!(await flow.ask(alert)) && !flow.signal.aborted) await sleep(AGAIN, flow.signal).catch(() => undefined);
    button.removeAttribute("aria-busy");
    return alert ? undefined : result;
  }

  /** @template T @param {() => Promise<T>} act @returns {Promise<T>} */
  async answered(act) {
    for (;;) {
      try {
        const result = await act();
        this.flow.host.offline(false);
        return result;
      } catch (error) {
        if (!(error instanceof PaydeskError) || error.error !== "network") throw error;
        this.flow.host.offline(true);
        await sleep(AGAIN, this.flow.signal);
      }
    }
  }

  /**
   * Lets Stripe confirm.
   * @param {HTMLElement} button
   */
  async confirm(button) {
    const { flow } = this;
    const running = this.stripe;
    if (!running?.confirm || flow.busy) return;
    flow.busy = true;
    flow.alert(null);
    button.setAttribute("aria-busy", "true");
    try {
      const refusal = await running.confirm();
      if (refusal) flow.alert({ reason: "refused", title: refusal.message || (flow.t.alert_refused ?? ""), text: null });
      else flow.acted = running.payment;
    } catch {
      flow.alert(this.words("provider_unavailable"));
    } finally {
      flow.busy = false;
      button.removeAttribute("aria-busy");
    }
    if (flow.acted === running.payment) await this.settle();
  }

  /** After the payer has acted: the state, and where it is not known yet, the provider. */
  async settle() {
    const { flow } = this;
    await flow.ask();
    const { order, state } = flow.session;
    if (order?.status === "open" && ["stripe", "apple_pay", "wechat_jsapi", "checking"].includes(state)) {
      await flow.desk.refresh(order.id, { signal: flow.signal }).catch(() => undefined);
      await flow.ask();
    }
  }

  applePay() {
    const { flow } = this;
    const contract = flow.session?.contract;
    if (contract?.type !== "apple_pay") return;
    flow.alert(null);
    beginApplePay({
      contract, desk: flow.desk, t: flow.t,
      ended: async ({ status, error }) => {
        if (status === "pending") flow.acted = contract.payment_id;
        if (status === "failed" && error) flow.alert(this.alertOf(error));
        await (status === "cancelled" ? this.choose("methods") : flow.ask());
      },
    });
  }

  /**
   * Shows WeChat's sheet. The page goes on asking meanwhile, since WeChat does not always say how it ended.
   * @param {HTMLElement} button
   */
  async wechatPay(button) {
    const { flow } = this;
    const contract = flow.session?.contract;
    if (contract?.type !== "wechat_jsapi" || performance.now() - this.pressed < SAME) return;
    this.pressed = performance.now();
    flow.alert(null);
    button.setAttribute("aria-busy", "true");
    const said = await payInWeChat(contract).catch(() => "failed");
    button.removeAttribute("aria-busy");
    if (flow.signal.aborted || flow.main.dataset.state !== "wechat_jsapi" || flow.session?.contract?.payment_id !== contract.payment_id) return;
    if (said === "done") {
      flow.acted = contract.payment_id;
      await this.settle();
    } else {
      this.pressed = -SAME;
      flow.alert({ ...this.words(said), mild: said === "cancelled" });
    }
  }

  /** @param {string} reason @returns {import("./present-parts.js").Alert} */
  words(reason) {
    return { reason, title: this.flow.t[`alert_${reason}`] ?? "", text: this.flow.t[`alert_${reason}_text`] };
  }

  /** @param {unknown} error @returns {import("./present-parts.js").Alert} */
  alertOf(error) {
    if (!(error instanceof PaydeskError)) {
      this.flow.host.failed(error);
      return this.words("invalid");
    }
    const number = error.requestId ? fill(this.flow.t.alert_request_id ?? "", { id: error.requestId }) : null;
    return { ...this.words(reasonOf(error)), request_id: error.status >= 500 || error.status === 400 ? number : null };
  }
}

/**
 * The alert's reason of a refused call.
 * @param {PaydeskError} error
 */
export function reasonOf(error) {
  if (error.details.reason === "session_over") return "session_over";
  if (error.error === "rate_limited") return "rate_limited";
  if (error.error === "no_provider_available") return "no_provider_available";
  if (error.error === "provider_rejected" || error.error === "apple_pay_token_invalid") return "refused";
  if (error.error === "forbidden") return "forbidden";
  if (error.status === 409 || error.status === 410) return "conflict";
  return error.status >= 500 || error.error === "network" ? "provider_unavailable" : "invalid";
}
