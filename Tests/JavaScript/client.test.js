// The client against a server that is played: what it sends, what it repeats, and what it makes of each answer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Paydesk, PaydeskError } from "../../Sources/Pages/Assets/sdk/paydesk.js";
import { subjectOf } from "../../Sources/Pages/Assets/sdk/intentions.js";
import { contractOf, orderOf } from "./fixtures.js";

const jwt = sub => `x.${Buffer.from(JSON.stringify({ sub })).toString("base64url")}.y`;

/** A client whose server is `answer(request, number)`: a body, or {status, body, headers}, or an Error for no answer. */
export function played(answer, options = {}) {
  const requests = [];
  const slept = [];
  const kept = new Map();
  let clock = options.at ?? 1_795_680_000_000;
  const desk = new Paydesk({
    baseURL: "https://pay.example/", token: jwt("alice"), locks: null, now: () => clock,
    store: { getItem: name => kept.get(name) ?? null, setItem: (name, value) => void kept.set(name, value), removeItem: name => void kept.delete(name) },
    sleep: async (milliseconds, signal) => {
      slept.push(milliseconds);
      clock += milliseconds;
      if (signal?.aborted) throw new PaydeskError("aborted");
    },
    fetch: async (address, init) => {
      const { pathname, search } = new URL(address);
      const request = { method: init.method ?? "GET", path: pathname + search, headers: new Headers(init.headers), body: init.body === undefined ? undefined : JSON.parse(init.body) };
      requests.push(request);
      const given = await answer(request, requests.length);
      if (given instanceof Error) throw given;
      const { status = 200, body = given, headers = {} } = typeof given?.status === "number" ? given : {};
      const envelope = status === 200 ? { code: 200, msg: "success", request_id: "req_1", data: body } : { code: status, msg: "no", details: {}, request_id: "req_9", ...body };
      return new Response([204, 304].includes(status) ? null : JSON.stringify(envelope), { status, headers });
    },
    ...options,
  });
  return { desk, requests, slept, kept, pass: milliseconds => { clock += milliseconds; } };
}

const refusal = (status, error, more = {}, headers = {}) => ({ status, body: { error, ...more }, headers });

test("a call carries the token and the language, an answer loses its envelope", async () => {
  const { desk, requests } = played(() => orderOf(), { locale: "zh-Hans" });
  assert.equal((await desk.order("ord_1")).id, orderOf().id);
  assert.equal(requests[0].path, "/v1/public/orders/ord_1");
  assert.equal(requests[0].headers.get("authorization"), `Bearer ${jwt("alice")}`);
  assert.equal(requests[0].headers.get("accept-language"), "zh-Hans");
});

test("a refusal is a PaydeskError with everything that the server said", async () => {
  const table = [
    [refusal(404, "order_not_found", { details: { order_id: "x" } }), { error: "order_not_found", status: 404, requestId: "req_9", retryAfter: null }],
    [{ status: 413, body: "<html>" }, { error: "invalid_request", status: 413 }],
    [new TypeError("fetch failed"), { error: "network", status: 0, requestId: null }],
  ];
  for (const [answer, expected] of table) {
    const { desk, requests } = played(() => answer);
    const failure = await desk.order("x").catch(error => error);
    assert.ok(failure instanceof PaydeskError && failure instanceof Error);
    for (const [name, value] of Object.entries(expected)) assert.equal(failure[name], value);
    assert.equal(requests.length, 1);
  }
});

test("a function is asked for another token after a 401, once; a string is not", async () => {
  let asked = 0;
  const tokens = played((request, number) => (number === 1 ? refusal(401, "unauthenticated") : orderOf()), { token: async () => `token-${++asked}` });
  await tokens.desk.order("x");
  assert.deepEqual(tokens.requests.map(each => each.headers.get("authorization")), ["Bearer token-1", "Bearer token-2"]);
  const never = played(() => refusal(401, "unauthenticated"), { token: () => "same" });
  await assert.rejects(never.desk.order("x"), { status: 401 });
  assert.equal(never.requests.length, 2);
  const text = played(() => refusal(401, "unauthenticated"));
  await assert.rejects(text.desk.order("x"), { status: 401 });
  assert.equal(text.requests.length, 1);
});

