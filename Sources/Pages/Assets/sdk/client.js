// @ts-check
import { Intentions, subjectOf } from "./intentions.js";
import { Transport } from "./transport.js";
import { PaydeskError } from "./errors.js";
import { visible } from "./wait.js";
import { acceptOf } from "./accept.js";

const PAID = new Set(["paid", "partially_refunded", "refunded"]);

/**
 * The client of one Paydesk server for one user or one session.
 * @typedef {import("./paydesk").PaydeskOptions} PaydeskOptions
 * @typedef {import("./paydesk").Order} Order
 * @typedef {import("./paydesk").Contract} Contract
 * @typedef {import("./paydesk").Exits} Exits
 * @typedef {import("./paydesk").Outcome} Outcome
 * @typedef {import("./paydesk").CheckoutOptions} CheckoutOptions
 */
export class Paydesk {
  /** @param {PaydeskOptions} options */
  constructor(options) {
    this.transport = new Transport(options);
    this.baseURL = this.transport.baseURL;
    this.locale = options.locale ?? null;
    this.platform = options.platform ?? "web";
    this.intentions = new Intentions({ baseURL: this.baseURL, store: options.store, now: options.now, locks: options.locks });
    /** @type {string | null} the id of the session that the token is */
    this.sessionID = null;
    /** @type {{etag: string, data: any} | null} */
    this.owned = null;
  }

  /**
   * Makes an order, lets its exit act on the contract, and waits for the order.
   * @param {CheckoutOptions} options
   * @param {Exits} [exits]
   * @returns {Promise<Outcome>}
   */
  async checkout(options, exits = {}) {
    const { returnURL, signal, accept: wanted, ...more } = options;
    const own = /** @type {Record<string, any>} */ (exits);
    const accept = acceptOf(wanted, own, Boolean(more.payer?.wechat_openid));
    if (accept.length === 0) throw new PaydeskError("no_provider_available", { details: { reason: "accept" } });
    const contract = await this.contract({ ...more, platform: more.platform ?? this.platform, accept, return_url: returnURL ?? more.return_url }, { signal });
    const context = { signal: signal ?? null, desk: this };
    const exit = own[contract.type] ?? (await import("./exits.js")).exits[contract.type];
    // A type of a newer server.
    const said = await (exit ? exit(contract, context) : own.unknown ? own.unknown(contract.type, contract, context) : "left");
    if (said === "left") return { status: "left", order: await this.order(contract.order_id, { signal }) };
    return this.waitForOrder(contract.order_id, { signal, pollAfter: contract.poll_after_ms, until: contract.expires_at });
  }

