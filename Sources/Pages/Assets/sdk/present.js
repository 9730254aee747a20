// @ts-check
import { isInWeChat } from "./accept.js";
import * as words from "./words.js";
import { appAddress, methodName, methodsFor, wordsOf } from "./methods.js";
import { PAY_STATES, back, daysOf, nameOf, productOf, receipt, runningMethod, sum } from "./present-parts.js";
import { message } from "./present-message.js";

const { fill } = words;

/** @typedef {import("./present-parts.js").Facts} Facts */
/** @typedef {import("./present-parts.js").Alert} Alert */

/**
 * What the templates get for a state, by the same names (Sources/Pages/Templates): the attributes of `<main>`, the alert,
 * the live text and the state's own context.
 * @param {Facts} f
 * @returns {{main: Record<string, string | null>, alert: Alert | null, live: string, title: string, [state: string]: any}}
 */
export function present(f) {
  const body = bodyOf(f);
  const kind = Object.keys(body)[0] ?? "message";
  const own = body[kind];
  const title = own.title ?? { plans: f.t.plans_title, stripe: f.t.stripe_title, apple_pay: f.t.apple_pay_title, apple_iap: f.t.apple_iap_title, wechat_jsapi: f.t.wechat_title }[kind] ?? "";
  const alert = f.alert ?? failed(f);
  return {
    main: attributes(f), alert, ...body, live: live(f, kind, title, alert),
    title: fill(f.t.page_title ?? "", { title, shop: f.session?.branding?.name ?? "" }),
  };
}

/** @param {Facts} f @returns {Record<string, any>} */
function bodyOf(f) {
  switch (f.state) {
    case "plans": return { plans: plans(f) };
    case "methods": return { methods: methods(f) };
    case "qr": return { qr: qr(f) };
    case "redirect": return { redirect: redirect(f) };
    case "stripe": return { stripe: stripe(f) };
    case "apple_pay": return { apple_pay: { summary: summary(f), button: { text: fill(f.t.apple_pay_button ?? "", { amount: sum(f).amount }), lang: f.locale === "zh-Hans" ? "zh-CN" : "en" }, ...ways(f) } };
    case "apple_iap": return { apple_iap: { summary: summary(f), products: f.session.contract?.product_ids ?? [], check: true, ...ways(f) } };
    case "wechat_jsapi": return { wechat_jsapi: wechat(f) };
    case "paid": return { paid: paid(f) };
    default: return { message: message(f) };
  }
}

/** @param {Facts} f */
function attributes(f) {
  const { order, contract, id } = f.session ?? {};
  const attempts = order?.payments ?? [];
  const newest = attempts[attempts.length - 1];
  return {
    state: f.state, session: id ?? null, order: order?.id ?? null, payment: newest?.id ?? contract?.payment_id ?? null, setup: contract?.setup_id ?? null,
    order_status: order?.status ?? null, payment_status: newest?.status ?? contract?.status ?? null, environment: order?.environment ?? null,
    next_action: order?.next_action ?? null, reason: f.reason, manage: f.state === "owned" ? f.session.manage ?? null : null,
  };
}

/**
 * The alert of a failed or cancelled attempt.
 * @param {Facts} f
 * @returns {Alert | null}
 */
function failed(f) {
  const order = f.session?.order;
  if (f.state !== "methods" || order?.next_action !== "retry") return null;
  const newest = order.payments[order.payments.length - 1];
  // A trial has no payment, and its set-up says in the contract how it ended.
  const status = newest?.status ?? f.session.contract?.status;
  if (status !== "failed") return { reason: "cancelled", title: f.t.alert_cancelled ?? "", text: f.t.alert_cancelled_text, mild: true };
  const message = newest?.failure?.message;
  const [, first, rest] = /^(.+?(?:[.] |。))(.+)$/.exec(message ?? "") ?? [];
  return { reason: "failed", failure: newest?.failure?.reason ?? null, title: first?.trim() ?? (message || (f.t.alert_failed ?? "")), text: message ? rest ?? null : f.t.alert_failed_text };
}