test("429 and 5xx are tried again as Retry-After says, for at most 30 s", async () => {
  const soon = played((request, number) => (number < 3 ? refusal(503, "temporarily_unavailable", {}, { "Retry-After": "2" }) : orderOf()));
  await soon.desk.order("x");
  assert.deepEqual(soon.slept, [2000, 2000]);
  const long = played(() => refusal(429, "rate_limited", {}, { "Retry-After": "9" }));
  await assert.rejects(long.desk.order("x"), { error: "rate_limited", retryAfter: 9 });
  assert.deepEqual(long.slept, [9000, 9000, 9000]);
  for (const answer of [refusal(429, "usage_limit_reached", {}, { "Retry-After": "3600" }), refusal(502, "provider_unavailable"), refusal(409, "conflict", {}, { "Retry-After": "1" })]) {
    const once = played(() => answer);
    await assert.rejects(once.desk.order("x"));
    assert.equal(once.requests.length, 1);
  }
});

test("an abort ends a call and a wait", async () => {
  const { desk, requests } = played(() => orderOf());
  await assert.rejects(desk.order("x", { signal: AbortSignal.abort() }), { error: "aborted" });
  assert.equal(requests.length, 0);
});

// keys

const wish = { sku: "vip_month", currency: "CNY", platform: "web", accept: ["url"] };
const checkouts = requests => requests.filter(each => each.method === "POST").map(each => [each.path, each.headers.get("idempotency-key")]);

test("one intention keeps one key while its order is open", async () => {
  let order = orderOf({ id: "ord_1" });
  const { desk, requests, kept } = played(request => (request.method === "GET" ? order : contractOf("url", { order_id: "ord_1" })));
  await desk.contract(wish);
  await desk.contract({ accept: ["url"], platform: "web", currency: "CNY", sku: "vip_month" }).catch(() => undefined);
  await desk.contract(wish);
  const keys = checkouts(requests).map(([, key]) => key);
  assert.equal(keys[0], keys[2]);
  const [name] = [...kept.keys()];
  assert.match(name, /^paydesk:https:\/\/pay\.example:[0-9a-f]{64}$/);
  assert.deepEqual(Object.keys(JSON.parse(kept.get(name))).sort(), ["at", "key", "order_id"]);
  assert.ok(![...kept].flat().join("").includes(jwt("alice")));
  order = orderOf({ id: "ord_1", status: "closed" });
  await desk.contract(wish);
  assert.notEqual(checkouts(requests).at(-1)[1], keys[0]);
});

test("another user and another wish have keys of their own, and after a day a new one begins", async () => {
  const answer = request => (request.method === "GET" ? orderOf() : contractOf("url"));
  const one = played(answer);
  await one.desk.contract(wish);
  await one.desk.contract({ ...wish, sku: "vip_year" });
  const [first, second] = checkouts(one.requests);
  assert.notEqual(first[1], second[1]);
  one.pass(24 * 3600 * 1000 + 1);
  await one.desk.contract(wish);
  assert.notEqual(checkouts(one.requests).at(-1)[1], first[1]);
  const other = played(answer, { token: jwt("bob"), store: { getItem: name => one.kept.get(name) ?? null, setItem: () => undefined, removeItem: () => undefined } });
  await other.desk.contract(wish);
  assert.ok(!checkouts(one.requests).some(([, key]) => key === checkouts(other.requests)[0][1]));
});

test("after a lost answer the same key asks again, a definite refusal ends it", async () => {
  const lost = played((request, number) => (number === 1 ? new TypeError("lost") : request.method === "GET" ? orderOf() : contractOf("url")));
  await assert.rejects(lost.desk.contract(wish), { error: "network" });
  await lost.desk.contract(wish);
  const [[, before], [, after]] = checkouts(lost.requests);
  assert.equal(before, after);
  const refused = played(() => refusal(422, "no_provider_available"));
  await assert.rejects(refused.desk.contract(wish));
  assert.equal(refused.kept.size, 0);
});

test("a lost answer whose order has ended meanwhile makes a new order", async () => {
  let posts = 0;
  const { desk } = played((request, number) => {
    if (number === 1) return new TypeError("lost");
    if (request.method === "GET") return orderOf({ id: "ord_old", status: "closed" });
    posts += 1;
    return contractOf("url", { order_id: posts === 1 ? "ord_old" : "ord_new" });
  });
  await assert.rejects(desk.contract(wish));
  assert.equal((await desk.contract(wish)).order_id, "ord_new");
});

