// The portal's module: what it reads of a page's text, when it loads it again, and a card's form.
import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { changed, shown, standing, waits } from "../../Sources/Pages/Assets/portal/watch.js";
import { cardForm } from "../../Sources/Pages/Assets/portal/card.js";
import { FakeDocument, read } from "./dom.js";
import { templates, texts } from "./fixtures.js";
import { render } from "./mustache.js";

const t = texts.en;

/** A page of a payment method, as the server writes it. */
function page(state, ids = {}, more = {}) {
  const inner = { redirect: { redirect: { title: "Go on", lead: "There", go_on: { href: "https://box.example/", text: "Go" }, check: true } }, methods: { methods: { title: "How?", items: [] } }, checking: { message: { title: "Checking", lead: "Wait", check: true } },
    stripe: { stripe: { pay: "Save the card", safe: "Safe", title: "Card" } } }[state];
  return render("portal", { lang: "en", title: "x", styles: [], branding: { name: "Aurora", initial: "A" }, address: "/portal/s/ses_1/subscriptions/sub_1/card", csrf: "code", languages: [], home: "/portal/s/ses_1", main: { state: "card", session: "ses_1", subscription: "sub_1", ...ids }, live: "x", t, words: t, plain: true, card: { state, details: "/x", ...more, ...inner } }, templates);
}

const mainOf = text => read(text).querySelector("main");

test("the state that a text says is that of the page", () => {
  for (const [state, ids] of [["redirect", { setup: "stp_1" }], ["redirect", { payment: "pay_1", setup: undefined }], ["checking", {}], ["methods", {}]]) {
    const text = page(state, ids);
    assert.equal(standing(text), shown(mainOf(text)), state);
    assert.equal(waits(mainOf(text)), state !== "methods");
  }
  assert.notEqual(standing(page("redirect", { setup: "stp_1" })), standing(page("redirect", { setup: "stp_2" })));
  assert.notEqual(standing(page("redirect")), standing(page("methods")));
  // A page of another state has no section of its own.
  assert.notEqual(standing('<main data-state="expired">'), standing(page("redirect")));
});

let answers;
let offline;

beforeEach(() => {
  mock.timers.enable({ apis: ["setTimeout"] });
  offline = [];
  globalThis.fetch = async () => {
    const next = answers.shift();
    if (next instanceof Error) throw next;
    return { status: 200, text: async () => "", ...next };
  };
});

afterEach(() => {
  mock.timers.reset();
  delete globalThis.fetch;
});

async function turns(count) {
  for (let n = 0; n < count; n++) {
    await new Promise(resolve => setImmediate(resolve));
    mock.timers.tick(2000);
  }
  await new Promise(resolve => setImmediate(resolve));
}

test("it waits over faults, and ends with another state", async () => {
  const same = page("redirect", { setup: "stp_1" });
  let ended = false;
  answers = [{ text: async () => same }, new Error("no network"), { status: 503 }, { status: 429 }, { text: async () => same }, { text: async () => page("methods") }];
  const running = changed({ address: "https://pay.example/card", now: standing(same), offline: on => offline.push(on) }).then(() => (ended = true));
  await turns(5);
  assert.equal(ended, false);
  await turns(1);
  await running;
  assert.deepEqual(offline, [false, true, true, false, false, false]);
  assert.equal(answers.length, 0);
});

test("an end of the session is another state", async () => {
  const same = page("checking");
  answers = [{ status: 410, text: async () => '<main data-state="expired">' }];
  const running = changed({ address: "https://pay.example/card", now: standing(same), offline: on => offline.push(on) });
  await turns(1);
  await running;
});

test("without a contract there is no card's form", async () => {
  globalThis.document = new FakeDocument();
  const section = mainOf(page("methods")).querySelector("section");
  section.dataset = {};
  await cardForm(section, { t, locale: "en", address: "https://pay.example/card", done: () => assert.fail("nothing was done") });
  delete globalThis.document;
});
