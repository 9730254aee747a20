// @ts-check
import { CallError, onSignedOut } from "./api.js";
import { closeAll } from "./dialog.js";
import { h } from "./dom.js";
import { frame, mark } from "./frame.js";
import { Context } from "./page.js";
import { empty } from "./parts.js";
import { clear, left, wordsOf } from "./result.js";
import { place, to } from "./router.js";
import { screens } from "./screens.js";
import { resume, session, signIn, signOut } from "./session.js";
import { signInPage } from "./sign-in.js";
import { keep, preferred, speak, t } from "./text.js";

const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const sprite = document.querySelector("svg.sprite");
let shown = new AbortController();
let drawn = "";

/** @param {string} screen @param {boolean} isBusy */
function label(screen, isBusy) {
  main.dataset.screen = screen;
  main.setAttribute("aria-busy", String(isBusy));
}

/** @param {...Node} nodes */
function body(...nodes) {
  for (const each of Array.from(document.body.children)) if (each !== sprite && each !== main) each.remove();
  document.body.append(...nodes);
  if (!main.isConnected) document.body.append(main);
}

/**
 * Shows the sign-in in the place of everything; after it the address is shown again.
 * @param {unknown} [refused]
 */
function askToSignIn(refused) {
  shown.abort();
  closeAll();
  clear();
  session.who = null;
  drawn = "";
  main.className = "alone";
  main.removeAttribute("id");
  main.replaceChildren(...signInPage(change, enter, refused));
  body(main);
  label("sign-in", false);
  document.title = `${t("sign_in")} · Paydesk`;
  /** @type {HTMLElement | null} */ (main.querySelector("input"))?.focus();
}

function enter() {
  main.className = "";
  main.id = "main";
  main.replaceChildren();
  body(...frame(main, { speak: change, signOut: leave }));
  show();
}

async function leave() {
  try {
    await signOut();
  } catch {
    // The cookie ends by itself; what is shown goes in any case.
  }
  askToSignIn();
}

/** @param {string} locale */
async function change(locale) {
  await speak(locale);
  keep(locale);
  if (session.who) enter();
  else askToSignIn();
}

/**
 * Draws the screen of the address.
 * @param {boolean} [again] after an act: the reader stays where they are
 */
async function show(again = false) {
  shown.abort();
  const mine = new AbortController();
  shown = mine;
  const here = place(location.hash);
  const isSame = again && drawn === location.hash;
  if (!isSame) {
    closeAll();
    left();
  }
  label(here.screen, true);
  mark(here.screen, t(`nav_${here.screen}`) === `{nav_${here.screen}}` ? "Paydesk" : t(`nav_${here.screen}`));
  if (!isSame) main.replaceChildren(bones());
  const context = new Context(here, mine.signal, () => show(true));
  let screen = here.screen;
  let nodes;
  try {
    nodes = await (screens[screen] ?? notFound)(context);
  } catch (error) {
    if (mine.signal.aborted) return;
    if (error instanceof CallError && error.status === 404 && here.id !== null) {
      screen = "not-found";
      nodes = notFound();
    } else nodes = broken(error);
  }
  if (mine.signal.aborted) return;
  const focus = isSame && main.contains(document.activeElement) ? document.activeElement : null;
  main.replaceChildren(nodes);
  label(screen, false);
  drawn = location.hash;
  const title = main.querySelector("h1");
  mark(screen, title?.textContent ?? "Paydesk");
  if (isSame) refocus(focus);
  else {
    scrollTo(0, 0);
    title?.focus({ preventScroll: true });
  }
}

/**
 * Gives the focus to the successor of a button whose screen was drawn again.
 * @param {Element | null} old
 */
function refocus(old) {
  if (document.querySelector("dialog[open]")) return;
  const row = old?.closest("tr[data-id]")?.getAttribute("data-id");
  const action = old?.getAttribute("data-action");
  const within = row ? Array.from(main.querySelectorAll("tr[data-id]")).find(each => each.getAttribute("data-id") === row) ?? main : main;
  const next = action ? within.querySelector(`[data-action="${action}"]`) : null;
  /** @type {HTMLElement | null} */ (next ?? main.querySelector("h1"))?.focus({ preventScroll: true });
}

/** The shape of a screen while it is read. */
function bones() {
  return h("div", { class: "page" }, h("h1", { class: "sr", tabindex: "-1" }, t("loading")), h("div", { class: "bone bone-head" }), h("div", { class: "card bone bone-card" }));
}

function notFound() {
  return h("div", { class: "page" }, h("section", { class: "card" }, h("div", { class: "empty" }, h("h1", { tabindex: "-1" }, t("not_found_title")), h("p", {}, t("not_found_text")), h("div", { class: "acts" }, h("a", { class: "button", href: to("home") }, t("nav_home"))))));
}

/** @param {unknown} error */
function broken(error) {
  const text = wordsOf(error);
  const id = error instanceof CallError ? error.requestID : "";
  if (!(error instanceof CallError)) reportError(error);
  const again = h("button", { type: "button", class: "button", onclick: () => show() }, t("try_again"));
  return h("div", { class: "page" }, h("div", { class: "head" }, h("h1", { tabindex: "-1" }, t("broken_title"))), h("section", { class: "card" }, empty("warn", text, id === "" ? t("broken_text") : t("broken_id", { id }), again)));
}

async function begin() {
  await speak(preferred());
  onSignedOut(() => {
    if (session.who) askToSignIn();
  });
  addEventListener("hashchange", () => {
    if (session.who) show();
  });
  let refused;
  const once = /^#once=([A-Za-z0-9_-]+)$/.exec(location.hash)?.[1];
  if (once !== undefined) {
    // Out of the address and the history before it is sent.
    history.replaceState(null, "", location.pathname);
    try {
      await signIn({ once });
    } catch (error) {
      refused = error;
    }
  } else {
    await resume().catch(() => null);
  }
  if (session.who) enter();
  else askToSignIn(refused);
  document.documentElement.dataset.ready = "";
}

begin();
