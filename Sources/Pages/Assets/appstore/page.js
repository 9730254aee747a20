// The App Store in a box: reads /dev/appstore/state, shows it, and sends what is pressed.
import { texts } from "./texts.js";
import { make, Views } from "./views.js";

const base = "/dev/appstore";
const pause = 4000;

const stored = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
const store = (key, value) => { try { localStorage.setItem(key, value); } catch { /* private windows keep nothing */ } };

function preferred() {
  const asked = new URLSearchParams(location.search).get("lang") ?? stored("paydesk.box.language") ?? navigator.language;
  return asked.toLowerCase().startsWith("zh") ? "zh-Hans" : "en";
}

let language = preferred();
let chosen = stored("paydesk.box.customer") ?? "default";
let people = JSON.parse(stored("paydesk.box.people") ?? "{}");
let state = null;
let shown = "";
let isBusy = false;

const slot = (name) => document.querySelector(`[data-slot="${name}"]`);
const say = (text) => { document.querySelector("[data-live]").textContent = text; };

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
  const found = new Map([["default", { name: "default", token: null, user: null }]]);
  for (const name of state.customers) found.set(name, { name, token: null, user: null });
  // The token of the newest purchase that carries one.
  for (const one of state.transactions) {
    if (one.app_account_token && found.has(one.customer)) found.get(one.customer).token = one.app_account_token;
  }
  for (const [name, known] of Object.entries(people)) {
    const token = found.get(name)?.token ?? known.token;
    found.set(name, { name, token, user: token === known.token ? known.user : null });
  }
  return [...found.values()];
}

const current = () => customers().find((one) => one.name === chosen) ?? customers()[0];

function alert(text) {
  slot("alert").replaceChildren(...(text ? [make("p", { class: "note bad", role: "alert" }, text)] : []));
}

function setTexts() {
  const t = texts[language];
  document.documentElement.lang = language;
  document.title = `${t.title} · Paydesk`;
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = t[element.dataset.text];
  const button = document.querySelector('[data-action="language"]');
  button.textContent = t.language;
  button.lang = language === "en" ? "zh-Hans" : "en";
}

/** Replaces what changed, and puts the focus back where it was. */
function render(seen) {
  const person = current();
  const mine = state.transactions.filter((one) => one.customer === person.name).reverse();
  const subscriptions = state.subscriptions.filter((one) => one.customer === person.name);
  const key = JSON.stringify([language, chosen, people, seen, { ...state, now: Math.floor(state.now / 60) }]);
  if (key === shown) return;
  shown = key;
  const focused = document.activeElement;
  const mark = focused && focused !== document.body ? address(focused) : null;
  const views = new Views(texts[language], language);
  const next = subscriptions.filter((one) => one.expires_at > state.now).map((one) => one.expires_at).sort((a, b) => a - b)[0];
  slot("clock").replaceChildren(views.clock(state, next));
  slot("left").replaceChildren(views.customers(customers(), person), views.products(state.products, person, subscriptions.filter((s) => s.status !== "expired")));
  slot("right").replaceChildren(
    views.paydesk(seen),
    ...(subscriptions.length ? subscriptions.map((one, n) => views.subscription(one, state.products, n, state.now))
      : [views.card("subscription", views.words.subscription, null, views.empty(views.words.noSubscriptions))]),
    views.transactions(mine), views.notifications([...state.notifications].reverse().slice(0, 50), state.delivery));
  if (mark) document.querySelector(mark)?.focus();
}

function address(element) {
  if (element.id) return `#${CSS.escape(element.id)}`;
  const data = Object.entries(element.dataset).map(([key, value]) => `[data-${key.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}="${CSS.escape(value)}"]`).join("");
  return data ? element.tagName.toLowerCase() + data : null;
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
    document.querySelector("main").setAttribute("aria-busy", "false");
    document.documentElement.setAttribute("data-ready", "");
  } catch (error) {
    alert(error instanceof TypeError ? texts[language].offline : error.message);
  }
}

async function run(element, what, work) {
  if (isBusy) return;
  isBusy = true;
  element?.setAttribute("aria-busy", "true");
  try {
    const said = await work();
    alert(null);
    say(said ?? texts[language].done(what));
  } catch (error) {
    alert(error instanceof TypeError ? texts[language].offline : error.message);
  } finally {
    element?.removeAttribute("aria-busy");
    await load(true);
    isBusy = false;
  }
}

