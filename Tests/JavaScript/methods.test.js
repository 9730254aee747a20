import assert from "node:assert/strict";
import { test } from "node:test";
import { appAddress, isFollowable, methodsFor, methodWords, wayBack, wordsOf } from "../../Sources/Pages/Assets/sdk/methods.js";
import { WECHAT, methods, texts } from "./fixtures.js";

test("the way back keeps what is the app's own", () => {
  const order = { id: "ord_1", status: "paid" };
  const table = [
    ["https://app.example/x?status=evil&a=1&order_id=1&status=2#f", "https://app.example/x?a=1&order_id=ord_1&status=paid#f"], ["https://app.example/", "https://app.example/?order_id=ord_1&status=paid"],
    ["myapp:done?b=%26", "myapp:done?b=%26&order_id=ord_1&status=paid"], ["https://app.example/x?st%61tus=evil", "https://app.example/x?order_id=ord_1&status=paid"], ["https://app.example/#a#b", "https://app.example/?order_id=ord_1&status=paid#a#b"],
    ["https://app.example/?%zz=1", "https://app.example/?%zz=1&order_id=ord_1&status=paid"],
  ];
  for (const [given, expected] of table) assert.equal(wayBack(given, order), expected);
  for (const [status, word] of [["partially_refunded", "paid"], ["refunded", "paid"], ["open", "open"], ["closed", "closed"]]) assert.match(wayBack("a:b", { id: "o", status }), new RegExp(`status=${word}$`));
});

test("addresses that run or hold a page are not followed", () => {
  for (const address of ["https://a.example/", "alipays://platformapi/startapp", "weixin://", "myapp:done"]) assert.ok(isFollowable(address), address);
  for (const address of ["javascript:alert(1)", "JavaScript:alert(1)", "data:text/html,x", "blob:https://a/b", "/relative", "", " javascript:alert(1)", "file:///etc/passwd"]) assert.ok(!isFollowable(address), address);
});

test("what the browsers of WeChat and Alipay may pay with", () => {
  const accounts = agent => methodsFor(methods, agent).items.map(each => each.account);
  assert.deepEqual(accounts("Mozilla/5.0"), methods.map(each => each.account));
  assert.equal(accounts("AlipayClient/10.5")[0], "alipay_web");
  assert.equal(accounts("AlipayClient/10.5").length, methods.length);
  assert.ok(!accounts("MicroMessenger/8.0").includes("wechat_main"));
  assert.equal(methodsFor(methods, "MicroMessenger/8.0").leftOut, true);
  assert.equal(methodsFor(methods.filter(each => each.kind !== "wechat_pay"), "MicroMessenger/8.0").leftOut, false);
});

test("inside WeChat its sheet stands first, and no page offers what only an app can do", () => {
  const sheet = { account: "wechat_main", kind: "wechat_pay", display_name: "WeChat Pay", type: "wechat_jsapi" };
  const apps = [{ account: "ali-app", kind: "alipay", display_name: "Alipay", type: "alipay_app" }, { account: "wx-app", kind: "wechat_pay", display_name: "WeChat Pay", type: "wechat_app" }];
  const others = methods.filter(each => each.kind !== "wechat_pay");
  const of = agent => methodsFor([...methods, ...apps, sheet], agent);
  assert.deepEqual(of(WECHAT), { items: [sheet, ...others], leftOut: false });
  // A mini program's web view has no way to pay, so the page has to be opened elsewhere.
  assert.deepEqual(of(`${WECHAT} miniProgram/wx0000000000000001`), { items: others, leftOut: true });
  for (const agent of ["Mozilla/5.0", "Mozilla/5.0 AlipayClient/10.5"]) {
    assert.deepEqual(of(agent).items.filter(each => each === sheet || apps.includes(each)), [], agent);
    assert.equal(of(agent).leftOut, false);
  }
  assert.deepEqual(methodWords(sheet, texts["zh-Hans"]), { name: "微信支付", help: "直接在微信中付款", icon: "phone" });
});

test("names of methods are brands in the payer's language", () => {
  const of = (account, lang) => methodWords(methods.find(each => each.account === account), texts[lang]);
  assert.deepEqual(of("alipay_main", "zh-Hans"), { name: "支付宝 · 扫码", help: "用手机应用扫一扫", icon: "scan" });
  assert.deepEqual(of("paypal_main", "zh-Hans"), { name: "PayPal", help: "前往 PayPal 付款，完成后回到这里", icon: "out" });
  assert.equal(of("stripe_main", "en").name, "Card");
  assert.equal(of("voucher_desk", "en").name, methods[7].display_name);
});

test("two ways to pay of one name are told apart", () => {
  const of = (account, type, kind = "sandbox", display_name = "Sandbox") => ({ account, kind, display_name, type });
  const names = list => wordsOf(list, texts.en).map(each => each.name);
  assert.deepEqual(names([of("box-url", "url"), of("box-qr", "qr"), of("box-stripe", "stripe")]), ["Sandbox", "Sandbox · scan a code", "Sandbox · card"]);
  assert.deepEqual(names([of("a", "qr", "alipay"), of("b", "qr", "alipay"), of("c", "url", "alipay")]), ["Alipay · scan a code · a", "Alipay · scan a code · b", "Alipay"]);
  assert.deepEqual(names([of("box-stripe", "stripe")]), ["Sandbox"]);
});

test("the address that opens a code's app", () => {
  assert.equal(appAddress("alipay", "https://qr.example/a?b=c"), "alipays://platformapi/startapp?saId=10000007&qrcode=https%3A%2F%2Fqr.example%2Fa%3Fb%3Dc");
  assert.equal(appAddress("wechat_pay", "weixin://wxpay/x"), "weixin://");
  assert.equal(appAddress("sandbox", "https://pay.example/sandbox/x"), "https://pay.example/sandbox/x");
  for (const text of ["javascript:alert(1)", "00020101"]) assert.equal(appAddress("other", text), null);
});
