// @ts-check
// The App Store in a box: reads /dev/appstore/state, shows it, and sends what is pressed.
import { texts } from "./texts.js";
import { make, Views } from "./views.js";

/** @typedef {import("./texts.js").Language} Language */
/** @typedef {import("./texts.js").Word} Word */
/** @typedef {import("./views.js").Customer} Customer */
/** @typedef {import("./views.js").Seen} Seen */
/** @typedef {import("./views.js").State} State */

const base = "/dev/appstore";
const pause = 4000;

const stored = /** @param {string} key */ (key) => { try { return localStorage.getItem(key); } catch { return null; } };
const store = /** @param {string} key @param {string} value */ (key, value) => { try { localStorage.setItem(key, value); } catch { /* private windows keep nothing */ } };

/** @returns {Language} */
function preferred() {
  const asked = new URLSearchParams(location.search).get("lang") ?? stored("paydesk.box.language") ?? navigator.language;
  return asked.toLowerCase().startsWith("zh") ? "zh-Hans" : "en";
}

let language = preferred();
let chosen = stored("paydesk.box.customer") ?? "default";
/** @type {Record<string, {user: string | null, token: string | null}>} */
let people = JSON.parse(stored("paydesk.box.people") ?? "{}");
/** @type {State} */
let state;
let shown = "";
let isBusy = false;

/**
 * An element that the page has.
 * @template {HTMLElement} Kind
 * @param {string} selector
 * @param {new () => Kind} kind
 */
function element(selector, kind) {
  const found = document.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`no ${selector}`);
  return found;
}

const slot = /** @param {string} name */ (name) => element(`[data-slot="${name}"]`, HTMLElement);
const say = /** @param {string} text */ (text) => { element("[data-live]", HTMLElement).textContent = text; };

/**
 * Calls the box.
 * @param {"GET" | "POST"} method
 * @param {string} path
 * @param {Record<string, any>} [body]
 * @returns {Promise<any>} the answer, without an envelope
 */
