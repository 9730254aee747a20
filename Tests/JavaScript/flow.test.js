// A payer's way through the states on a played page: presses, polling, alerts, Stripe's element and Apple's sheet.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { PaydeskError } from "../../Sources/Pages/Assets/sdk/errors.js";
import { Acts, reasonOf } from "../../Sources/Pages/Assets/sdk/flow-acts.js";
import { Flow } from "../../Sources/Pages/Assets/sdk/flow.js";
import { read } from "./dom.js";
import { NOW, WECHAT, contextOf, contractOf, factsOf, methods, orderOf, productsOf, sessionOf, templates, texts } from "./fixtures.js";
import { render } from "./mustache.js";

/** A page of the server in a state, taken over by a flow whose server is `world`. */
function page(world, { name = "methods", lang = "en", can = () => true, choice = null, agent = "" } = {}) {
  const main = read(render("cashier", contextOf(name, lang), templates)).querySelector("main");
  const log = { left: [], offline: [], changed: [], ended: [], choices: [], failed: [], calls: [] };
  const call = (what, act) => async (...given) => {
    log.calls.push([what, ...given]);
    return act(...given);
  };
  const desk = {
    transport: { now: () => NOW * 1000, clockOffset: 0 },
    session: async () => {
      const session = typeof world.session === "function" ? world.session() : world.session;
      if (session instanceof Error) throw session;
      return session;
    },
    products: async () => productsOf(lang), paymentMethods: async () => world.methods ?? methods,
    contract: call("contract", body => world.contract(body)), cancel: call("cancel", id => world.cancel(id)), refresh: call("refresh", id => world.refresh?.(id) ?? {}),
    order: async () => world.session.order, applePaySession: call("applePaySession", () => ({ merchantSessionIdentifier: "m" })), applePayPayment: call("applePayPayment", (...given) => world.charge(...given)),
  };
  let view = choice;
  const flow = new Flow({
    desk, t: texts[lang], locale: lang,
    host: {
      main, csrf: "csrf", place: { agent, can, base: "", address: `/pay/s/${sessionOf(lang).id}`, zone: "UTC" }, leave: address => log.left.push(address), ended: error => log.ended.push(error), offline: on => log.offline.push(on),
      changed: state => log.changed.push(state), failed: error => log.failed.push(error), returnURL: () => "https://pay.example/pay/s/ses_1", choice: () => view, plan: () => false, mountPoint: where => where,
      choose: next => {
        view = next;
        log.choices.push(next);
      },
    },
  });
  const acts = new Acts(flow);
  const control = (action, more = "") => main.querySelector(`[data-action="${action}"]${more}`);
  const submit = async (action, more) => {
    const button = control(action, more);
    await main.dispatch("submit", { target: button.closest("form"), submitter: button });
    return button;
  };
  const click = action => main.dispatch("click", { target: control(action) });
  return { flow, acts, main, log, control, submit, click, alert: () => main.querySelector('[data-field="error"]'), state: () => main.dataset.state };
}

/** Waits for the microtasks and short timers of an act. */
const until = async check => {
  for (let turn = 0; turn < 400 && !check(); turn += 1) await new Promise(resolve => setTimeout(resolve, 2));
  assert.ok(check(), `not so: ${check}`);
};
const running = (type, more) => sessionOf("en", { state: { url: "redirect" }[type] ?? type, order: orderOf({}, { provider: contractOf(type).provider }), contract: contractOf(type), ...more });

test("what the server has drawn stays as it is", async () => {
  const world = { session: sessionOf("en") };
  const { flow, main, log } = page(world);
  const heading = main.querySelector("h1");
  await flow.ask();
  assert.equal(main.querySelector("h1"), heading);
  assert.deepEqual(log.changed, []);
});

