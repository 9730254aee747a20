// @ts-check
import { PaydeskError, throwIfAborted } from "./errors.js";
import { sleep } from "./wait.js";

/** How long a call is tried again after 429 and 5xx, in milliseconds. */
const PATIENCE = 30_000;
/** After this time without an answer a call counts as lost, in milliseconds. */
const TIMEOUT = 20_000;

/**
 * @typedef {object} Call
 * @property {string} [method]
 * @property {unknown} [body] sent as JSON
 * @property {string} [key] the Idempotency-Key
 * @property {Record<string, string>} [headers]
 * @property {AbortSignal | null} [signal]
 * @property {number} [patience] milliseconds within which 429 and 5xx are tried again; default 30,000
 *
 * @typedef {{data: any, status: number, headers: Headers}} Answer
 */

/** Calls to one server with one bearer token. */
export class Transport {
  /**
   * @param {{baseURL: string, token: string | (() => string | Promise<string>), locale?: string | null, fetch?: typeof fetch,
   *   sleep?: (milliseconds: number, signal?: AbortSignal | null) => Promise<void>, now?: () => number}} options
   */
  constructor(options) {
    this.baseURL = options.baseURL.replace(/\/+$/, "");
    this.givenToken = options.token;
    this.locale = options.locale ?? null;
    this.fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.sleep = options.sleep ?? sleep;
    this.now = options.now ?? Date.now;
    /** Milliseconds by which the server's clock is ahead, by the Date header of its answers. */
    this.clockOffset = 0;
    /** @type {string | null} */
    this.kept = typeof options.token === "string" ? options.token : null;
  }

  /** @returns {Promise<string>} */
  async token() {
    if (this.kept === null) this.kept = typeof this.givenToken === "string" ? this.givenToken : await this.givenToken();
    return this.kept;
  }

  /**
   * Asks a token's function once more after a 401; a token that is a string stays.
   * @returns {boolean} whether there is something else to try
   */
  forgetToken() {
    if (typeof this.givenToken === "string") return false;
    this.kept = null;
    return true;
  }

  /**
   * One call, with a new token after a first 401, and again as `Retry-After` says after 429 and 5xx.
   * @param {string} path
   * @param {Call} [call]
   * @returns {Promise<Answer>}
   */
  async send(path, call = {}) {
    const until = this.now() + (call.patience ?? PATIENCE);
    let renewed = false;
    for (;;) {
      const { response, failure } = await this.once(path, call);
      if (!failure) return { data: await dataOf(response), status: response.status, headers: response.headers };
      if (failure.status === 401 && !renewed && this.forgetToken()) {
        renewed = true;
        continue;
      }
      const wait = (failure.retryAfter ?? Infinity) * 1000;
      if ((failure.status !== 429 && failure.status < 500) || this.now() + wait > until) throw failure;
      await this.sleep(wait, call.signal);
    }
  }

  /**
   * The raw answer; a refusal is read into an error.
   * @param {string} path
   * @param {Call} call
   * @returns {Promise<{response: Response, failure: PaydeskError | null}>}
   */
  async once(path, call) {
    throwIfAborted(call.signal);
    /** @type {Record<string, string>} */
    const headers = { Accept: "application/json", Authorization: `Bearer ${await this.token()}`, ...call.headers };
    if (this.locale) headers["Accept-Language"] = this.locale;
    if (call.key) headers["Idempotency-Key"] = call.key;
    if (call.body !== undefined) headers["Content-Type"] = "application/json";
    const limit = new AbortController();
    const end = () => limit.abort();
    const timer = setTimeout(end, TIMEOUT);
    call.signal?.addEventListener("abort", end, { once: true });
    try {
      const response = await this.fetch(this.baseURL + path, {
        method: call.method ?? "GET", headers, body: call.body === undefined ? undefined : JSON.stringify(call.body),
        signal: limit.signal, cache: "no-store", credentials: "omit",
      });
      this.setClock(response.headers.get("Date"));
      return { response, failure: response.ok || response.status === 304 ? null : await failureOf(response) };
    } catch (cause) {
      throwIfAborted(call.signal);
      throw new PaydeskError("network", { cause });
    } finally {
      clearTimeout(timer);
      call.signal?.removeEventListener("abort", end);
    }
  }

  /** @param {string | null} date */
  setClock(date) {
    const at = date ? Date.parse(date) : NaN;
    // The header has whole seconds, so less than two say nothing.
    if (Number.isFinite(at)) this.clockOffset = Math.abs(at - this.now()) < 2000 ? 0 : at - this.now();
  }
}

/** @param {Response} response */
async function dataOf(response) {
  if (response.status === 304 || response.status === 204) return null;
  try {
    const body = await response.json();
    return body !== null && typeof body === "object" && "data" in body ? body.data : body;
  } catch (cause) {
    throw new PaydeskError("network", { status: response.status, cause });
  }
}

/**
 * @param {Response} response
 * @returns {Promise<PaydeskError>}
 */
export async function failureOf(response) {
  /** @type {any} */
  let body = null;
  try {
    body = await response.json();
  } catch {
    // A proxy's page says nothing that we could read.
  }
  const after = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  const own = body !== null && typeof body === "object" && typeof body.error === "string";
  return new PaydeskError(own ? body.error : response.status >= 500 ? "temporarily_unavailable" : "invalid_request", {
    status: response.status, requestId: (own ? body.request_id : null) ?? response.headers.get("X-Request-Id"),
    details: own ? body.details ?? {} : {}, message: own ? body.msg : `HTTP ${response.status}`,
    retryAfter: Number.isFinite(after) && after >= 0 ? after : null,
  });
}
