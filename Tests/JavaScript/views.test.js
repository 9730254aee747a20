// The templates and the modules draw the same: every state in both languages, compared element by element.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Flow } from "../../Sources/Pages/Assets/sdk/flow.js";
import { ICONS } from "../../Sources/Pages/Assets/sdk/icons.js";
import { FakeDocument, outline, read } from "./dom.js";
import { bare, contextOf, factsOf, states, templates } from "./fixtures.js";
import { parse, render } from "./mustache.js";

export function pageOf(name, lang, more) {
  return read(render("cashier", contextOf(name, lang, more), templates));
}

function drawn(name, lang, more) {
  const facts = factsOf(name, lang, more);
  const document = new FakeDocument();
  const main = document.createElement("main");
  const flow = new Flow({
    desk: { transport: { now: () => facts.now * 1000, clockOffset: 0 } }, t: facts.t, locale: lang,
    host: { main, place: facts.place, csrf: facts.place.address ? "csrf-from-the-server" : null, changed: () => undefined, choice: () => null },
  });
  Object.assign(flow, { session: facts.session, products: facts.products, methods: { key: "", items: facts.methods } });
  flow.draw(facts.state, facts.reason, facts.alert, facts.number ?? null);
  return { main, document };
}

for (const lang of ["en", "zh-Hans"]) {
  for (const name of [...Object.keys(states), ...bare]) {
    test(`${name} is drawn as its template, ${lang}`, () => {
      const page = pageOf(name, lang).querySelector("main");
      for (const only of page.querySelectorAll("noscript")) only.remove();
      const { main, document } = drawn(name, lang);
      assert.deepEqual(outline([main]), outline([page]));
      assert.equal(document.activeElement?.localName, "h1");
    });
  }
}

test("a page has one main, one h1, one live text, and nothing inline", () => {
  for (const name of [...Object.keys(states), ...bare]) {
    const page = pageOf(name, "en");
    for (const selector of ["main", "h1", "[data-live]", "title"]) assert.equal(page.querySelectorAll(selector).length, 1, `${selector} in ${name}`);
    for (const element of page) {
      assert.ok(element.localName !== "style" && (element.localName !== "script" || element.getAttribute("src")), `${element.localName} in ${name}`);
      for (const attribute of element.attributes.keys()) assert.ok(!/^on|^style$/.test(attribute), `${attribute} in ${name}`);
    }
    const text = page.querySelector("main").textContent;
    assert.ok(!/\{[a-z_]+\}|undefined|null|NaN/.test(text), `${name}: ${text.match(/.{0,20}(\{[a-z_]+\}|undefined|null|NaN).{0,20}/)?.[0]}`);
  }
});

test("hostile words stay words in both", () => {
  const evil = '"><img src=x onerror=alert(1)>{{id}}</title><script>alert(2)</script>&amp;';
  const products = factsOf("methods", "en").products.map(product => ({ ...product, name: evil, description: evil }));
  for (const name of ["plans", "methods", "qr", "paid", "owned"]) {
    const page = pageOf(name, "en", { products });
    assert.ok(page.textContent.includes(evil), name);
    assert.equal(page.querySelectorAll("script").length, 1);
    assert.equal(page.querySelectorAll('img[src="x"]').length, 0);
    const { main } = drawn(name, "en", { products });
    assert.ok(main.textContent.includes(evil) && main.querySelectorAll("script").length === 0);
  }
});

test("the icons of the templates are those of the module, and each that is used exists", () => {
  const page = read(render("icons", {}, templates));
  const shown = Object.fromEntries(page.querySelectorAll("symbol").map(symbol => [symbol.getAttribute("id").slice(2), symbol.querySelector("path").getAttribute("d")]));
  assert.deepEqual(shown, { ...ICONS });
  for (const name of [...Object.keys(states), ...bare]) {
    for (const use of pageOf(name, "en").querySelectorAll("use")) assert.ok(use.getAttribute("href").slice(3) in ICONS, use.getAttribute("href"));
  }
});

test("each template is well formed, names only partials that exist, and begins with its context", () => {
  for (const [name, source] of Object.entries(templates)) {
    assert.doesNotThrow(() => parse(source), name);
    assert.match(source, /^\{\{! /, name);
    // A guide is HTML already, made of Markdown whose text is escaped.
    const checked = name === "docs" ? source.replace("{{{body}}}", "") : source;
    assert.ok(!/\{\{\{|\{\{&/.test(checked), `${name} writes something unescaped`);
  }
});