test("a press makes one contract, draws its state with the focus on the heading, and is left for once", async () => {
  const world = { session: sessionOf("en"), contract: () => { world.session = running("url"); return contractOf("url"); } };
  const p = page(world);
  await p.flow.ask();
  const button = p.submit("method", '[data-account="paypal_main"]');
  p.submit("method", '[data-account="paypal_main"]');
  await button;
  await until(() => p.state() === "redirect");
  assert.equal(p.log.calls.length, 1);
  assert.deepEqual(p.log.calls[0][1], { sku: "vip_month", days: undefined, platform: "web", provider: "paypal_main", accept: ["url"], return_url: "https://pay.example/pay/s/ses_1" });
  await until(() => p.log.left.length === 1);
  assert.deepEqual(p.log.left, [contractOf("url").checkout_url]);
  assert.equal(p.main.ownerDocument.activeElement.localName, "h1");
  assert.equal(p.main.dataset.payment, contractOf("url").payment_id);
  await p.flow.ask();
  assert.equal(p.log.left.length, 1);
});

test("an address that runs something is not followed", async () => {
  const evil = contractOf("url", { checkout_url: "javascript:alert(1)" });
  const world = { session: sessionOf("en"), contract: () => { world.session = running("url", { contract: evil }); return evil; } };
  const p = page(world);
  await p.submit("method", '[data-account="paypal_main"]');
  await until(() => p.state() === "redirect");
  assert.deepEqual(p.log.left, []);
});

test("the live text stays the same element and changes its words", async () => {
  const world = { session: sessionOf("en") };
  const p = page(world);
  const live = p.main.querySelector("[data-live]");
  await p.flow.ask();
  for (const [session, words] of [[running("qr"), texts.en.waiting], [sessionOf("en", { state: "paid", order: factsOf("paid", "en").session.order, granted: { expires_at: NOW, perpetual: false, units: {} } }), texts.en.paid_title]]) {
    world.session = session;
    await p.flow.ask();
    assert.equal(p.main.querySelector("[data-live]"), live);
    assert.equal(live.textContent, words);
  }
});

test("a failed attempt is seen with its words, and a poll without news changes nothing", async () => {
  const world = { session: running("qr") };
  const p = page(world, { name: "qr" });
  await p.flow.ask();
  assert.deepEqual(p.log.changed, []);
  world.session = factsOf("methods-failed", "en").session;
  await p.flow.ask();
  assert.equal(p.state(), "methods");
  assert.deepEqual([p.alert().dataset.reason, p.alert().dataset.failure], ["failed", "card_declined"]);
  assert.equal(p.alert().textContent.trim(), "Your bank declined the card. Try another one.");
  await p.flow.ask();
  assert.deepEqual(p.log.changed, ["methods"]);
});

test("a lost network is said, and the act goes on with the same contract", { timeout: 10_000 }, async () => {
  let tries = 0;
  const world = { session: sessionOf("en"), contract: () => {
    tries += 1;
    if (tries === 1) throw new PaydeskError("network");
    world.session = running("qr");
    return contractOf("qr");
  } };
  const p = page(world);
  await p.flow.ask();
  const button = await p.submit("method", '[data-account="alipay_main"]');
  assert.equal(button.getAttribute("aria-busy"), "true");
  await new Promise(resolve => setTimeout(resolve, 2300));
  await until(() => p.state() === "qr");
  assert.deepEqual(p.log.offline.filter((on, at, all) => on !== all[at - 1]), [false, true, false]);
  assert.equal(tries, 2);
});

test("a poll that is not answered shows the banner, an ended token ends the page", async () => {
  const world = { session: new PaydeskError("network") };
  const p = page(world);
  await p.flow.ask();
  assert.deepEqual(p.log.offline, [true]);
  world.session = new PaydeskError("temporarily_unavailable", { status: 503 });
  await p.flow.ask();
  world.session = new PaydeskError("rate_limited", { status: 429 });
  await p.flow.ask();
  assert.deepEqual(p.log.offline, [true, true]);
  world.session = new PaydeskError("unauthenticated", { status: 401, details: { reason: "session_expired" } });
  await p.flow.ask();
  assert.equal(p.log.ended.length, 1);
  assert.ok(p.flow.signal.aborted);
});

