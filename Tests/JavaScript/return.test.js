// The way back that a paid page takes by itself.
import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { Return } from "../../Sources/Pages/Assets/cashier/return.js";
import { FakeDocument, read } from "./dom.js";
import { contextOf, templates } from "./fixtures.js";
import { render } from "./mustache.js";

let listeners;
let went;

beforeEach(() => {
  mock.timers.enable({ apis: ["setTimeout"] });
  listeners = new Map();
  went = [];
  const on = { addEventListener: (name, listener) => void listeners.set(name, listener), removeEventListener: name => void listeners.delete(name) };
  Object.assign(globalThis, { ...on, history: { state: null, replaceState(state) { this.state = state; } }, document: Object.assign(new FakeDocument(), on), location: { assign: address => went.push(address) } });
});

afterEach(() => {
  mock.timers.reset();
  for (const name of ["addEventListener", "removeEventListener", "history", "document", "location"]) delete globalThis[name];
});

function page(name) {
  const main = read(render("cashier", contextOf(name, "en"), templates)).querySelector("main");
  const link = main.querySelector('a[data-action="back"]');
  if (link) link.href = link.getAttribute("href");
  const note = main.querySelector('[data-note="returns"]');
  if (note) note.toggleAttribute = (attribute, on) => (on ? note.setAttribute(attribute, "") : note.removeAttribute(attribute));
  return { main, back: new Return(main), seen: () => note?.getAttribute("data-on") === "" };
}

test("after 3 s, once, and not again after Back", () => {
  const { back, seen } = page("paid");
  back.watch("paid");
  back.watch("paid");
  assert.ok(seen());
  mock.timers.tick(2999);
  assert.deepEqual(went, []);
  mock.timers.tick(1);
  assert.equal(went.length, 1);
  assert.match(went[0], /^https:\/\/aurora\.example\/done\?order_id=ord_\w+&status=paid$/);
  assert.ok(!seen());
  mock.timers.tick(60_000);
  const again = page("paid");
  again.back.watch("paid");
  mock.timers.tick(60_000);
  assert.equal(went.length, 1);
});

test("not when it was touched, with any of the ways to touch it", () => {
  for (const touch of ["pointerdown", "keydown", "wheel", "touchstart"]) {
    const { back, seen } = page("paid");
    back.watch("paid");
    mock.timers.tick(1000);
    listeners.get(touch)();
    assert.ok(!seen());
    mock.timers.tick(10_000);
    assert.deepEqual(went, [], touch);
  }
});

test("only while it is seen, and 3 s after it is seen again", () => {
  document.visibilityState = "hidden";
  const { back } = page("paid");
  back.watch("paid");
  mock.timers.tick(10_000);
  assert.deepEqual(went, []);
  document.visibilityState = "visible";
  listeners.get("visibilitychange")();
  mock.timers.tick(3000);
  assert.equal(went.length, 1);
});

test("no other state goes back by itself, nor a paid one without an address", () => {
  for (const [name, state] of [["closed-cancelled", "closed"], ["attention-refunded", "attention"], ["owned", "owned"], ["paid-coins", "paid"]]) {
    page(name).back.watch(state);
    mock.timers.tick(10_000);
    assert.deepEqual(went, [], name);
  }
});
