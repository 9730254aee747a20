// The default exits that need no document.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { exits } from "../../Sources/Pages/Assets/sdk/exits.js";
import { theme, language } from "../../Sources/Pages/Assets/sdk/texts.js";
import { contractOf } from "./fixtures.js";

afterEach(() => {
  delete globalThis.webkit;
  delete globalThis.location;
});

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

test("the accent has text that can be read on it", () => {
  for (const [accent, text] of [["#0a6cff", "#ffffff"], ["#c2185b", "#ffffff"], ["#ffd400", "#000000"], ["#0b8f6a", "#000000"]]) assert.ok(theme(accent).includes(`--accent-text: ${text}`), accent);
});

test("languages", () => {
  for (const [locale, expected] of [["zh-Hans", "zh-Hans"], ["zh-CN", "zh-Hans"], ["ZH", "zh-Hans"], ["en-GB", "en"], ["de", "en"], ["zhx", "en"]]) assert.equal(language(locale), expected);
});