test("a refusal is the alert of the state that follows", async () => {
  const table = [
    [{ status: 409, details: { reason: "session_over" } }, "conflict", "session_over"], [{ status: 409 }, "conflict", "conflict"], [{ status: 422 }, "no_provider_available", "no_provider_available"], [{ status: 429 }, "rate_limited", "rate_limited"],
    [{ status: 502 }, "provider_unavailable", "provider_unavailable"], [{ status: 400 }, "invalid_request", "invalid"], [{ status: 403 }, "forbidden", "forbidden"], [{ status: 422 }, "provider_rejected", "refused"], [{ status: 410 }, "order_not_open", "conflict"],
  ];
  for (const [more, error, reason] of table) {
    const refusal = new PaydeskError(error, { ...more, requestId: "req_9" });
    assert.equal(reasonOf(refusal), reason);
    const p = page({ session: sessionOf("en"), contract: () => { throw refusal; } });
    await p.flow.ask();
    await p.submit("method", '[data-account="alipay_main"]');
    await until(() => p.alert() !== null);
    assert.equal(p.alert().dataset.reason, reason);
    assert.ok(p.alert().textContent.includes(texts.en[`alert_${reason}`]));
    assert.equal(p.main.querySelector('[data-field="request-id"]') !== null, refusal.status >= 500 || refusal.status === 400);
    assert.equal(p.flow.busy, false);
  }
});

test("a managed subscription wants its box, and nothing is made without it", async () => {
  const world = { session: factsOf("methods-managed", "en").session, contract: () => assert.fail("made") };
  const p = page(world, { name: "methods-managed" });
  await p.flow.ask();
  await p.submit("method", '[data-account="stripe_main"]');
  assert.equal(p.alert().dataset.reason, "terms");
  assert.equal(p.main.ownerDocument.activeElement.getAttribute("name"), "terms");
  world.contract = () => contractOf("stripe");
  p.main.querySelector('input[name="terms"]').checked = true;
  await p.submit("method", '[data-account="stripe_main"]');
  await until(() => p.log.calls.length === 1);
});

test("another way to pay shows the methods and keeps the running attempt", async () => {
  const p = page({ session: running("qr") }, { name: "qr" });
  await p.flow.ask();
  await p.click("other-method");
  await until(() => p.state() === "methods");
  assert.deepEqual(p.log.choices, ["methods"]);
  assert.equal(p.main.dataset.order, orderOf().id);
  assert.equal(p.alert(), null);
  p.flow.host.choose(null);
  await p.flow.ask();
  assert.equal(p.state(), "qr");
});

test("another plan that was chosen is what the methods are about, though the order is still the first one's", async () => {
  const session = { ...running("qr"), skus: ["vip_month", "walkie"], chosen: { sku: "walkie", days: null } };
  const world = { session, contract: body => { assert.equal(body.sku, "walkie"); return contractOf("qr"); } };
  const p = page(world, { name: "plans", choice: "methods" });
  await p.flow.ask();
  assert.equal(p.state(), "methods");
  assert.equal(p.main.querySelector("[data-amount]").dataset.amount, "123456789");
  await p.submit("method", '[data-account="alipay_main"]');
  await until(() => p.state() === "qr");
  assert.equal(p.main.querySelector("[data-amount]").dataset.amount, "3990");
});

test("a choice is not shown where it has no place", async () => {
  for (const session of [factsOf("owned", "en").session, factsOf("paid", "en").session, { ...running("qr"), expires_at: NOW - 1 }]) {
    const p = page({ session }, { name: "qr", choice: "methods" });
    await p.flow.ask();
    assert.equal(p.state(), session.state);
  }
  const several = page({ session: sessionOf("en", { state: "plans", skus: ["vip_month", "vip_year"], chosen: null }) }, { name: "qr", choice: "methods" });
  await several.flow.ask();
  assert.equal(several.state(), "plans");
});

test("where no method is left that the browser can do it is unavailable", async () => {
  const p = page({ session: sessionOf("en"), methods: methods.slice(0, 1) }, { can: () => false });
  p.flow.drawn = "";
  await p.flow.ask();
  assert.deepEqual([p.state(), p.main.dataset.reason], ["unavailable", "no_account"]);
});