async function call(method, path, body) {
  const reply = await fetch(base + path, {
    method, headers: body === undefined ? {} : { "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store",
  });
  const answer = await reply.json();
  if (!reply.ok) throw new Error(answer.message ?? String(reply.status));
  return answer;
}

/** The customers of the box, and those that were added here and have not bought yet. */
function customers() {
  const nobody = { name: "default", token: null, user: null };
  const found = /** @type {Map<string, Customer>} */ (new Map([["default", nobody]]));
  for (const name of state.customers) found.set(name, { name, token: null, user: null });
  // The token of the newest purchase that carries one.
  for (const one of state.transactions) {
    const buyer = found.get(one.customer);
    if (one.app_account_token && buyer) buyer.token = one.app_account_token;
  }
  for (const [name, known] of Object.entries(people)) {
    const token = found.get(name)?.token ?? known.token;
    found.set(name, { name, token, user: token === known.token ? known.user : null });
  }
  return [...found.values()];
}

/** @returns {Customer} */
function current() {
  return customers().find((one) => one.name === chosen) ?? customers()[0] ?? { name: "default", token: null, user: null };
}

/** @param {string | null} text */
function alert(text) {
  slot("alert").replaceChildren(...(text ? [make("p", { class: "note bad", role: "alert" }, text)] : []));
}

function setTexts() {
  const t = texts[language];
  document.documentElement.lang = language;
  document.title = `${t.title} · Paydesk`;
  for (const each of document.querySelectorAll("[data-text]")) {
    if (each instanceof HTMLElement) each.textContent = t[/** @type {Word} */ (each.dataset.text)];
  }
  const button = element('[data-action="language"]', HTMLButtonElement);
  button.textContent = t.language;
  button.lang = language === "en" ? "zh-Hans" : "en";
}

/**
 * Replaces what changed, and puts the focus back where it was.
 * @param {Seen | null} seen
 */
function render(seen) {
  const person = current();
  const mine = state.transactions.filter((one) => one.customer === person.name).reverse();
  const subscriptions = state.subscriptions.filter((one) => one.customer === person.name);
  const key = JSON.stringify([language, chosen, people, seen, { ...state, now: Math.floor(state.now / 60) }]);
  if (key === shown) return;
  shown = key;
  const focused = document.activeElement;
  const mark = focused instanceof HTMLElement && focused !== document.body ? address(focused) : null;
  const views = new Views(texts[language], language);
  const next = subscriptions.filter((one) => one.expires_at > state.now).map((one) => one.expires_at).sort((a, b) => a - b)[0];
  slot("clock").replaceChildren(views.clock(state, next));
  slot("left").replaceChildren(views.customers(customers(), person), views.products(state.products, person, subscriptions.filter((s) => s.status !== "expired")));
  slot("right").replaceChildren(
    views.paydesk(seen),
    ...(subscriptions.length ? subscriptions.map((one, n) => views.subscription(one, state.products, n, state.now))
      : [views.card("subscription", views.words.subscription, null, views.empty(views.words.noSubscriptions))]),
    views.transactions(mine), views.notifications([...state.notifications].reverse().slice(0, 50), state.delivery));
  /** @type {HTMLElement | null} */ (mark && document.querySelector(mark))?.focus();
}

/**
 * A selector that finds an element again after it was made anew.
 * @param {HTMLElement} found
 */
function address(found) {
  if (found.id) return `#${CSS.escape(found.id)}`;
  const data = Object.entries(found.dataset).map(([key, value]) => `[data-${key.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}="${CSS.escape(value ?? "")}"]`).join("");
  return data ? found.tagName.toLowerCase() + data : null;
}

/**
 * Says in words why a call failed.
 * @param {unknown} error
 */
function reason(error) {
  if (error instanceof TypeError) return texts[language].offline;
  return error instanceof Error ? error.message : String(error);
}

/** True while somebody is typing or choosing, so that a reload does not take it away. */
const isTyping = () => ["INPUT", "SELECT", "TEXTAREA"].includes(document.activeElement?.tagName ?? "");

async function load(isForced = false) {
  if (isBusy && !isForced) return;
  try {
    state = await call("GET", "/state");
    const token = current().token;
    const seen = token ? await call("GET", `/users/${encodeURIComponent(token)}`).catch(() => null) : null;
    if (seen && current().user !== seen.user_id) people = { ...people, [current().name]: { user: seen.user_id, token } };
    if (isForced || !isTyping()) render(seen);
    element("main", HTMLElement).setAttribute("aria-busy", "false");
    document.documentElement.setAttribute("data-ready", "");
  } catch (error) {
    alert(reason(error));
  }
}

/**
 * Runs an act, says how it ended and reads the state again.
 * @param {Element | null} pressed
 * @param {string | null} what
 * @param {() => Promise<string | void>} work returns what is said in place of "done"
 */
async function run(pressed, what, work) {
  if (isBusy) return;
  isBusy = true;
  pressed?.setAttribute("aria-busy", "true");
  try {
    const said = await work();
    alert(null);
    say(said ?? texts[language].done(what ?? ""));
  } catch (error) {
    alert(reason(error));
  } finally {
    pressed?.removeAttribute("aria-busy");
    await load(true);
    isBusy = false;
  }
}

/** @param {{advance_seconds: number} | {to: number}} body */
async function moveClock(body) {
  const t = texts[language];
  const moved = await call("POST", "/clock", body);
  return moved.pending ? t.pending(moved.pending) : t.moved(new Views(t, language).date(moved.now));
}

const text = /** @param {FormData} form @param {string} name */ (form, name) => String(form.get(name) ?? "").trim();

/** @param {FormData} form */
async function addCustomer(form) {
  const name = text(form, "name");
  const user = text(form, "user");
  if (!name) return;
  const known = user ? await call("POST", "/users", { user_id: user }) : null;
  people = { ...people, [name]: { user: user || null, token: known?.app_account_token ?? null } };
  store("paydesk.box.people", JSON.stringify(people));
  choose(name);
}

/** @param {string} name */
function choose(name) {
  chosen = name;
  store("paydesk.box.customer", name);
}

/** @param {string} product @param {FormData} form */
function buy(product, form) {
  const person = current();
  /** @type {Record<string, any>} */
  const body = { product_id: product, customer: person.name, app_account_token: person.token };
  if (form.get("quantity")) body.quantity = Number(form.get("quantity"));
  const offer = text(form, "offer");
  if (offer) body.offer = { type: offer, identifier: offer === "introductory" ? null : `box_${offer}`, discount_type: offer === "introductory" ? "FREE_TRIAL" : "PAY_UP_FRONT" };
  return call("POST", "/purchases", body);
}

/** @param {string} act @param {FormData} form */
function fields(act, form) {
  const value = /** @param {string} name */ (name) => Number(form.get(name));
  switch (act) {
    case "extend": return { days: value("days") };
    case "fail_renewal": return { grace: value("grace") };
    case "upgrade": case "downgrade": return { product_id: form.get("product_id") };
    case "price_increase": return { price: Math.round(value("price") * 1000) };
    case "share": {
      const name = text(form, "customer");
      return { customer: name, app_account_token: people[name]?.token ?? null };
    }
    case "refund": return { percentage: value("percentage") };
    default: return {};
  }
}

/** @type {Record<string, (pressed: HTMLElement) => void>} */
const actions = {
  language: () => { language = language === "en" ? "zh-Hans" : "en"; store("paydesk.box.language", language); setTexts(); shown = ""; void load(true); },
  choose: (pressed) => { choose(pressed.dataset.customer ?? "default"); void load(true); },
  reset: (pressed) => { if (confirm(texts[language].resetAsk)) void run(pressed, pressed.textContent, async () => { await call("POST", "/reset", {}); }); },
  advance: (pressed) => run(pressed, pressed.textContent, () => moveClock({ advance_seconds: Number(pressed.dataset.seconds) })),
  "advance-to": (pressed) => run(pressed, pressed.textContent, () => moveClock({ to: Number(pressed.dataset.to) })),
  slide: (pressed) => run(pressed, pressed.textContent, () => moveClock({ advance_seconds: 86400 * Number(element("#clock", HTMLInputElement).value) })),
  act: (pressed) => run(pressed, pressed.textContent, async () => { await call("POST", `/subscriptions/${pressed.dataset.subscription}/${pressed.dataset.act}`, {}); }),
  "act-on": (pressed) => run(pressed, pressed.textContent, async () => { await call("POST", `/transactions/${pressed.dataset.transaction}/${pressed.dataset.act}`, {}); }),
  copy: async (pressed) => {
    const found = state.notifications.find((one) => one.uuid === pressed.dataset.uuid);
    await navigator.clipboard?.writeText(found?.signed_payload ?? "");
    say(texts[language].copied);
  },
};

document.addEventListener("click", (event) => {
  const pressed = event.target instanceof Element ? event.target.closest("[data-action]") : null;
  if (pressed instanceof HTMLElement) actions[pressed.dataset.action ?? ""]?.(pressed);
});

document.addEventListener("submit", (event) => {
  event.preventDefault();
  const sent = event.target;
  if (!(sent instanceof HTMLFormElement)) return;
  const submitter = event.submitter;
  const form = new FormData(sent);
  // The button's own value: a form's data has no button.
  const act = submitter instanceof HTMLButtonElement ? submitter.value : "";
  /** @type {Record<string, () => Promise<unknown>>} */
  const works = {
    customer: () => addCustomer(form),
    buy: () => buy(sent.dataset.product ?? "", form),
    delivery: () => call("POST", "/delivery", { mode: form.get("mode"), seconds: Number(form.get("seconds")) }),
    act: () => call("POST", `/subscriptions/${sent.dataset.subscription}/${act}`, fields(act, form)),
    "act-on": () => call("POST", `/transactions/${sent.dataset.transaction}/${act}`, fields(act, form)),
  };
  const what = submitter?.textContent ?? "";
  void run(submitter, what, async () => { await works[sent.dataset.form ?? ""]?.(); });
});

document.addEventListener("input", (event) => {
  const slider = event.target;
  if (!(slider instanceof HTMLInputElement) || slider.id !== "clock") return;
  const t = texts[language];
  const days = Number(slider.value);
  const date = new Views(t, language).date(state.now + days * 86400);
  const button = element('[data-action="slide"]', HTMLButtonElement);
  slider.setAttribute("aria-valuetext", date);
  button.textContent = t.move(date);
  button.disabled = days === 0;
});

setTexts();
await load(true);
setInterval(() => { if (document.visibilityState === "visible") void load(); }, pause);