/** @param {Facts} f @param {string} kind @param {string} title @param {Alert | null} alert */
function live(f, kind, title, alert) {
  if (["qr", "redirect", "apple_iap", "wechat_jsapi"].includes(kind)) return f.t.waiting ?? "";
  if (kind === "stripe") return f.t.stripe_live ?? "";
  return kind === "methods" && (alert?.reason === "failed" || alert?.reason === "cancelled") ? f.t.methods_live_failed ?? "" : title;
}

/** @param {Facts} f */
function summary(f) {
  return { name: nameOf(f), ...sum(f), period: words.period(productOf(f), daysOf(f), f.t) };
}

/** @param {Facts} f */
function ways(f) {
  const several = (f.session.skus?.length ?? 0) > 1;
  const open = f.session.order?.status === "open";
  const choice = f.session.expires_at > f.now;
  return { other_method: PAY_STATES.has(f.state) && choice ? "?view=methods" : null, other_plan: several && choice ? "?view=plans" : null, cancel: open };
}

/** @param {Facts} f */
function plans(f) {
  const items = f.session.skus.flatMap((/** @type {string} */ sku) => {
    const product = f.products.find(each => each.sku === sku);
    if (!product) return [];
    const options = product.options?.length > 0 ? product.options : [{ days: null, prices: product.prices }];
    return options.flatMap((/** @type {any} */ option) => {
      const price = option.prices.find((/** @type {any} */ each) => each.currency === (f.session.currency ?? each.currency));
      if (!price) return [];
      return [{
        sku, days: option.days, name: product.name, help: product.description || null, value: price.value, currency: price.currency,
        amount: price.value === 0 ? f.t.free : words.amount(price, f.locale), period: words.period(product, option.days, f.t), owned: product.owned === true,
      }];
    });
  });
  return { items, back: back(f, f.t.back_not_now ?? "") };
}

/** @param {Facts} f */
function methods(f) {
  const { t } = f;
  const price = sum(f);
  const product = productOf(f);
  const free = price.value === 0 && product.renewal !== "managed";
  const offered = free ? [{ account: "", kind: "none", display_name: "", type: "none" }] : f.methods;
  const { items, leftOut } = methodsFor(offered, f.place.agent);
  const words = wordsOf(items, t);
  return {
    summary: summary(f),
    title: free ? t.methods_title_free : t.methods_title, terms: f.session.terms?.[product.sku] ?? null,
    items: items.map((method, index) => ({
      value: `${method.account}:${method.type}`, account: method.account, kind: method.kind, type: method.type, ...words[index],
      hidden: ["stripe", "apple_pay"].includes(method.type) && !f.place.can(method.type),
    })),
    in_wechat: leftOut, note: note(f, free), ...ways(f), back: back(f, t.back_not_now ?? ""),
  };
}

/**
 * How often it is paid and until when; a managed subscription has its own sentence.
 * @param {Facts} f
 * @param {boolean} free
 */
function note(f, free) {
  const { t } = f;
  const product = productOf(f);
  const days = daysOf(f) ?? product.duration_days ?? null;
  if (free || f.session.terms?.[product.sku] || product.kind === "subscription" || product.kind === "") return null;
  if (product.kind === "non_consumable") return t.note_for_good;
  if (product.kind === "consumable" || days === null) return t.note_once;
  const ends = f.now + days * 86_400 * (f.session.quantity ?? 1);
  return product.owned ? t.note_added : fill(t.note_ends ?? "", { date: words.day(ends, f.locale, f.place.zone) });
}