test("a failed attempt and one that another has replaced are followed by the next attempt of the order", async () => {
  for (const order of [orderOf({ next_action: "retry" }), orderOf({}, { id: "pay_newer" })]) {
    const { desk, requests } = played(request => (request.method === "GET" ? order : contractOf("url")));
    await desk.contract(wish);
    await desk.contract(wish);
    const last = requests.at(-1);
    assert.equal(last.path, `/v1/public/orders/${order.id}/checkout`);
    assert.deepEqual(last.body, { platform: "web", accept: ["url"] });
    assert.notEqual(last.headers.get("idempotency-key"), checkouts(requests)[0][1]);
  }
});

test("two at once of one tab run one after the other with one key", async () => {
  let running = 0;
  const { desk, requests } = played(async request => {
    running += 1;
    assert.equal(running, 1);
    await new Promise(resolve => setTimeout(resolve, 5));
    running -= 1;
    return request.method === "GET" ? orderOf() : contractOf("url");
  });
  await Promise.all([desk.contract(wish), desk.contract(wish)]);
  assert.equal(new Set(checkouts(requests).map(([, key]) => key)).size, 1);
});

// checkout

test("accept is what has an exit", async () => {
  const answer = request => (request.method === "GET" ? orderOf({ status: "paid" }) : contractOf("url"));
  const exits = { url: () => undefined };
  const { desk, requests } = played(answer);
  await desk.checkout({ sku: "vip_month" }, exits);
  assert.deepEqual(requests[0].body.accept, ["apple_iap", "stripe", "url", "qr"]);
  const fewer = played(answer);
  await fewer.desk.checkout({ sku: "vip_month", returnURL: "https://app.example/done" }, { ...exits, stripe: null, qr: null, apple_pay: () => undefined });
  assert.deepEqual(fewer.requests[0].body, { sku: "vip_month", platform: "web", accept: ["apple_iap", "url", "apple_pay"], return_url: "https://app.example/done" });
  const none = played(answer);
  await assert.rejects(none.desk.checkout({ sku: "x" }, { apple_iap: null, stripe: null, url: null, qr: null }), { error: "no_provider_available", status: 0 });
  assert.equal(none.requests.length, 0);
});

test("an exit of a wallet puts its type into accept, with the app id and the payer in both checkouts", async () => {
  const more = { app_id: "wx2421b1c4370ec43b", payer: { wechat_openid: "oUpF8uMuAJO_M2pxb1Q9zNjWeS6o" } };
  const { desk, requests } = played(request => (request.method === "GET" ? orderOf({ status: "paid" }) : contractOf("wechat_app")));
  const seen = [];
  await desk.checkout({ sku: "vip_month", platform: "android", ...more }, { apple_iap: null, stripe: null, url: null, qr: null, alipay_app: () => undefined, wechat_app: contract => void seen.push(contract.wechat_app) });
  assert.deepEqual(requests[0].body, { sku: "vip_month", platform: "android", accept: ["alipay_app", "wechat_app"], ...more });
  assert.deepEqual(seen, [contractOf("wechat_app").wechat_app]);
  const again = played(() => contractOf("wechat_app"));
  await again.desk.attempt("ord_1", { platform: "android", accept: ["wechat_app"], ...more }, null);
  assert.deepEqual(again.requests[0].body, { platform: "android", accept: ["wechat_app"], ...more });
});

test("a type of a newer server goes to `unknown`, or nowhere", async () => {
  const pigeon = contractOf("carrier_pigeon", { carrier_pigeon: { loft: 7 } });
  const answer = request => (request.method === "GET" ? orderOf() : pigeon);
  const seen = [];
  const known = played(answer);
  const outcome = await known.desk.checkout({ sku: "vip_month", accept: ["carrier_pigeon"] }, { unknown: (type, json) => { seen.push([type, json]); return "left"; } });
  assert.deepEqual([outcome.status, seen], ["left", [["carrier_pigeon", pigeon]]]);
  assert.equal((await played(answer).desk.checkout({ sku: "vip_month" })).status, "left");
});

