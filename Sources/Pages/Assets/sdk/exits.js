// @ts-check
import { isInWeChat } from "./accept.js";
import { PaydeskError } from "./errors.js";
import { isFollowable } from "./methods.js";

/**
 * The exits of a contract whose caller gave none.
 * @typedef {import("./paydesk").Contract} Contract
 * @typedef {{signal: AbortSignal | null, desk: any}} Context
 * @type {Record<string, (contract: any, context: Context) => void | "left" | Promise<void | "left">>}
 */
export const exits = {
  url: follow,
  qr: dialog, stripe: dialog, apple_pay: dialog,
  none: () => undefined,
  apple_iap: inApp, wechat_jsapi: inWeChat,
};

/** @param {Contract} contract @returns {Promise<never>} */
function follow(contract) {
  if (!isFollowable(contract.checkout_url ?? "")) throw new TypeError("The contract's address cannot be followed.");
  location.assign(/** @type {string} */ (contract.checkout_url));
  return new Promise(() => undefined);
}

/** @param {Contract} contract @param {Context} context */
async function dialog(contract, context) {
  return (await import("./dialog.js")).payInDialog(contract, context);
}

/**
 * Hands the contract to the app around this web view, which buys with StoreKit.
 * @param {Contract} contract
 * @returns {Promise<void | "left">}
 */
async function inApp(contract) {
  const app = /** @type {any} */ (globalThis).webkit?.messageHandlers?.paydesk;
  if (!app) return "left";
  const reply = await app.postMessage({ type: "apple_iap", contract });
  return reply?.status === "cancelled" ? "left" : undefined;
}

/**
 * Shows WeChat's sheet until it or the order says how it ended.
 * @param {Contract} contract
 * @param {Context} context
 * @returns {Promise<void | "left">}
 */
async function inWeChat(contract, { signal, desk }) {
  if (!isInWeChat()) return "left";
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted) stop();
  try {
    const { payInWeChat } = await import("./pay-wechat.js");
    const order = desk.waitForOrder(contract.order_id, { signal: stopping.signal, pollAfter: contract.poll_after_ms, until: contract.expires_at });
    const said = await Promise.race([payInWeChat(contract), order.then(() => "done", () => "done")]);
    if (said === "failed") throw new PaydeskError("provider_rejected", { details: { reason: "wechat" } });
    return said === "cancelled" ? "left" : undefined;
  } finally {
    signal?.removeEventListener("abort", stop);
    stop();
  }
}
