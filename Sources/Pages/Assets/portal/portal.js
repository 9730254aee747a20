// @ts-check
import { banner } from "../cashier/banner.js";
import { localTimes, meta, showEntries, table } from "../cashier/page.js";
import { cardForm } from "./card.js";
import { changed, shown, waits } from "./watch.js";

/**
 * One press sends a form once: the answer is another page.
 * @param {Document} document
 */
function sendOnce(document) {
  document.addEventListener("submit", event => {
    const form = /** @type {HTMLFormElement} */ (event.target);
    if (form.dataset.sent !== undefined) return event.preventDefault();
    form.dataset.sent = "";
    /** @type {SubmitEvent} */ (event).submitter?.setAttribute("aria-busy", "true");
  });
  // A page that comes back from the browser's memory can be used again.
  addEventListener("pageshow", event => {
    if (!event.persisted) return;
    for (const form of document.forms) delete form.dataset.sent;
    for (const busy of document.querySelectorAll('form [aria-busy="true"]')) busy.removeAttribute("aria-busy");
  });
}

/** @param {HTMLElement} main */
function offerPrint(main) {
  for (const button of main.querySelectorAll('[data-action="print"]')) {
    /** @type {HTMLElement} */ (button).hidden = false;
    button.addEventListener("click", () => print());
  }
}

/** Takes away what a payment service adds to the address, but for how it ended. */
function cleanAddress() {
  const query = new URLSearchParams(location.search);
  const ended = query.get("redirect_status");
  if (ended !== null) history.replaceState(history.state, "", `${location.pathname}?redirect_status=${encodeURIComponent(ended)}`);
}

async function start() {
  const main = /** @type {HTMLElement | null} */ (document.querySelector("main[data-state]"));
  const texts = meta("paydesk-texts");
  if (!main || !texts) return;
  const locale = document.documentElement.lang;
  const own = location.origin + location.pathname;
  cleanAddress();
  localTimes(main, locale);
  offerPrint(main);
  sendOnce(document);
  showEntries(main, type => type === "stripe");
  document.documentElement.setAttribute("data-ready", "");
  const section = /** @type {HTMLElement | null} */ (main.querySelector("section[data-state]"));
  if (!section) return;
  const t = await table(texts);
  if (section.dataset.state === "stripe") {
    await cardForm(section, { t, locale, address: own, done: () => location.replace(`${own}?redirect_status=succeeded`) });
  }
  if (!waits(main)) return;
  await changed({ address: location.href, now: shown(main), offline: banner(main, t.offline ?? "") });
  location.reload();
}

start();