test("cancel and check", async () => {
  const world = { session: running("qr"), cancel: () => { world.session = factsOf("closed-cancelled", "en").session; } };
  const p = page(world, { name: "qr" });
  await p.flow.ask();
  await p.submit("check");
  await until(() => p.main.querySelector("[data-live]").textContent === texts.en.not_yet);
  world.refresh = () => { throw new PaydeskError("rate_limited", { status: 429 }); };
  await p.submit("check");
  await until(() => !p.flow.busy);
  assert.equal(p.alert(), null);
  await p.submit("cancel");
  await until(() => p.state() === "closed");
  assert.equal(p.main.dataset.reason, "cancelled");
  assert.equal(p.control("retry").getAttribute("href"), "?view=methods");
});

test("the time left counts down and ends at zero", async () => {
  const p = page({ session: running("qr") }, { name: "qr" });
  const time = p.main.querySelector('[data-field="expires"]');
  p.flow.tick();
  assert.equal(time.textContent, "14:32");
  p.flow.desk.transport.now = () => (NOW + 871.5) * 1000;
  p.flow.tick();
  assert.equal(time.textContent, "0:01");
  p.flow.desk.transport.now = () => (NOW + 900) * 1000;
  p.flow.tick();
  assert.equal(time.textContent, "0:00");
  assert.equal(p.main.querySelector("[data-live]").textContent, texts.en.qr_over);
});

test("Stripe's return is being checked until the server knows", async () => {
  const world = { session: running("stripe") };
  const p = page(world, { name: "stripe" });
  p.flow.returned = true;
  await p.flow.ask();
  assert.equal(p.state(), "checking");
  assert.ok(p.control("check"));
});

// Stripe

beforeEach(() => {
  globalThis.getComputedStyle = () => ({ color: "rgb(1, 2, 3)", fontFamily: "system-ui" });
});
afterEach(() => {
  for (const name of ["getComputedStyle", "Stripe", "ApplePaySession", "ApplePayError"]) delete globalThis[name];
});

/** Stripe.js as far as the page may call it; anything else throws. */
function stripeFake(answers) {
  const calls = [];
  globalThis.Stripe = (key, options) => {
    calls.push(["Stripe", key, options]);
    const confirm = name => async given => {
      calls.push([name, given.confirmParams, given.redirect, Object.keys(given)]);
      return answers.shift() ?? {};
    };
    return {
      elements: options => {
        calls.push(["elements", options.clientSecret, options.locale, Object.keys(options)]);
        return { create: type => { calls.push(["create", type]); return { mount: where => calls.push(["mount", where.dataset.field, where.childNodes.length]) }; } };
      },
      confirmPayment: confirm("confirmPayment"), confirmSetup: confirm("confirmSetup"),
    };
  };
  return calls;
}

test("Stripe's element is mounted once, a refusal keeps the state, and a success is checked", async () => {
  const calls = stripeFake([{ error: { message: "Your card was declined." } }, {}]);
  const world = { session: running("stripe") };
  const p = page(world, { name: "stripe" });
  assert.ok(p.control("pay").disabled);
  await p.flow.ask();
  await until(() => !p.control("pay").disabled);
  await p.flow.ask();
  assert.deepEqual(calls.map(([name]) => name), ["Stripe", "elements", "create", "mount"]);
  assert.deepEqual(calls[0].slice(1), ["pk_test_x", { locale: "en" }]);
  assert.deepEqual(calls[1].slice(1), ["pi_x_secret_y", "en", ["clientSecret", "locale", "appearance"]]);
  assert.deepEqual(calls[3].slice(1), ["payment-element", 0]);
  await p.click("pay");
  await until(() => p.alert() !== null);
  assert.deepEqual([p.state(), p.alert().dataset.reason, p.alert().textContent.trim()], ["stripe", "refused", "Your card was declined."]);
  await p.click("pay");
  await until(() => p.state() === "checking");
  assert.equal(p.main.dataset.nextAction, "wait");
  assert.deepEqual(calls.at(-1), ["confirmPayment", { return_url: "https://pay.example/pay/s/ses_1" }, "if_required", ["elements", "confirmParams", "redirect"]]);
  assert.ok(p.log.calls.some(([what]) => what === "refresh"));
});

