// @ts-check
import { isInWeChat } from "../sdk/accept.js";
import { Paydesk } from "../sdk/client.js";
import { Flow } from "../sdk/flow.js";
import { Acts } from "../sdk/flow-acts.js";
import { canApplePay } from "../sdk/pay-apple.js";
import { isAlipayLink, isFollowable } from "../sdk/methods.js";
import { localTimes, meta, showEntries, table } from "./page.js";
import { Return } from "./return.js";
import { banner } from "./banner.js";

/** @returns {"plans" | "methods" | null} */
function choice() {
  const view = new URLSearchParams(location.search).get("view");
  return view === "plans" || view === "methods" ? view : null;
}

/**
 * Takes the queries away that a provider added, and WeChat's way back; the page's own query stays.
 * @param {string} address the page's own
 * @returns {boolean} whether Stripe sent the payer back
 */
function cleanAddress(address) {
  const query = new URLSearchParams(location.search);
  const view = choice();
  history.replaceState(history.state, "", address + (view ? `?view=${view}` : ""));
  return query.has("redirect_status");
}

async function start() {
  const main = /** @type {HTMLElement | null} */ (document.querySelector("main[data-state]"));
  const token = meta("paydesk-token");
  const texts = meta("paydesk-texts");
  if (!main || !token || !texts) return;
  const locale = document.documentElement.lang;
  const address = location.pathname.replace(/\/wechat$/, "");
  const desk = new Paydesk({ baseURL: location.origin + address.replace(/\/pay\/s\/[^/]*$/, ""), token, locale });
  const can = (/** @type {string} */ type) => type === "stripe" || (type === "apple_pay" && canApplePay());
  const returned = cleanAddress(address);
  const t = await table(texts);
  const back = new Return(main);
  const offline = banner(main, t.offline ?? "");
  const csrf = /** @type {HTMLInputElement | null} */ (document.querySelector('input[name="csrf"]'))?.value ?? null;

  const flow = new Flow({
    desk, t, locale,
    host: {
      main, csrf, choice, offline,
      place: { agent: navigator.userAgent, can, base: desk.baseURL.slice(location.origin.length), address },
      leave: target => isFollowable(target) && location.assign(target),
      ended: () => location.reload(),
      failed: error => console.error(error),
      changed: (state, _session, title) => {
        document.title = title;
        back.watch(state);
      },
      returnURL: session => `${desk.baseURL}/pay/s/${session.id}`,
      choose: view => {
        const target = address + (view ? `?view=${view}` : "");
        if (view && view !== choice()) history.pushState(null, "", target);
        else if (!view) history.replaceState(history.state, "", target);
      },
      plan: () => false,
      mountPoint: where => where,
    },
  });
  flow.returned = returned;
  const acts = new Acts(flow);
  const usable = showEntries(main, can) || main.dataset.state !== "methods";
  if (!usable) flow.drawn = "";
  localTimes(main, locale);
  await flow.ask();
  document.documentElement.setAttribute("data-ready", "");
  back.watch(main.dataset.state ?? "");
  addEventListener("popstate", () => flow.ask());
  addEventListener("online", () => flow.wake());
  addEventListener("pageshow", event => {
    if (event.persisted) back.stay();
    if (event.persisted) flow.ask();
  });
  document.addEventListener("visibilitychange", () => flow.wake());
  pressInWallet(main, acts);
  await flow.run();
}

/**
 * Inside a wallet its own way to pay needs no choice: Alipay's link, WeChat's sheet.
 * @param {HTMLElement} main
 * @param {Acts} acts
 */
function pressInWallet(main, acts) {
  const { userAgent } = navigator;
  if (main.dataset.state !== "methods" || main.dataset.order || choice()) return;
  if (main.querySelector('[role="alert"], input[name="terms"]')) return;
  const first = /** @type {HTMLButtonElement | null} */ (main.querySelector('li:not([hidden]) > [data-action="method"]'));
  const { account = "", kind = "", type = "" } = first?.dataset ?? {};
  const isOwn = (/AlipayClient/i.test(userAgent) && isAlipayLink({ account, kind, type, display_name: "" })) || (isInWeChat(userAgent) && type === "wechat_jsapi");
  if (first && isOwn) acts.press(first);
}

start();
