// The console's modules that need no browser: addresses, amounts, curl, a SKU's change, and the rules of its files.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { address, freshKey } from "../../Sources/Pages/Assets/console/api.js";
import { refundable } from "../../Sources/Pages/Assets/console/acts-order.js";
import { step } from "../../Sources/Pages/Assets/console/chart.js";
import { curl, curls, quoted } from "../../Sources/Pages/Assets/console/curl.js";
import { major, minor, minorOrZero } from "../../Sources/Pages/Assets/console/money.js";
import { place, section, to } from "../../Sources/Pages/Assets/console/router.js";
import { clash, fresh, newBody, patch, skuOf } from "../../Sources/Pages/Assets/console/sku-model.js";
import { said, t, words } from "../../Sources/Pages/Assets/console/text.js";
import { ago } from "../../Sources/Pages/Assets/console/format.js";

const folder = new URL("../../Sources/Pages/Assets/console/", import.meta.url);
const sources = Object.fromEntries(readdirSync(folder).map(name => [name, readFileSync(new URL(name, folder), "utf8")]));
const modules = Object.entries(sources).filter(([name]) => name.endsWith(".js"));
const code = modules.map(([, source]) => source).join("\n");
const texts = { en: JSON.parse(sources["en.json"]), "zh-Hans": JSON.parse(sources["zh-Hans.json"]) };

test("an address leads to its screen, and every other one to not-found", () => {
  const table = [["", "home", null], ["#/", "home", null], ["#/home", "home", null], ["#/orders?status=paid", "orders", null], ["#/orders/ord_1", "order", "ord_1"],
    ["#/people/a%20b%2F%C3%A9", "person", "a b/é"], ["#/catalogue/new?product=x", "sku", "new"], ["#/nowhere", "not-found", null], ["#/jobs/x", "not-found", null], ["#/orders/", "not-found", null],
    ["#/orders/a/b", "not-found", null], ["#/people/%zz", "not-found", null], ["#orders", "not-found", null], ["#/constructor", "not-found", null]];
  for (const [hash, screen, id] of table) {
    const found = place(hash);
    assert.deepEqual([found.screen, found.id], [screen, id], hash);
  }
  assert.equal(place("#/orders?status=paid&sku=a%26b").query.get("sku"), "a&b");
  for (const id of ["u1", "a/b ü?#%", "..%2f", "{{7*7}}"]) assert.equal(place(to("people", id)).id, id);
  assert.equal(to("orders", null, { status: "paid", sku: "", from: null }), "#/orders?status=paid");
  assert.deepEqual([section("order"), section("sku"), section("sign-in")], ["orders", "catalogue", null]);
});

test("an address of the API encodes every part", () => {
  assert.equal(address({ method: "GET", path: ["users", "a/b ü"], query: { q: "x&y", none: null, empty: "", tier: ["1", "2"] } }), "/v1/admin/users/a%2Fb%20%C3%BC?q=x%26y&tier=1&tier=2");
  assert.equal(new Set(Array.from({ length: 100 }, freshKey)).size, 100);
  assert.match(freshKey(), /^[0-9a-f]{32}$/);
});

test("amounts are read exactly, and what is none is refused", () => {
  const good = [["39.90", "CNY", 3990], ["0.29", "CNY", 29], ["1", "CNY", 100], ["1.5", "CNY", 150], ["1234", "JPY", 1234], ["0.001", "KWD", 1], ["9007199254740.99", "CNY", 900719925474099], [" 2.00 ", "USD", 200], ["007", "CNY", 700]];
  for (const [typed, currency, value] of good) assert.equal(minor(typed, currency), value, typed);
  const bad = ["10.005", "-1", "+1", "1e3", "0", "0.00", "ten", "0x10", "", " ", ".5", "1.", "1,5", "1 000", "٣", "99999999999999999", "NaN", "Infinity", "1.2.3"];
  for (const typed of bad) assert.equal(minor(typed, "CNY"), null, typed);
  assert.equal(minor("1.5", "JPY"), null);
  assert.equal(minor("1", "yen"), null);
  assert.equal(minorOrZero("0.00", "CNY"), 0);
  for (const [value, currency, text] of [[3990, "CNY", "39.90"], [5, "CNY", "0.05"], [1234, "JPY", "1234"], [-119, "CNY", "-1.19"], [7, "KWD", "0.007"]]) assert.equal(major(value, currency), text);
  for (let value = 1; value < 2000; value += 7) assert.equal(minor(major(value, "CNY"), "CNY"), value);
});