async function moveClock(body) {
  const t = texts[language];
  const moved = await call("POST", "/clock", body);
  return moved.pending ? t.pending(moved.pending) : t.moved(new Views(t, language).date(moved.now));
}

async function addCustomer(form) {
  const name = form.get("name").trim();
  const user = form.get("user").trim();
  if (!name) return;
  const known = user ? await call("POST", "/users", { user_id: user }) : null;
  people = { ...people, [name]: { user: user || null, token: known?.app_account_token ?? null } };
  store("paydesk.box.people", JSON.stringify(people));
  choose(name);
}

function choose(name) {
  chosen = name;
  store("paydesk.box.customer", name);
}

function buy(product, form) {
  const person = current();
  const body = { product_id: product, customer: person.name, app_account_token: person.token };
  if (form.get("quantity")) body.quantity = Number(form.get("quantity"));
  const offer = form.get("offer");
  if (offer) body.offer = { type: offer, identifier: offer === "introductory" ? null : `box_${offer}`, discount_type: offer === "introductory" ? "FREE_TRIAL" : "PAY_UP_FRONT" };
  return call("POST", "/purchases", body);
}

function fields(act, form) {
  const value = (name) => Number(form.get(name));
  switch (act) {
    case "extend": return { days: value("days") };
    case "fail_renewal": return { grace: value("grace") };
    case "upgrade": case "downgrade": return { product_id: form.get("product_id") };
    case "price_increase": return { price: Math.round(value("price") * 1000) };
    case "share": {
      const name = form.get("customer").trim();
      return { customer: name, app_account_token: people[name]?.token ?? null };
    }
    case "refund": return { percentage: value("percentage") };
    default: return {};
  }
}

const actions = {
  language: () => { language = language === "en" ? "zh-Hans" : "en"; store("paydesk.box.language", language); setTexts(); shown = ""; void load(true); },
  choose: (element) => { choose(element.dataset.customer); void load(true); },
  reset: (element) => { if (confirm(texts[language].resetAsk)) void run(element, element.textContent, async () => { await call("POST", "/reset", {}); }); },
  advance: (element) => run(element, element.textContent, () => moveClock({ advance_seconds: Number(element.dataset.seconds) })),
  "advance-to": (element) => run(element, element.textContent, () => moveClock({ to: Number(element.dataset.to) })),
  slide: (element) => run(element, element.textContent, () => moveClock({ advance_seconds: 86400 * Number(document.querySelector("#clock").value) })),
  act: (element) => run(element, element.textContent, async () => { await call("POST", `/subscriptions/${element.dataset.subscription}/${element.dataset.act}`, {}); }),
  "act-on": (element) => run(element, element.textContent, async () => { await call("POST", `/transactions/${element.dataset.transaction}/${element.dataset.act}`, {}); }),
  copy: async (element) => {
    const found = state.notifications.find((one) => one.uuid === element.dataset.uuid);
    await navigator.clipboard?.writeText(found?.signed_payload ?? "");
    say(texts[language].copied);
  },
};

document.addEventListener("click", (event) => {
  const element = event.target.closest("[data-action]");
  if (element) void actions[element.dataset.action]?.(element);
});

document.addEventListener("submit", (event) => {
  event.preventDefault();
  const element = event.target;
  const submitter = event.submitter;
  const form = new FormData(element, submitter);
  const act = form.get("act");
  const works = {
    customer: () => addCustomer(form),
    buy: () => buy(element.dataset.product, form),
    delivery: () => call("POST", "/delivery", { mode: form.get("mode"), seconds: Number(form.get("seconds")) }),
    act: () => call("POST", `/subscriptions/${element.dataset.subscription}/${act}`, fields(act, form)),
    "act-on": () => call("POST", `/transactions/${element.dataset.transaction}/${act}`, fields(act, form)),
  };
  const what = submitter?.textContent ?? "";
  void run(submitter, what, async () => { await works[element.dataset.form]?.(); });
});

document.addEventListener("input", (event) => {
  if (event.target.id !== "clock") return;
  const t = texts[language];
  const days = Number(event.target.value);
  const date = new Views(t, language).date(state.now + days * 86400);
  const button = document.querySelector('[data-action="slide"]');
  event.target.setAttribute("aria-valuetext", date);
  button.textContent = t.move(date);
  button.disabled = days === 0;
});

setTexts();
await load(true);
setInterval(() => { if (document.visibilityState === "visible") void load(); }, pause);