test("a set-up is confirmed as a set-up", async () => {
  const calls = stripeFake([{}]);
  const p = page({ session: running("stripe", { contract: contractOf("stripe", { setup: true, setup_id: "stp_1", payment_id: null }) }) }, { name: "stripe" });
  p.flow.drawn = "";
  await p.flow.ask();
  await until(() => p.control("pay") && !p.control("pay").disabled);
  assert.equal(p.control("pay").textContent, texts.en.stripe_setup);
  assert.equal(p.main.dataset.setup, "stp_1");
  await p.click("pay");
  await until(() => calls.at(-1)[0] === "confirmSetup");
});

test("the sandbox's card needs no script", async () => {
  const calls = stripeFake([]);
  const p = page({ session: factsOf("stripe-sandbox", "en").session }, { name: "stripe-sandbox" });
  await p.flow.ask();
  assert.equal(p.control("go-on").getAttribute("href"), `/sandbox/${contractOf("stripe").payment_id}`);
  assert.deepEqual(calls, []);
});

// Apple Pay

/** Apple's sheet; what it was told is in `log`. */
function appleFake() {
  const sheet = { log: [], current: null };
  globalThis.ApplePayError = class { constructor(code, field, message) { Object.assign(this, { code, field, message }); } };
  globalThis.ApplePaySession = class {
    static STATUS_SUCCESS = 0;
    static STATUS_FAILURE = 1;
    static supportsVersion(version) { return version <= 12; }
    static canMakePayments() { return true; }
    constructor(version, request) { sheet.current = this; sheet.log.push(["new", version, request]); }
    begin() { sheet.log.push(["begin"]); }
    completeMerchantValidation(session) { sheet.log.push(["merchant", session.merchantSessionIdentifier]); }
    completePayment(result) { sheet.log.push(["payment", result.status, result.errors]); }
    abort() { sheet.log.push(["abort"]); }
  };
  return sheet;
}

async function sheetOf(charge) {
  const sheet = appleFake();
  const world = { session: running("apple_pay"), charge };
  const p = page(world, { name: "apple_pay" });
  await p.flow.ask();
  assert.equal(p.control("apple-pay").disabled, false);
  p.click("apple-pay");
  return { sheet, p, world };
}

test("Apple's sheet begins in the click's own task, with the contract's request", async () => {
  const { sheet, p } = await sheetOf(() => ({ status: "paid" }));
  assert.deepEqual(sheet.log.map(([what]) => what), ["new", "begin"]);
  assert.equal(sheet.log[0][1], 12);
  assert.deepEqual(sheet.log[0][2], { countryCode: "CN", currencyCode: "CNY", supportedNetworks: ["visa"], merchantCapabilities: ["supports3DS"], total: { label: "Aurora", amount: "39.90" }, applicationData: "nUeK" });
  await sheet.current.onvalidatemerchant({ validationURL: "https://apple-pay-gateway.apple.com/x" });
  assert.deepEqual(sheet.log.at(-1), ["merchant", "m"]);
  assert.deepEqual(p.log.calls[0].slice(0, 3), ["applePaySession", contractOf("apple_pay").order_id, "https://apple-pay-gateway.apple.com/x"]);
});

test("paid and pending close the sheet, a refusal stays in it with words", async () => {
  for (const [charge, status, state] of [[() => ({ status: "paid" }), 0, "apple_pay"], [() => ({ status: "pending" }), 0, "checking"], [() => ({ status: "failed" }), 1, "apple_pay"], [() => { throw new PaydeskError("apple_pay_token_invalid", { status: 400 }); }, 1, "apple_pay"]]) {
    const { sheet, p } = await sheetOf(charge);
    await sheet.current.onpaymentauthorized({ payment: { token: { paymentData: {} } } });
    assert.equal(sheet.log.at(-1)[1], status);
    if (status === 1) assert.deepEqual({ ...sheet.log.at(-1)[2][0] }, { code: "unknown", field: undefined, message: texts.en.apple_pay_refused });
    await until(() => p.state() === state);
  }
});