test("curl is pasted into a shell as it is", () => {
  for (const text of ["it's", "\"$HOME\" `id` $(id) \\ ü", "a\nb", "'", "''", "!x", ""]) assert.equal(execFileSync("sh", ["-c", `printf %s ${quoted(text)}`]).toString(), text);
  const made = curl({ method: "POST", path: ["orders", "ord_1", "refunds"], body: { reason: "it's" }, key: "k" }, "https://pay.example");
  assert.equal(made, "curl -sS -X POST 'https://pay.example/v1/admin/orders/ord_1/refunds' \\\n  -H \"Authorization: Bearer $PAYDESK_KEY\" \\\n  -H 'Idempotency-Key: k' \\\n  -H 'Content-Type: application/json' \\\n  -d '{\"reason\":\"it'\\''s\"}'");
  assert.equal(curl({ method: "GET", path: ["orders"], query: { status: "paid" } }, "http://x"), "curl -sS 'http://x/v1/admin/orders?status=paid' \\\n  -H \"Authorization: Bearer $PAYDESK_KEY\"");
});

const typedPass = { kind: "non_renewing", id: "p", name: "P", description: "", tier: "VIP", rank: "20", duration_days: "30", "prices[0].currency": "cny", "prices[0].value": "12.34", "prices[1].currency": "", "prices[1].value": "", "units[0].name": "", "units[0].value": "", "apple_product_ids[0]": "", attributes: "", "localizations.zh-Hans.name": "", "localizations.zh-Hans.description": "" };

test("a SKU that is typed has the fields of its kind alone", () => {
  const pass = skuOf(typedPass);
  assert.deepEqual(newBody(pass), { id: "p", name: "P", kind: "non_renewing", tier: "VIP", rank: 20, duration_days: 30, prices: [{ currency: "CNY", value: 1234 }], physical: false, client_fallback: false });
  const coins = skuOf({ ...typedPass, kind: "consumable", "units[0].name": "coins", "units[0].value": "100" });
  assert.deepEqual(newBody(coins), { id: "p", name: "P", kind: "consumable", prices: [{ currency: "CNY", value: 1234 }], units: { coins: 100 }, physical: false });
  const lengths = skuOf({ ...typedPass, "options[0].days": "7", "options[0].prices[0].currency": "USD", "options[0].prices[0].value": "1.99" });
  assert.deepEqual(lengths.options, [{ days: 7, prices: [{ currency: "USD", value: 199 }] }]);
});

test("a screen's further calls are comments", () => {
  const text = curls([{ method: "GET", path: ["users", "a"] }, { method: "GET", path: ["audit"], query: { subject: "a" } }], "http://x");
  const lines = text.split("\n");
  assert.deepEqual([lines[0], lines[1], lines[2], lines[3]], ["curl -sS 'http://x/v1/admin/users/a' \\", "  -H \"Authorization: Bearer $PAYDESK_KEY\"", "", "# curl -sS 'http://x/v1/admin/audit?subject=a' \\"]);
  assert.ok(lines.slice(3).every(line => line.startsWith("# ")));
});

test("what cannot be a SKU names its field", () => {
  const faults = [[{ id: "" }, "id"], [{ name: "" }, "name"], [{ "prices[0].value": "0.001" }, "prices[0].value"], [{ "prices[0].currency": "yuan" }, "prices[0].currency"], [{ duration_days: "1.5" }, "duration_days"], [{ duration_days: "4000" }, "duration_days"],
    [{ rank: "-1" }, "rank"], [{ attributes: "{" }, "attributes"], [{ attributes: "[1]" }, "attributes"], [{ "units[0].value": "3" }, "units[0].name"], [{ "localizations.zh-Hans.description": "x" }, "localizations.zh-Hans.name"]];
  for (const [change, field] of faults) assert.throws(() => skuOf({ ...typedPass, ...change }), error => error.field === field, JSON.stringify(change));
});

