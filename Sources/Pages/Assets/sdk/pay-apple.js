// @ts-check
import { PaydeskError } from "./errors.js";
import { randomKey } from "./intentions.js";
import { sleep } from "./wait.js";

/** How long a lost answer is asked for again, in milliseconds. Apple's sheet gives up after 30 s. */
const PATIENCE = 25_000;

/** @returns {any} */
const apple = () => /** @type {any} */ (globalThis).ApplePaySession;

/** Whether this browser has Apple Pay. */
export function canApplePay() {
  try {
    return apple()?.canMakePayments?.() === true;
  } catch {
    return false;
  }
}

/** The highest version of Apple Pay's JavaScript that this browser takes, 14 to 3. */
export function applePayVersion() {
  for (let version = 14; version > 3; version -= 1) if (apple().supportsVersion(version)) return version;
  return 3;
}

/**
 * Apple's request for a contract; `applicationData` binds the token to the payment.
 * @param {any} contract
 */
export function applePayRequest(contract) {
  const given = contract.apple_pay;
  return {
    countryCode: given.country_code, currencyCode: given.currency_code, supportedNetworks: given.supported_networks,
    merchantCapabilities: given.merchant_capabilities, total: { label: given.total.label, amount: given.total.amount }, applicationData: given.application_data,
  };
}

/**
 * Shows Apple's sheet. Has to be called in the click's own task, before anything is waited for.
 * @param {{contract: any, desk: import("./client.js").Paydesk, t: import("./words.js").Texts,
 *   ended: (outcome: {status: "paid" | "pending" | "failed" | "cancelled", error?: unknown}) => void, patience?: number}} options
 */
export function beginApplePay({ contract, desk, t, ended, patience = PATIENCE }) {
  const ApplePaySession = apple();
  const session = new ApplePaySession(applePayVersion(), applePayRequest(contract));
  session.onvalidatemerchant = async (/** @type {any} */ event) => {
    try {
      session.completeMerchantValidation(await desk.applePaySession(contract.order_id, event.validationURL));
    } catch (error) {
      session.abort();
      ended({ status: "failed", error });
    }
  };
  session.onpaymentauthorized = async (/** @type {any} */ event) => {
    const { status, error } = await charge(desk, contract.order_id, event.payment.token, patience);
    if (status === "failed") {
      const words = (error instanceof PaydeskError && error.error === "network" ? t.apple_pay_lost : t.apple_pay_refused) ?? "";
      session.completePayment({ status: ApplePaySession.STATUS_FAILURE, errors: [new /** @type {any} */ (globalThis).ApplePayError("unknown", undefined, words)] });
    } else {
      session.completePayment({ status: ApplePaySession.STATUS_SUCCESS });
    }
    ended({ status, error });
  };
  session.oncancel = () => ended({ status: "cancelled" });
  session.begin();
}

/**
 * Charges a token. A lost answer is asked for again with the same key; in the end the order tells.
 * @param {import("./client.js").Paydesk} desk
 * @param {string} order
 * @param {unknown} token
 * @param {number} patience
 * @returns {Promise<{status: "paid" | "pending" | "failed", error?: unknown}>}
 */
async function charge(desk, order, token, patience) {
  const key = randomKey();
  const until = desk.transport.now() + patience;
  for (;;) {
    try {
      return { status: (await desk.applePayPayment(order, token, key)).status };
    } catch (error) {
      if (!isLost(error)) return { status: "failed", error };
      if (desk.transport.now() >= until) return outcomeOf(desk, order, error);
      await sleep(Math.min(1000, patience));
    }
  }
}

/** @param {unknown} error */
function isLost(error) {
  return error instanceof PaydeskError && (error.error === "network" || error.status >= 500 || error.status === 429 || error.error === "request_in_progress");
}

/**
 * @param {import("./client.js").Paydesk} desk
 * @param {string} id
 * @param {unknown} error
 * @returns {Promise<{status: "paid" | "pending" | "failed", error?: unknown}>}
 */
async function outcomeOf(desk, id, error) {
  try {
    const order = await desk.order(id);
    if (["paid", "partially_refunded", "refunded"].includes(order.status)) return { status: "paid" };
    if (order.next_action === "wait") return { status: "pending" };
  } catch {
    // The page goes on asking.
  }
  return { status: "failed", error };
}
