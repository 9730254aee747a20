// @ts-check
import { isInWeChat } from "./accept.js";
import { fill } from "./words.js";

/** @typedef {{account: string, kind: string, display_name: string, type: string}} Method */

/**
 * A way to pay's own name: a brand's in the payer's language, else the account's display name.
 * @param {Method} method
 * @param {import("./words.js").Texts} t
 * @returns {string}
 */
export function methodName(method, t) {
  if (method.type === "apple_pay") return t.method_apple_pay ?? "";
  if (method.type === "apple_iap") return t.method_app_store ?? "";
  const brand = /** @type {Record<string, string | undefined>} */ ({ alipay: t.method_alipay, wechat_pay: t.method_wechat_pay, paypal: t.method_paypal })[method.kind];
  if (brand) return brand;
  if (method.type === "stripe" && method.kind === "stripe") return t.method_card ?? "";
  return method.display_name || method.account;
}

/**
 * @param {Method} method
 * @param {import("./words.js").Texts} t
 * @returns {{name: string, help: string | null, icon: string}}
 */
export function methodWords(method, t) {
  const name = methodName(method, t);
  const sandbox = method.kind === "sandbox" ? t.method_sandbox_help ?? null : null;
  switch (method.type) {
    case "none": return { name: t.method_none ?? "", help: t.method_none_help ?? null, icon: "gift" };
    case "apple_pay": return { name, help: t.method_apple_pay_help ?? null, icon: "phone" };
    case "apple_iap": return { name, help: t.method_app_store_help ?? null, icon: "phone" };
    case "stripe": return { name, help: sandbox ?? t.method_card_help ?? null, icon: "card" };
    case "wechat_jsapi": return { name, help: t.method_wechat_help ?? null, icon: "phone" };
    case "qr": return { name: fill(t.method_qr ?? "", { name }), help: sandbox ?? t.method_qr_help ?? null, icon: "scan" };
    default: return { name, help: sandbox ?? fill((name.length > 24 ? t.method_url_help_long : t.method_url_help) ?? "", { name }), icon: method.kind === "epay" ? "bank" : "out" };
  }
}

/**
 * The words of a list, in which every name stands once: a card's form, else the account, tells two apart.
 * @param {Method[]} methods
 * @param {import("./words.js").Texts} t
 */
export function wordsOf(methods, t) {
  const words = methods.map(method => methodWords(method, t));
  const isTwice = (/** @type {string} */ name, /** @type {string[]} */ names) => names.indexOf(name) !== names.lastIndexOf(name);
  const plain = words.map(each => each.name);
  words.forEach((each, index) => {
    if (methods[index]?.type === "stripe" && isTwice(each.name, plain)) each.name = fill(t.method_card_of ?? "", { name: each.name });
  });
  const better = words.map(each => each.name);
  words.forEach((each, index) => {
    if (isTwice(each.name, better)) each.name = fill(t.between ?? "", { first: each.name, second: methods[index]?.account ?? "" });
  });
  return words;
}

/** Types that no page can act on: an app hands them to a wallet's own library. */
const OF_APPS = new Set(["alipay_app", "wechat_app"]);

/**
 * The methods as a page shows them: inside WeChat its own sheet first and none of WeChat's other ways (which cannot be
 * paid by a page there), inside Alipay its link first.
 * @param {Method[]} methods
 * @param {string} agent the User-Agent
 * @returns {{items: Method[], leftOut: boolean}}
 */
export function methodsFor(methods, agent) {
  const rest = methods.filter(method => method.type !== "wechat_jsapi" && !OF_APPS.has(method.type));
  if (/MicroMessenger/i.test(agent)) {
    const first = isInWeChat(agent) ? methods.filter(method => method.type === "wechat_jsapi") : [];
    const others = rest.filter(method => method.kind !== "wechat_pay");
    return { items: [...first, ...others], leftOut: first.length === 0 && others.length < rest.length };
  }
  const first = /AlipayClient/i.test(agent) ? rest.filter(isAlipayLink) : [];
  return { items: [...first, ...rest.filter(method => !first.includes(method))], leftOut: false };
}

/** @param {Method} method */
export function isAlipayLink(method) {
  return method.kind === "alipay" && method.type === "url";
}

/**
 * The address that opens a code's own app on the same phone, or null.
 * @param {string} kind
 * @param {string} text what the code says
 */
export function appAddress(kind, text) {
  if (kind === "alipay") return `alipays://platformapi/startapp?saId=10000007&qrcode=${encodeURIComponent(text)}`;
  if (kind === "wechat_pay") return "weixin://";
  return /^https?:\/\//i.test(text) ? text : null;
}

/**
 * An address that may be followed: http, https or an app's scheme, never one that runs or holds a page.
 * @param {string} address
 */
export function isFollowable(address) {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(address)?.[1]?.toLowerCase();
  return scheme !== undefined && !["javascript", "data", "vbscript", "blob", "file", "filesystem", "view-source", "about"].includes(scheme);
}

/**
 * A return address with the order's id and status: existing ones of these names are replaced, the rest and the fragment
 * are kept, also of an app's scheme without `//`.
 * @param {string} address
 * @param {{id: string, status: string}} order
 */
export function wayBack(address, order) {
  const [bare = "", ...fragment] = address.split("#");
  const [path = "", ...query] = bare.split("?");
  const kept = query.join("?").split("&").filter(pair => pair !== "" && !["order_id", "status"].includes(nameOf(pair)));
  const status = order.status === "open" || order.status === "closed" ? order.status : "paid";
  const asked = [...kept, `order_id=${encodeURIComponent(order.id)}`, `status=${status}`].join("&");
  return `${path}?${asked}${fragment.length > 0 ? "#" + fragment.join("#") : ""}`;
}

/** @param {string} pair */
function nameOf(pair) {
  try {
    return decodeURIComponent((pair.split("=")[0] ?? "").replace(/\+/g, " "));
  } catch {
    return pair;
  }
}