test("a change names what changed, and null takes a member of a map out", () => {
  const before = { id: "p", kind: "non_renewing", name: "P", description: "", tier: "VIP", rank: 20, duration_days: 30, prices: [{ value: 1234, currency: "CNY" }], options: [], units: { coins: 1, gems: 2 }, attributes: { a: 1 }, localizations: { "zh-Hans": { name: "票", description: "" } }, apple_product_ids: [], plan_code: null };
  const same = { ...typedPass, "units[0].name": "coins", "units[0].value": "1", "units[1].name": "gems", "units[1].value": "2", attributes: "{\"a\":1}", "localizations.zh-Hans.name": "票" };
  assert.deepEqual(patch(before, skuOf(same)), {});
  assert.deepEqual(patch(before, skuOf({ ...same, "units[1].name": "", "units[1].value": "", "units[0].value": "5" })), { units: { gems: null, coins: 5 } });
  assert.deepEqual(patch(before, skuOf({ ...same, attributes: "" })), { attributes: {} });
  assert.deepEqual(patch(before, skuOf({ ...same, name: "Q", "prices[0].value": "1" })), { name: "Q", prices: [{ currency: "CNY", value: 100 }] });
  assert.deepEqual(patch(before, skuOf({ ...same, duration_days: "" })), { duration_days: null });
});

test("the offers of a subscription are typed in rows", () => {
  const typed = { ...typedPass, kind: "subscription", "period.count": "", "period.unit": "month", "apple_product_ids[0]": "x.month", "offers[0].id": "spring", "offers[0].product_id": "x.month", "offers[0].audience": "new", "offers[0].once": "one", "offers[1].id": "", "offers[1].product_id": "", "offers[1].audience": "any", "offers[1].once": "any", "offers[2].id": "back", "offers[2].product_id": "x.month", "offers[2].audience": "lapsed", "offers[2].once": "any" };
  const offers = [{ id: "spring", product_id: "x.month", audience: "new", once: true }, { id: "back", product_id: "x.month", audience: "lapsed", once: false }];
  assert.deepEqual(skuOf(typed).offers, offers);
  assert.equal(skuOf(typedPass).offers, undefined);
  assert.deepEqual(patch({ ...skuOf(typed), offers }, skuOf(typed)), {});
  assert.deepEqual(patch({ ...skuOf(typed), offers: offers.slice(0, 1) }, skuOf(typed)), { offers });
  for (const name of ["id", "product_id"]) assert.throws(() => skuOf({ ...typed, [`offers[0].${name}`]: "" }), error => error.field === `offers[0].${name}`);
});

test("a product id of another SKU is found, by its pattern too", () => {
  const skus = [{ id: "a", active: true, apple_product_ids: ["x.month", "com.app:x.year"] }, { id: "b", active: true, apple_product_ids: ["x.day${days}"] }, { id: "c", active: false, apple_product_ids: ["x.old"] }];
  const table = [["x.month", "z", "a"], ["x.month", "a", null], ["com.app:x.year", "z", "a"], ["com.other:x.year", "z", null], ["x.year", "z", "a"], ["x.day30", "z", "b"], ["x.day0", "z", null], ["x.dayx", "z", null], ["x.old", "z", null], ["x.new", "z", null]];
  for (const [product, own, other] of table) assert.equal(clash(product, skus, own), other, product);
  assert.deepEqual(fresh(new URLSearchParams({ product: "x.tip", type: "Consumable" })).apple_product_ids, ["x.tip"]);
  assert.equal(fresh(new URLSearchParams({ product: "x.tip", type: "Consumable" })).kind, "consumable");
});

test("what can be refunded is what is left of the charge", () => {
  const order = { status: "paid", origin: "checkout", charged: { value: 3990, currency: "CNY" }, refunded: { value: 0, currency: "CNY" }, payments: [{ status: "succeeded" }], refunds: [] };
  const refund = (status, value) => ({ status, amount: { value, currency: "CNY" } });
  const table = [[{}, 3990], [{ refunds: [refund("succeeded", 1000)], refunded: { value: 1000 } }, 2990], [{ refunds: [refund("pending", 3990)] }, null], [{ refunds: [refund("failed", 3990)] }, 3990], [{ status: "open" }, null], [{ status: "refunded" }, null], [{ origin: "purchase" }, null], [{ charged: null }, null], [{ payments: [] }, null], [{ refunded: { value: 3000 } }, 990]];
  for (const [change, value] of table) assert.equal(refundable({ ...order, ...change })?.value ?? null, value, JSON.stringify(change));
});

