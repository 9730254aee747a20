// @ts-check

/** Contract types, in the order in which `accept` names them. */
const TYPES = ["apple_iap", "stripe", "url", "qr", "apple_pay"];
/** The types of wallets inside apps, which count where the caller has an exit for them. */
const WALLETS = ["wechat_jsapi", "alipay_app", "wechat_app"];

/** Whether WeChat's browser is around the page. In a mini program's web view, which names itself, nothing can be paid. */
export function isInWeChat(agent = globalThis.navigator?.userAgent ?? "") {
  return /MicroMessenger/i.test(agent) && !/miniProgram/i.test(agent);
}

/**
 * The types that somebody acts on: those that the caller wants, else all, without the ones that have no exit here.
 * @param {string[] | undefined} wanted
 * @param {Record<string, unknown>} exits the caller's own
 * @param {boolean} hasPayer whether WeChat's name of the payer is known, without which it refuses
 */
export function acceptOf(wanted, exits, hasPayer) {
  const canApplePay = () => /** @type {any} */ (globalThis).window?.ApplePaySession?.canMakePayments?.() === true;
  return (wanted ?? [...TYPES, ...WALLETS]).filter(type => {
    if (exits[type] !== undefined) return exits[type] !== null;
    if (type === "apple_pay") return canApplePay();
    if (type === "wechat_jsapi") return isInWeChat() && (hasPayer || wanted !== undefined);
    return !WALLETS.includes(type);
  });
}