test("the outcome is the order's", async () => {
  const table = [["paid", "none", "paid"], ["partially_refunded", "none", "paid"], ["refunded", "none", "paid"], ["closed", "none", "closed"], ["open", "retry", "failed"]];
  for (const [status, next_action, expected] of table) {
    const { desk } = played(request => (request.method === "GET" ? orderOf({ status, next_action }) : contractOf("url")));
    assert.equal((await desk.checkout({ sku: "x" }, { url: () => undefined })).status, expected);
  }
  let questions = 0;
  const waits = played(request => (request.method === "GET" ? orderOf({ status: ++questions < 3 ? "open" : "paid" }) : contractOf("url", { poll_after_ms: 1500 })));
  assert.equal((await waits.desk.checkout({ sku: "x" }, { url: () => undefined })).status, "paid");
  assert.deepEqual(waits.slept, [1500, 1500]);
  const over = played(request => (request.method === "GET" ? orderOf() : contractOf("url", { expires_at: 1_795_680_003 })));
  assert.equal((await over.desk.checkout({ sku: "x" }, { url: () => undefined })).status, "open");
  const left = played(request => (request.method === "GET" ? orderOf() : contractOf("url")));
  assert.equal((await left.desk.checkout({ sku: "x" }, { url: async () => "left" })).status, "left");
  const stop = new AbortController();
  const ended = played(request => (request.method === "GET" ? orderOf() : contractOf("url")));
  assert.equal((await ended.desk.checkout({ sku: "x", signal: stop.signal }, { url: () => stop.abort() }).catch(error => error)).status ?? "open", "open");
});

test("a network that is lost while waiting does not end the waiting", async () => {
  let number = 0;
  const { desk } = played(request => (request.method !== "GET" ? contractOf("url") : ++number === 1 ? new TypeError("lost") : orderOf({ status: "paid" })));
  assert.equal((await desk.checkout({ sku: "x" }, { url: () => undefined })).status, "paid");
});

// the rest

test("entitlements are asked for with their ETag", async () => {
  const { desk, requests } = played(request => (request.headers.get("if-none-match") === '"7"' ? { status: 304, body: null } : { status: 200, body: { version: 7 }, headers: { ETag: '"7"' } }));
  assert.deepEqual([await desk.entitlements(), await desk.entitlements()], [{ version: 7 }, { version: 7 }]);
  assert.equal(requests[1].headers.get("if-none-match"), '"7"');
});

test("lists are read to their end", async () => {
  const { desk, requests } = played(request => (request.path.includes("cursor=") ? { items: [2], next_cursor: null } : { items: [1], next_cursor: "a&b" }));
  assert.deepEqual(await desk.products({ currency: "CNY" }), [1, 2]);
  assert.deepEqual(requests.map(each => each.path), ["/v1/public/products?platform=web&currency=CNY", "/v1/public/products?platform=web&currency=CNY&cursor=a%26b"]);
});

test("meters, cancel and refresh", async () => {
  const { desk, requests } = played(() => ({}));
  await desk.usage("a/b");
  await desk.consume("messages", 3);
  await desk.cancel("ord_1");
  await desk.refresh("ord_1");
  assert.deepEqual(requests.map(each => [each.method, each.path, each.body]), [
    ["GET", "/v1/public/usage/a%2Fb", undefined], ["POST", "/v1/public/usage/messages/consume", { amount: 3 }], ["POST", "/v1/public/orders/ord_1/cancel", {}], ["POST", "/v1/public/orders/ord_1/refresh", {}]]);
  assert.ok(requests.slice(1).every(each => each.headers.get("idempotency-key")));
});

test("a session's keys are named by its id", async () => {
  const { desk, requests, kept } = played(request => (request.path === "/v1/public/session" ? { id: "ses_1" } : request.method === "GET" ? orderOf() : contractOf("qr")), { token: "pds_" + "A".repeat(43) });
  await desk.contract(wish);
  await desk.contract(wish);
  assert.equal(requests.filter(each => each.path === "/v1/public/session").length, 1);
  assert.equal(kept.size, 1);
  assert.ok(![...kept].flat().join("").includes("pds_"));
});

test("the subject of a token", () => {
  assert.equal(subjectOf(jwt("爱丽丝")), "爱丽丝");
  for (const none of ["", "a.b", "a.!!.c", "a.e30.c"]) assert.equal(subjectOf(none), null);
});
