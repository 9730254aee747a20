import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { amount, day, fill, left, minute, minorDigits, period, split } from "../../Sources/Pages/Assets/sdk/words.js";
import { templates, texts } from "./fixtures.js";

const assets = new URL("../../Sources/Pages/Assets/", import.meta.url);
const modules = ["sdk", "cashier", "portal"].flatMap(folder => readdirSync(new URL(`${folder}/`, assets)).filter(name => name.endsWith(".js")).map(name => readFileSync(new URL(`${folder}/${name}`, assets), "utf8"))).join("\n");

test("both languages have the same keys and the same values to fill in", () => {
  assert.deepEqual(Object.keys(texts["zh-Hans"]), Object.keys(texts.en));
  for (const [key, text] of Object.entries(texts.en)) {
    const values = language => Array.from(texts[language][key].matchAll(/\{([a-z_]+)\}/g), match => match[1]).sort();
    assert.deepEqual(values("zh-Hans"), values("en"), key);
    assert.ok(text.trim() === text && text !== "", key);
  }
});

test("each text is used, and each that is used exists", () => {
  const used = new Set([...Object.values(templates).join("\n").matchAll(/\{\{t\.([a-z_]+)\}\}/g), ...modules.matchAll(/\bt\.([a-z_]+)\b/g)].map(match => match[1]));
  // Families whose last part is a state's, a reason's or a unit's word.
  for (const family of [/^alert_/, /^(closed|unavailable|attention)_[a-z_]+_(title|lead)$/, /^(elsewhere|expired|unknown|busy|error|checking|owned)_(title|lead)$/, /^every_(day|week|month|year)s?$/]) {
    for (const key of Object.keys(texts.en)) if (family.test(key)) used.add(key);
  }
  assert.deepEqual(Object.keys(texts.en).filter(key => !used.has(key)), []);
  assert.deepEqual([...used].filter(key => !(key in texts.en)), []);
});

test("the words keep the rules of both languages", () => {
  for (const [key, text] of Object.entries(texts["zh-Hans"])) {
    assert.ok(!/[您「」]/.test(text), key);
    assert.ok(!/[\u4e00-\u9fff][,.!?;:]/.test(text), `${key}: ${text}`);
    assert.ok(!/[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff]/.test(text), `${key}: ${text}`);
  }
  for (const [key, text] of Object.entries(texts.en)) assert.ok(!/!|\b(OK|Submit|grant|fence|settle)\b/.test(text), `${key}: ${text}`);
});

const table = (name, lang) => JSON.parse(readFileSync(new URL(`../Texts/${name}.${lang}.json`, assets), "utf8"));

for (const name of ["portal", "docs"])
  test(`the words of ${name} are one table in two languages, which keep the same rules`, () => {
    const [en, zh] = ["en", "zh-Hans"].map(lang => table(name, lang));
    assert.deepEqual(Object.keys(zh), Object.keys(en));
    for (const [key, text] of Object.entries(zh)) {
      assert.deepEqual(Array.from(text.matchAll(/\{[a-z_]+\}/g), String).sort(), Array.from(en[key].matchAll(/\{[a-z_]+\}/g), String).sort(), key);
      assert.ok(!/[您「」!]/.test(text) && !/[\u4e00-\u9fff][,.!?;:A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff]/.test(text), `${key}: ${text}`);
      // Payers meet none of the words of developers.
      if (name === "portal") assert.ok(!/!|\b(OK|Submit|grant|fence|settle)\b/.test(en[key]), `${key}: ${en[key]}`);
    }
  });

test("each word of a template is in a table", () => {
  const used = new Set(Array.from(Object.values(templates).join("\n").matchAll(/\{\{words\.([a-z_]+)\}\}/g), match => match[1]));
  const known = ["portal", "docs", "home"].map(name => table(name, "en"));
  assert.deepEqual([...used].filter(key => !known.some(words => key in words)), []);
});

test("values stand in Chinese with one space beside Latin letters", () => {
  assert.equal(fill("用{name}付款", { name: "PayPal" }), "用 PayPal 付款");
  assert.equal(fill("用{name}付款", { name: "支付宝" }), "用支付宝付款");
  assert.equal(fill("前往{name}支付{amount}", { name: "支付宝", amount: "¥39.90" }), "前往支付宝支付 ¥39.90");
  assert.equal(fill("{name}已开通", { name: "VIP" }), "VIP 已开通");
  assert.equal(fill("{count} 天", { count: 30 }), "30 天");
  assert.equal(fill("Pay {amount}", { amount: "$1.00" }), "Pay $1.00");
  assert.equal(fill("{name}", { name: "{evil}" }), "{evil}");
  assert.deepEqual(split("{name}已开通，有效期至{date}。", "date", "2026年12月25日", { name: "VIP" }), { before: "VIP 已开通，有效期至 ", after: "。" });
});

test("amounts are in the payer's notation, by the digits that the server counts", () => {
  const table = [["CNY", 3990, "¥39.90", "¥39.90"], ["CNY", 123456789, "¥1,234,567.89", "¥1,234,567.89"], ["CNY", 1, "¥0.01", "¥0.01"], ["JPY", 1234, "¥1,234", "JP¥1,234"], ["USD", 999, "$9.99", "US$9.99"], ["KWD", 1234, "KWD 1.234", "KWD 1.234"]];
  for (const [currency, value, en, zh] of table) {
    assert.equal(amount({ value, currency }, "en").replace(/\u00a0/g, " "), en);
    assert.equal(amount({ value, currency }, "zh-Hans").replace(/\u00a0/g, " "), zh);
  }
  assert.equal(minorDigits("ISK"), 0);
  assert.equal(minorDigits("HUF"), 2);
});

test("days, minutes and what is left", () => {
  assert.equal(day(1798190400, "en", "UTC"), "25 Dec 2026");
  assert.equal(day(1798190400, "zh-Hans", "UTC"), "2026年12月25日");
  assert.equal(minute(1795597920, "en", "UTC"), "25 Nov 2026, 09:12");
  assert.equal(minute(1795597920, "zh-Hans", "UTC"), "2026年11月25日 09:12");
  for (const [seconds, text] of [[872, "14:32"], [59.2, "1:00"], [0.4, "0:01"], [-5, "0:00"], [3723, "1:02:03"]]) assert.equal(left(seconds), text);
});

test("for how long", () => {
  const { en } = texts;
  assert.equal(period({ kind: "non_renewing", duration_days: 30 }, null, en), "for 30 days");
  assert.equal(period({ kind: "non_renewing", duration_days: 30 }, 1, en), "for one day");
  assert.equal(period({ kind: "non_consumable", duration_days: null }, null, en), "yours for good");
  assert.equal(period({ kind: "consumable", duration_days: null }, null, en), null);
  assert.equal(period({ renewal: "managed", period: { unit: "month", count: 3 } }, null, en), "every 3 months");
  assert.equal(period({ renewal: "managed", period: { unit: "year", count: 1 } }, null, texts["zh-Hans"]), "每年");
});