  /**
   * The contract for what somebody wants: a new order, the running attempt of an open one, or its next attempt. One
   * intention keeps one idempotency key.
   * @param {Record<string, any>} body of POST /v1/public/checkout
   * @param {{signal?: AbortSignal | null}} options
   * @returns {Promise<Contract>}
   */
  async contract(body, { signal } = {}) {
    const wish = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined && value !== null));
    const name = await this.intentions.name(wish, await this.subject(signal));
    return this.intentions.alone(name, async () => {
      let kept = this.intentions.read(name);
      if (kept?.order_id) {
        const order = await this.order(kept.order_id, { signal }).catch(refusal => {
          if (refusal instanceof PaydeskError && refusal.status === 404) return null;
          throw refusal;
        });
        if (order?.status !== "open") kept = null;
        else if (order.next_action === "retry") return this.attempt(order.id, wish, signal);
        else {
          const again = await this.post("/v1/public/checkout", wish, kept.key, signal);
          const newest = order.payments[order.payments.length - 1];
          return !newest || again.payment_id === newest.id ? again : this.attempt(order.id, wish, signal);
        }
      }
      return this.firstContract(name, wish, kept, signal);
    });
  }

  /**
   * @param {string} name
   * @param {Record<string, any>} wish
   * @param {import("./intentions.js").Intention | null} kept a key whose answer was lost
   * @param {AbortSignal | null | undefined} signal
   * @returns {Promise<Contract>}
   */
  async firstContract(name, wish, kept, signal) {
    const intention = kept ?? this.intentions.fresh();
    this.intentions.write(name, intention);
    /** @type {Contract} */
    let contract;
    try {
      contract = await this.post("/v1/public/checkout", wish, intention.key, signal);
    } catch (refusal) {
      // A definite answer ends the intention; without one the same key asks again.
      if (refusal instanceof PaydeskError && refusal.status >= 400 && refusal.status < 500 && refusal.status !== 429) this.intentions.forget(name);
      throw refusal;
    }
    if (kept) {
      const order = await this.order(contract.order_id, { signal });
      if (order.status !== "open" && contract.type !== "none") {
        this.intentions.forget(name);
        return this.firstContract(name, wish, null, signal);
      }
    }
    this.intentions.write(name, { ...intention, order_id: contract.order_id });
    return contract;
  }

  /**
   * Another attempt of an open order.
   * @param {string} order
   * @param {Record<string, any>} wish
   * @param {AbortSignal | null} [signal]
   * @returns {Promise<Contract>}
   */
  async attempt(order, wish, signal) {
    const body = { platform: wish.platform ?? this.platform, provider: wish.provider, accept: wish.accept, return_url: wish.return_url, app_id: wish.app_id, payer: wish.payer };
    return this.post(`/v1/public/orders/${encodeURIComponent(order)}/checkout`, JSON.parse(JSON.stringify(body)), this.intentions.fresh().key, signal);
  }

  /** @param {{currency?: string, platform?: string, signal?: AbortSignal | null}} options */
  async products({ currency, platform = this.platform, signal } = {}) {
    return this.list("/v1/public/products", { platform, currency, locale: this.locale ?? undefined }, signal);
  }

  /** @param {{sku: string, currency?: string, days?: number | null, platform?: string, accept?: string[], signal?: AbortSignal | null}} options */
  async paymentMethods({ sku, currency, days, platform = this.platform, accept, signal }) {
    return this.list("/v1/public/payment-methods", { sku, platform, currency, days: days ?? undefined, accept: accept?.join(",") }, signal);
  }

  /**
   * @param {string} id
   * @param {{signal?: AbortSignal | null}} options
   * @returns {Promise<Order>}
   */
  async order(id, { signal } = {}) {
    return (await this.transport.send(`/v1/public/orders/${encodeURIComponent(id)}`, { signal })).data;
  }

  /**
   * Asks for an order until it is decided, at most until the contract's end; not while the page is hidden.
   * @param {string} id
   * @param {{signal?: AbortSignal | null, pollAfter?: number, until?: number | null}} options until: seconds
   * @returns {Promise<Outcome>}
   */
  async waitForOrder(id, { signal, pollAfter = 2000, until = null } = {}) {
    /** @type {Order | null} */
    let order = null;
    for (;;) {
      try {
        await visible(signal);
        order = await this.order(id, { signal });
      } catch (failure) {
        if (failure instanceof PaydeskError && failure.error === "aborted") break;
        if (!(failure instanceof PaydeskError) || (failure.error !== "network" && failure.status < 500)) throw failure;
      }
      if (order) {
        if (PAID.has(order.status)) return { status: "paid", order };
        if (order.status === "closed") return { status: "closed", order };
        if (order.next_action === "retry") return { status: "failed", order };
        const end = until ?? order.expires_at;
        if (end !== null && this.transport.now() + this.transport.clockOffset >= end * 1000) break;
      }
      if (signal?.aborted) break;
      await this.transport.sleep(Math.max(500, pollAfter), signal).catch(() => undefined);
    }
    return { status: "open", order: order ?? (await this.order(id)) };
  }

  /** @param {string} id @param {{signal?: AbortSignal | null}} options @returns {Promise<Order>} */
  async cancel(id, { signal } = {}) {
    return this.post(`/v1/public/orders/${encodeURIComponent(id)}/cancel`, {}, this.intentions.fresh().key, signal);
  }

  /**
   * Asks the provider now; at most once in 5 s for each order.
   * @param {string} id @param {{signal?: AbortSignal | null}} options @returns {Promise<Order>}
   */
  async refresh(id, { signal } = {}) {
    return (await this.transport.send(`/v1/public/orders/${encodeURIComponent(id)}/refresh`, { method: "POST", body: {}, key: this.intentions.fresh().key, signal, patience: 0 })).data;
  }

  /**
   * What the user owns; an unchanged answer is not sent again.
   * @param {{signal?: AbortSignal | null}} options
   */
  async entitlements({ signal } = {}) {
    const answer = await this.transport.send("/v1/public/entitlements", { signal, headers: this.owned ? { "If-None-Match": this.owned.etag } : {} });
    if (answer.status === 304 && this.owned) return this.owned.data;
    const etag = answer.headers.get("ETag");
    this.owned = etag ? { etag, data: answer.data } : null;
    return answer.data;
  }

  /**
   * Calls back with what the user owns, at once and after each change.
   * @param {(entitlements: any) => void} callback
   * @param {{onError?: (error: unknown) => void}} options
   * @returns {() => void} stops it
   */
  onEntitlements(callback, options = {}) {
    const stop = new AbortController();
    import("./stream.js").then(module => module.followEntitlements(this, callback, stop.signal)).catch(error => {
      if (!stop.signal.aborted) options.onError?.(error);
    });
    return () => stop.abort();
  }

  /** @param {string} meter @param {{signal?: AbortSignal | null}} options */
  async usage(meter, { signal } = {}) {
    return (await this.transport.send(`/v1/public/usage/${encodeURIComponent(meter)}`, { signal })).data;
  }

  /** @param {string} meter @param {number} [amount] @param {{signal?: AbortSignal | null}} options */
  async consume(meter, amount = 1, { signal } = {}) {
    return this.post(`/v1/public/usage/${encodeURIComponent(meter)}/consume`, { amount }, this.intentions.fresh().key, signal);
  }

  /**
   * The session that the token is.
   * @param {{signal?: AbortSignal | null, patience?: number}} options
   */
  async session(options = {}) {
    const data = (await this.transport.send("/v1/public/session", options)).data;
    this.sessionID = data.id;
    return data;
  }

  /**
   * Apple's merchant session for an order.
   * @param {string} order
   * @param {string} validationURL
   * @param {AbortSignal | null} [signal]
   */
  async applePaySession(order, validationURL, signal) {
    const body = { order_id: order, validation_url: validationURL };
    return (await this.transport.send("/v1/public/apple-pay/session", { method: "POST", body, signal })).data.merchant_session;
  }

  /**
   * Charges a wallet's token.
   * @param {string} order
   * @param {unknown} token
   * @param {string} key
   * @param {AbortSignal | null} [signal]
   */
  async applePayPayment(order, token, key, signal) {
    return this.post("/v1/public/apple-pay/payments", { order_id: order, token }, key, signal);
  }

  /** @param {string} path @param {unknown} body @param {string} key @param {AbortSignal | null} [signal] */
  async post(path, body, key, signal) {
    return (await this.transport.send(path, { method: "POST", body, key, signal })).data;
  }

  /**
   * All pages of a list.
   * @param {string} path
   * @param {Record<string, string | number | undefined>} query
   * @param {AbortSignal | null} [signal]
   */
  async list(path, query, signal) {
    const items = [];
    /** @type {string | null} */
    let cursor = null;
    do {
      const asked = new URLSearchParams();
      for (const [name, value] of Object.entries({ ...query, cursor: cursor ?? undefined })) if (value !== undefined) asked.set(name, String(value));
      const page = /** @type {any} */ ((await this.transport.send(`${path}?${asked}`, { signal })).data);
      items.push(...page.items);
      cursor = page.next_cursor ?? null;
    } while (cursor !== null);
    return items;
  }

  /** @param {AbortSignal | null} [signal] @returns {Promise<string>} */
  async subject(signal) {
    const token = await this.transport.token();
    if (!token.startsWith("pds_")) return subjectOf(token) ?? "";
    return this.sessionID ?? (await this.session({ signal })).id;
  }
}