/** @param {Facts} f */
function qr(f) {
  const { t } = f;
  const { contract } = f.session;
  const method = runningMethod(f);
  const name = methodName(method, t);
  const price = sum(f);
  const app = appAddress(method.kind, contract.checkout_url);
  const long = words.period(productOf(f), daysOf(f), t);
  const picture = f.place.address ? `${f.place.address}/qr.png` : null;
  return {
    title: fill(t.qr_title ?? "", { name }), lead: fill(t.qr_lead ?? "", { name }), ...price,
    item: long ? fill(t.between ?? "", { first: nameOf(f), second: long }) : nameOf(f),
    open: app ? { href: app, text: app === contract.checkout_url ? t.qr_open_here : fill(t.qr_open ?? "", { name }) } : null,
    save: picture ? { href: picture, name: `${contract.payment_id}.png`, note: fill(t.qr_save_note ?? "", { name }) } : null,
    image: { src: f.place.base + pathOf(contract.qr_image_url), alt: fill(t.qr_alt ?? "", { amount: price.amount, name }) },
    expires: contract.expires_at === null ? null : { datetime: words.iso(contract.expires_at), text: words.left(contract.expires_at - f.now) },
    check: true, ...ways(f),
  };
}

/** @param {string} address */
function pathOf(address) {
  return address.replace(/^[a-z]+:\/\/[^/]*/i, "");
}

/** @param {Facts} f */
function redirect(f) {
  const name = methodName(runningMethod(f), f.t);
  const text = f.session.contract.setup ? fill(f.t.setup_go ?? "", { name }) : fill(f.t.redirect_go ?? "", { name, amount: sum(f).amount });
  return {
    summary: summary(f), title: fill(f.t.redirect_title ?? "", { name }), lead: f.t.redirect_lead,
    go_on: { href: f.session.contract.checkout_url, text }, check: true, ...ways(f),
  };
}

/** @param {Facts} f */
function stripe(f) {
  const { t } = f;
  const { contract, branding } = f.session;
  const price = sum(f);
  const sandbox = contract.stripe.publishable_key.startsWith("pk_sandbox_");
  return {
    summary: summary(f), safe: fill(t.stripe_safe ?? "", { shop: branding.name }),
    go_on: sandbox ? { href: `${f.place.base}/sandbox/${contract.payment_id ?? contract.setup_id}`, text: contract.setup ? t.stripe_setup : fill(t.stripe_go_on ?? "", { amount: price.amount }) } : null,
    pay: sandbox ? null : contract.setup ? t.stripe_setup : fill(t.stripe_pay ?? "", { amount: price.amount }), ...ways(f),
  };
}

/**
 * WeChat's sheet; another browser, in which the page was opened since, has none.
 * @param {Facts} f
 */
function wechat(f) {
  const can = isInWeChat(f.place.agent);
  return {
    summary: summary(f), lead: can ? f.t.wechat_lead : f.t.wechat_elsewhere,
    pay: can ? fill(f.t.wechat_pay ?? "", { amount: sum(f).amount }) : null, check: true, ...ways(f),
  };
}

/** @param {Facts} f */
function paid(f) {
  const { t } = f;
  const { granted, order } = f.session;
  const price = sum(f);
  const name = nameOf(f);
  const free = order.payments.length === 0;
  const trial = free && productOf(f).renewal === "managed";
  const ends = granted?.expires_at ?? null;
  const date = ends === null ? "" : words.day(ends, f.locale, f.place.zone);
  const way = back(f, t.back_to ?? "");
  return {
    title: trial ? t.paid_title_trial : free ? t.paid_title_free : t.paid_title, ...price,
    until: ends === null || granted.perpetual ? null : { ...words.split(t.paid_until ?? "", "date", date, { name }), datetime: words.iso(ends), text: date },
    for_good: granted?.perpetual ? fill(t.paid_for_good ?? "", { name }) : null,
    lead: granted?.perpetual || ends !== null ? null : fill(t.paid_lead ?? "", { name }),
    receipt: receipt(f), back: way ? { ...way, note: fill(t.paid_returns ?? "", { shop: f.session.branding.name }) } : null,
  };
}