test("the lines of a chart stand at 1, 2 or 5 times a power of ten and hold the highest bar", () => {
  for (const [value, unit] of [[0, 1], [3, 1], [4, 2], [300, 100], [301, 200], [12_000, 5000], [1_200_000, 500_000]]) assert.equal(step(value), unit, String(value));
  for (let value = 1; value < 1e7; value = Math.ceil(value * 1.7)) assert.ok(3 * step(value) >= value, String(value));
});

test("times are told by their distance within a week", () => {
  words.locale = "en";
  assert.deepEqual([ago(1000, 1030), ago(1000, 1000 + 240), ago(1000 + 7200, 1000), ago(1_000_000, 1_000_000 + 86_400)], ["30 sec ago", "4 min ago", "in 2 hr", "yesterday"]);
  words.locale = "zh-Hans";
  assert.equal(ago(1_000_000, 1_000_000 + 240), "4 分钟前");
  words.locale = "en";
});

test("words of the API that the table does not have are shown as they are", () => {
  words.table = { order_paid: "Paid", orders_count: "{count} orders", orders_count_one: "1 order" };
  assert.deepEqual([said("order", "paid"), said("order", "new_word"), said("order", null), t("orders_count", { count: 1 }), t("orders_count", { count: "3" })], ["Paid", "new_word", "–", "1 order", "3 orders"]);
});

test("both languages have the same texts with the same values, by the rules of both", () => {
  assert.deepEqual(Object.keys(texts["zh-Hans"]), Object.keys(texts.en));
  for (const [key, text] of Object.entries(texts.en)) {
    const values = language => Array.from(texts[language][key].matchAll(/\{([a-z_]+)\}/g), match => match[1]).sort();
    assert.deepEqual(values("zh-Hans"), values("en"), key);
    assert.ok(text !== "" && (["comma", "pause"].includes(key) || text.trim() === text), key);
    assert.ok(!/!|\b(OK|Submit|grant|fence|settle)\b/.test(text), `${key}: ${text}`);
  }
  for (const [key, text] of Object.entries(texts["zh-Hans"])) {
    assert.ok(!/[您「」]|[\u4e00-\u9fff][,.!?;:]|[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff]/.test(text), `${key}: ${text}`);
  }
});

test("each text that is asked for exists, and each that exists is asked for", () => {
  const asked = new Set(Array.from(code.matchAll(/\bt\("([a-z0-9_]+)"/g), match => match[1]));
  assert.deepEqual([...asked].filter(key => !(key in texts.en)), []);
  const named = new Set(Array.from(code.matchAll(/"([a-z0-9_]+)"|\btable\.([a-z_]+)/g), match => match[1] ?? match[2]));
  // Families whose last part is a word of the API or the name of an act.
  const families = [...Array.from(code.matchAll(/\b(?:said|state)\("([a-z_]+)"/g), match => match[1]), "attention", "error", "field", "gets", "nav", "kind", "consumption", "once", "stacking", "on_refund", "cancel_renewal", "resume_renewal", "retry_charge", "credit", "debit"];
  const unused = Object.keys(texts.en).filter(key => !named.has(key) && !named.has(key.replace(/_one$/, "")) && !families.some(family => key.startsWith(`${family}_`)));
  assert.deepEqual(unused, ["needs_script"], "the page's template has that one");
});

test("modules are short, checked, import what is there, and read no text as HTML or a program", () => {
  for (const [name, source] of modules) {
    assert.ok(source.split("\n").length <= 300, `${name} has ${source.split("\n").length} lines`);
    assert.match(source, /^\/\/ @ts-check\n/, name);
    for (const [, path] of source.matchAll(/^import [^"]*"([^"]+)"/gm)) {
      const target = new URL(path, new URL(name, folder));
      assert.ok(path.startsWith("./") ? path.slice(2) in sources : readFileSync(target, "utf8") !== "", `${name} imports ${path}`);
    }
    const bare = source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
    assert.ok(!/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|setAttribute\("(?:style|on)|console\.(?:log|warn|debug)/.test(bare), name);
    for (const [found] of bare.matchAll(/https?:\/\/[^"`\s]+/g)) assert.ok(found.startsWith("http://www.w3.org/"), `${name}: ${found}`);
  }
  assert.ok(!/url\(|@import|data:/.test(sources["console.css"].replace(/\/\*[\s\S]*?\*\//g, "")));
  for (const [, size] of sources["console.css"].matchAll(/font-size:\s*([\d.]+)px/g)) assert.ok(Number(size) === 0 || Number(size) >= 13, size);
});
