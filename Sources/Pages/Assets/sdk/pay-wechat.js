// @ts-check

/** How long WeChat may take to bring its bridge, in milliseconds. */
const PATIENCE = 5000;

/** @returns {any} */
const bridge = () => /** @type {any} */ (globalThis).WeixinJSBridge;

/**
 * Waits for the bridge, which WeChat puts into a page after it has begun.
 * @param {number} patience
 * @returns {Promise<any>} null where none comes
 */
function ready(patience) {
  if (bridge()) return Promise.resolve(bridge());
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(timer);
      document.removeEventListener("WeixinJSBridgeReady", end);
      resolve(bridge() ?? null);
    };
    const timer = setTimeout(end, patience);
    document.addEventListener("WeixinJSBridgeReady", end);
  });
}

/**
 * Shows WeChat's sheet for a contract. What it says proves nothing, the order does; and it does not always say anything.
 * @param {any} contract
 * @param {number} [patience]
 * @returns {Promise<"done" | "cancelled" | "failed">}
 */
export async function payInWeChat(contract, patience = PATIENCE) {
  const weixin = await ready(patience);
  if (!weixin) return "failed";
  const { appId, timeStamp, nonceStr, package: text, signType, paySign } = contract.wechat_jsapi;
  return new Promise(resolve => {
    weixin.invoke("getBrandWCPayRequest", { appId, timeStamp, nonceStr, package: text, signType, paySign }, (/** @type {any} */ said) => {
      const word = /^get_brand_wcpay_request:(ok|cancel)/.exec(String(said?.err_msg ?? ""))?.[1];
      resolve(word === "ok" ? "done" : word === "cancel" ? "cancelled" : "failed");
    });
  });
}
