// The default exits that need no document.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { exits } from "../../Sources/Pages/Assets/sdk/exits.js";
import { theme, language } from "../../Sources/Pages/Assets/sdk/texts.js";
import { acceptOf, isInWeChat } from "../../Sources/Pages/Assets/sdk/accept.js";
import { WECHAT, contractOf, orderOf } from "./fixtures.js";

afterEach(() => {
  delete globalThis.webkit;
  delete globalThis.location;
  delete globalThis.WeixinJSBridge;
  delete globalThis.document;
  // Node has one from 21 on.
  if (navigators) Object.defineProperty(globalThis, "navigator", navigators);
  else delete globalThis.navigator;
});

const navigators = Object.getOwnPropertyDescriptor(globalThis, "navigator");
const browse = userAgent => Object.defineProperty(globalThis, "navigator", { value: { userAgent }, configurable: true });

test("the app around a web view buys, or there is nobody to buy", async () => {
  const contract = contractOf("apple_iap");
  assert.equal(await exits.apple_iap(contract, {}), "left");
  for (const [status, said] of [["paid", undefined], ["pending", undefined], ["cancelled", "left"]]) {
    const sent = [];
    globalThis.webkit = { messageHandlers: { paydesk: { postMessage: async message => { sent.push(message); return { status }; } } } };
    assert.equal(await exits.apple_iap(contract, {}), said);
    assert.deepEqual(sent, [{ type: "apple_iap", contract }]);
  }
});

test("an address is followed and does not resolve, one that runs something is refused", async () => {
  const went = [];
  globalThis.location = { assign: address => went.push(address) };
  const first = await Promise.race([exits.url(contractOf("url"), {}), new Promise(resolve => setTimeout(resolve, 10, "still waiting"))]);
  assert.deepEqual([first, went], ["still waiting", [contractOf("url").checkout_url]]);
  assert.throws(() => exits.url(contractOf("url", { checkout_url: "javascript:alert(1)" }), {}), TypeError);
  assert.equal(went.length, 1);
  assert.equal(exits.none(contractOf("none"), {}), undefined);
});

test("a wallet's type counts where somebody acts on it", () => {
  const all = ["apple_iap", "stripe", "url", "qr"];
  const table = [
    ["Mozilla/5.0", undefined, {}, true, all],
    ["Mozilla/5.0", ["url", "wechat_jsapi", "alipay_app", "wechat_app"], {}, true, ["url"]],
    ["Mozilla/5.0", undefined, { alipay_app: () => undefined, wechat_app: null }, false, [...all, "alipay_app"]],
    [WECHAT, undefined, {}, false, all],
    [WECHAT, undefined, {}, true, [...all, "wechat_jsapi"]],
    [WECHAT, undefined, { wechat_jsapi: null }, true, all],
    [WECHAT, ["wechat_jsapi"], {}, false, ["wechat_jsapi"]],
    [`${WECHAT} miniProgram`, ["url", "wechat_jsapi"], {}, true, ["url"]],
    // A type that this module does not know is the caller's own business.
    ["Mozilla/5.0", ["carrier_pigeon"], {}, false, ["carrier_pigeon"]],
  ];
  for (const [agent, wanted, own, hasPayer, expected] of table) {
    browse(agent);
    assert.deepEqual(acceptOf(wanted, own, hasPayer), expected, `${agent} ${wanted}`);
  }
  assert.ok(isInWeChat(WECHAT) && !isInWeChat(`${WECHAT} miniProgram/wx1`) && !isInWeChat("Mozilla/5.0"));
});

/** A client whose order is decided when `decide` is called. */
function asking() {
  let decide = () => undefined;
  const decided = new Promise(resolve => { decide = () => resolve({ status: "paid", order: orderOf({ status: "paid" }) }); });
  return { decide: () => decide(), desk: { waitForOrder: (_id, { signal }) => Promise.race([decided, new Promise(resolve => (signal.aborted ? resolve({ status: "open" }) : signal.addEventListener("abort", () => resolve({ status: "open" }))))]) } };
}

test("WeChat's sheet gets the contract's members, and its answer decides who waits", async () => {
  const contract = contractOf("wechat_jsapi");
  browse(WECHAT);
  for (const [said, expected] of [["get_brand_wcpay_request:ok", undefined], ["get_brand_wcpay_request:cancel", "left"]]) {
    const sent = [];
    globalThis.WeixinJSBridge = { invoke: (...given) => { sent.push(given.slice(0, 2)); given[2]({ err_msg: said }); } };
    assert.equal(await exits.wechat_jsapi(contract, { signal: null, desk: asking().desk }), expected, said);
    assert.deepEqual(sent, [["getBrandWCPayRequest", contract.wechat_jsapi]]);
  }
  globalThis.WeixinJSBridge = { invoke: (_name, _request, answer) => answer({ err_msg: "get_brand_wcpay_request:fail" }) };
  await assert.rejects(exits.wechat_jsapi(contract, { signal: null, desk: asking().desk }), { error: "provider_rejected", status: 0, details: { reason: "wechat" } });
});

test("a sheet that says nothing ends with its order, or with the caller's signal", async () => {
  const contract = contractOf("wechat_jsapi");
  browse(WECHAT);
  globalThis.WeixinJSBridge = { invoke: () => undefined };
  const paid = asking();
  const first = exits.wechat_jsapi(contract, { signal: null, desk: paid.desk });
  paid.decide();
  assert.equal(await first, undefined);
  const stop = new AbortController();
  const second = exits.wechat_jsapi(contract, { signal: stop.signal, desk: asking().desk });
  stop.abort();
  assert.equal(await second, undefined);
});

test("the bridge is waited for, and outside of WeChat nobody pays with it", async () => {
  const contract = contractOf("wechat_jsapi");
  const listeners = new Map();
  globalThis.document = { addEventListener: (name, act) => listeners.set(name, act), removeEventListener: name => listeners.delete(name) };
  browse(WECHAT);
  const paying = exits.wechat_jsapi(contract, { signal: null, desk: asking().desk });
  while (!listeners.has("WeixinJSBridgeReady")) await new Promise(resolve => setTimeout(resolve, 1));
  globalThis.WeixinJSBridge = { invoke: (_name, _request, answer) => answer({ err_msg: "get_brand_wcpay_request:ok" }) };
  listeners.get("WeixinJSBridgeReady")();
  assert.equal(await paying, undefined);
  assert.equal(listeners.size, 0);
  const { payInWeChat } = await import("../../Sources/Pages/Assets/sdk/pay-wechat.js");
  delete globalThis.WeixinJSBridge;
  assert.equal(await payInWeChat(contract, 1), "failed");
  browse("Mozilla/5.0");
  assert.equal(await exits.wechat_jsapi(contract, { signal: null, desk: asking().desk }), "left");
});

test("the accent has text that can be read on it", () => {
  for (const [accent, text] of [["#0a6cff", "#ffffff"], ["#c2185b", "#ffffff"], ["#ffd400", "#000000"], ["#0b8f6a", "#000000"]]) assert.ok(theme(accent).includes(`--accent-text: ${text}`), accent);
});

test("languages", () => {
  for (const [locale, expected] of [["zh-Hans", "zh-Hans"], ["zh-CN", "zh-Hans"], ["ZH", "zh-Hans"], ["en-GB", "en"], ["de", "en"], ["zhx", "en"]]) assert.equal(language(locale), expected);
});
