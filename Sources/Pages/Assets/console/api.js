// @ts-check
import { words } from "./text.js";

/**
 * @typedef {object} Request a call of the public admin API
 * @property {string} method
 * @property {string[]} path the parts after `/v1/admin/`, not encoded
 * @property {Record<string, string | string[] | null | undefined>} [query]
 * @property {unknown} [body] JSON
 * @property {Blob} [file] a body that is sent as it is, with its type
 * @property {string} [key] the Idempotency-Key
 */
/** @typedef {{data: any, requestID: string}} Reply */

/** A call that was refused, or whose answer is lost (`network`). */
export class CallError extends Error {
  /**
   * @param {number} status 0 where no answer came
   * @param {{error?: string, msg?: string, details?: any, request_id?: string}} body
   * @param {string | null} [retryAfter] seconds
   */
  constructor(status, body, retryAfter = null) {
    super(body.msg ?? body.error ?? "");
    this.status = status;
    this.error = body.error ?? "internal_error";
    this.details = body.details ?? {};
    this.requestID = body.request_id ?? "";
    this.retryAfter = retryAfter;
  }
}

const ROOT = "/v1/admin/";

/**
 * The address of a call.
 * @param {Request} request
 */
export function address(request) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(request.query ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== null && one !== undefined && one !== "") query.append(name, one);
  }
  const text = query.toString();
  return ROOT + request.path.map(encodeURIComponent).join("/") + (text === "" ? "" : `?${text}`);
}

const listeners = /** @type {(() => void)[]} */ ([]);

/**
 * Tells `listener` of every answer that says that nobody is signed in.
 * @param {() => void} listener
 */
export const onSignedOut = listener => listeners.push(listener);

/**
 * @param {Request} request
 * @param {AbortSignal} [signal]
 */
async function send(request, signal) {
  const headers = /** @type {Record<string, string>} */ ({ "X-Paydesk-Console": "1", "Accept-Language": words.locale });
  if (request.key) headers["Idempotency-Key"] = request.key;
  let body;
  if (request.file) {
    body = request.file;
    headers["Content-Type"] = request.file.type || "application/octet-stream";
  } else if (request.body !== undefined) {
    body = JSON.stringify(request.body);
    headers["Content-Type"] = "application/json";
  }
  try {
    return await fetch(address(request), { method: request.method, headers, body, signal, credentials: "same-origin", cache: "no-store" });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new CallError(0, { error: "network" });
  }
}

/**
 * Reads a refusal; a proxy between the browser and the server may have written it.
 * @param {Response} reply
 */
async function refusal(reply) {
  let body = {};
  try {
    body = await reply.json();
  } catch {
    body = { request_id: reply.headers.get("X-Request-Id") ?? "" };
  }
  return new CallError(reply.status, body, reply.headers.get("Retry-After"));
}

/** @param {CallError} error @param {Request} request */
function tell(error, request) {
  if (error.status === 401 && request.path[0] !== "console") for (const listener of listeners) listener();
  return error;
}

/**
 * Calls the admin API.
 * @param {Request} request
 * @param {AbortSignal} [signal]
 * @returns {Promise<Reply>}
 */
export async function call(request, signal) {
  const reply = await send(request, signal);
  if (!reply.ok) throw tell(await refusal(reply), request);
  try {
    const body = await reply.json();
    return { data: body.data, requestID: body.request_id };
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new CallError(0, { error: "network" });
  }
}

/**
 * Reads a file (CSV, YAML, JSON for Xcode).
 * @param {Request} request
 */
export async function file(request) {
  const reply = await send(request);
  if (!reply.ok) throw tell(await refusal(reply), request);
  const blob = await reply.blob().catch(() => null);
  if (!blob) throw new CallError(0, { error: "network" });
  return { blob, requestID: reply.headers.get("X-Request-Id") ?? "" };
}

/** A fresh Idempotency-Key, also where the page is not served over TLS. */
export function freshKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("");
}