test("each token has a key, and a lost answer is asked for again with it", { timeout: 10_000 }, async () => {
  let tries = 0;
  const { sheet, p } = await sheetOf(() => {
    tries += 1;
    if (tries === 1) throw new PaydeskError("network");
    return { status: "paid" };
  });
  await sheet.current.onpaymentauthorized({ payment: { token: 1 } });
  await sheet.current.onpaymentauthorized({ payment: { token: 2 } });
  const keys = p.log.calls.filter(([what]) => what === "applePayPayment").map(call => [call[2], call[3]]);
  assert.equal(keys.length, 3);
  assert.deepEqual(keys[0], keys[1]);
  assert.notEqual(keys[2][1], keys[0][1]);
  assert.deepEqual(sheet.log.filter(([what]) => what === "payment").map(([, status]) => status), [0, 0]);
});

test("closing Apple's sheet leads to the methods without an alert", async () => {
  const { sheet, p } = await sheetOf(() => ({ status: "paid" }));
  sheet.current.oncancel({});
  await until(() => p.state() === "methods");
  assert.equal(p.alert(), null);
});

// WeChat

const sheet = { account: "wechat_main", kind: "wechat_pay", display_name: "WeChat Pay", type: "wechat_jsapi" };

test("inside WeChat its account has its sheet, and the others stay", async () => {
  const world = { session: sessionOf("en"), methods: [...methods, sheet] };
  const p = page(world, { agent: WECHAT });
  p.flow.drawn = "";
  await p.flow.ask();
  const shown = p.main.querySelectorAll('[data-action="method"]').map(each => `${each.dataset.account}:${each.dataset.type}`);
  assert.equal(shown[0], "wechat_main:wechat_jsapi");
  assert.ok(!shown.includes("wechat_main:qr") && shown.includes("paypal_main:url"));
  assert.equal(p.main.querySelector('[data-note="in_wechat"]'), null);
});

test("where WeChat did not name the payer, the page has to be opened in a browser", async () => {
  for (const [agent, offered, reason] of [[WECHAT, [], "in_wechat"], [WECHAT, methods.filter(each => each.kind === "wechat_pay"), "in_wechat"], ["", [], "no_account"], ["", [sheet], "no_account"]]) {
    const p = page({ session: sessionOf("en"), methods: offered }, { agent });
    p.flow.drawn = "";
    await p.flow.ask();
    assert.deepEqual([p.state(), p.main.dataset.reason], ["unavailable", reason]);
  }
});

test("WeChat's answer is shown, and the order decides", async () => {
  for (const [said, reason, state] of [["ok", undefined, "checking"], ["cancel", "cancelled", "wechat_jsapi"], ["fail", "failed", "wechat_jsapi"], ["fail_no permission", "failed", "wechat_jsapi"]]) {
    const sent = [];
    globalThis.WeixinJSBridge = { invoke: (name, request, answer) => { sent.push([name, request]); queueMicrotask(() => answer({ err_msg: `get_brand_wcpay_request:${said}` })); } };
    const world = { session: running("wechat_jsapi") };
    const p = page(world, { name: "wechat_jsapi", agent: WECHAT });
    assert.equal(p.control("wechat-pay").getAttribute("disabled"), "");
    await p.flow.ask();
    assert.equal(p.control("wechat-pay").disabled, false);
    p.click("wechat-pay");
    p.click("wechat-pay");
    await until(() => (reason ? p.alert() : p.state() === state));
    assert.equal(sent.length, 1, said);
    assert.deepEqual(sent[0], ["getBrandWCPayRequest", contractOf("wechat_jsapi").wechat_jsapi]);
    assert.deepEqual([p.state(), p.alert()?.dataset.reason], [state, reason]);
    assert.deepEqual(p.log.calls.map(each => each[0]), said === "ok" ? ["refresh"] : []);
    assert.deepEqual(p.log.failed, []);
  }
  delete globalThis.WeixinJSBridge;
});

test("a payment that arrives while WeChat says nothing is shown", async () => {
  globalThis.WeixinJSBridge = { invoke: () => undefined };
  const world = { session: running("wechat_jsapi") };
  const p = page(world, { name: "wechat_jsapi", agent: WECHAT });
  await p.flow.ask();
  p.click("wechat-pay");
  world.session = factsOf("paid", "en").session;
  await p.flow.ask();
  assert.equal(p.state(), "paid");
  delete globalThis.WeixinJSBridge;
});
