// One session for each state of the cashier, as GET /v1/public/session answers it, and what a template gets for it.
import { readFileSync, readdirSync } from "node:fs";
import { present } from "../../Sources/Pages/Assets/sdk/present.js";

const pages = new URL("../../Sources/Pages/", import.meta.url);

export const templates = Object.fromEntries(readdirSync(new URL("Templates/", pages)).map(name => [name.replace(".mustache", ""), readFileSync(new URL(`Templates/${name}`, pages), "utf8")]));
export const texts = Object.fromEntries(["en", "zh-Hans"].map(lang => [lang, JSON.parse(readFileSync(new URL(`Texts/${lang}.json`, pages), "utf8"))]));

export const NOW = 1795680000;
const names = { en: { month: "VIP monthly", year: "VIP yearly", renewing: "VIP, renews monthly", radio: "Walkie-talkie", shop: "Aurora", day: "Day pass", help: "Every plan opens the whole library." }, "zh-Hans": { month: "VIP 月卡", year: "VIP 年卡", renewing: "VIP 连续包月", radio: "对讲机", shop: "极光", day: "天卡", help: "在所有设备上阅读整个书库。" } };

export function productsOf(lang) {
  const n = names[lang];
  const product = (sku, name, kind, value, more = {}) => ({ sku, name, description: "", kind, tier: "VIP", duration_days: kind === "non_renewing" ? 30 : null, prices: [{ value, currency: "CNY" }], options: [], apple_product_ids: [], attributes: {}, owned: false, ...more });
  return [
    product("vip_month", n.month, "non_renewing", 3990, { description: n.help }), product("vip_year", n.year, "non_renewing", 29800, { duration_days: 365, owned: true }),
    product("vip_auto", n.renewing, "subscription", 2990, { renewal: "managed", period: { unit: "month", count: 1 }, trial_days: 0 }),
    product("day_pass", n.day, "non_renewing", 900, { options: [{ days: 7, prices: [{ value: 900, currency: "CNY" }], apple_product_id: null }, { days: 90, prices: [{ value: 6900, currency: "CNY" }], apple_product_id: null }] }),
    product("walkie", n.radio, "non_consumable", 123456789), product("coins", "Coins", "consumable", 1), product("trial", n.month, "non_renewing", 0),
    product("long", "TheInternationalReadersClubOfAuroraBorealisAndFriendsOfBooks", "non_renewing", 123456789),
  ];
}

export const methods = [
  ["apple_pay_main", "apple_pay", "Apple Pay", "apple_pay"], ["stripe_main", "stripe", "Stripe", "stripe"], ["alipay_main", "alipay", "Alipay", "qr"], ["wechat_main", "wechat_pay", "WeChat Pay", "qr"],
  ["paypal_main", "paypal", "PayPal", "url"], ["alipay_web", "alipay", "Alipay", "url"], ["epay_main", "epay", "EPay", "url"], ["voucher_desk", "remote", "VoucherAndGiftCardRedemptionDeskOfTheInternationalReadersClub", "url"],
  ["box-url", "sandbox", "Sandbox", "url"], ["apple-iap", "apple_iap", "App Store", "apple_iap"],
].map(([account, kind, display_name, type]) => ({ account, kind, display_name, type }));

const money = (value, currency = "CNY") => ({ value, currency });

export function sessionOf(lang, more = {}) {
  return {
    id: "ses_01m891nna4e02v4gdt5166vyfv", purpose: "checkout", skus: ["vip_month"], chosen: { sku: "vip_month", days: null }, quantity: 1, days: null, currency: "CNY", platform: "web", provider: null,
    accept: ["apple_iap", "stripe", "url", "qr", "apple_pay"], return_url: "https://aurora.example/done", cancel_url: null, locale: lang, created_at: NOW - 60, expires_at: NOW + 1800, readable_until: NOW + 1800,
    state: "methods", reason: null, order: null, contract: null, granted: null, terms: {},
    branding: { name: names[lang].shop, logo_url: null, accent: "#0a6cff", support_url: "https://aurora.example/support", terms_url: "https://aurora.example/terms", privacy_url: "https://aurora.example/privacy", merchant_lines: lang === "en" ? ["Aurora Reading Ltd · 1 Example Road"] : ["极光阅读有限公司 · 示例路 1 号"], test: false }, ...more,
  };
}

export function orderOf(more = {}, payment = {}) {
  const account = payment.provider ?? "alipay_main";
  return {
    id: "ord_01m891nna4e02v4gdt5166vyfv", status: "open", next_action: "pay", origin: "checkout", sku: "vip_month", quantity: 1, days: null, platform: "web", environment: "Production", amount: money(3990), charged: null,
    refunded: null, provider: account, subscription_id: null, created_at: NOW - 50, expires_at: NOW + 1800, paid_at: null, closed_at: null,
    payments: [{ id: "pay_01m891nna5evvt298qd2gepsqq", provider: account, processor: null, status: "pending", amount: money(3990), created_at: NOW - 50, unfenced: false, reference: null, failure: null, ...payment }],
    refunds: [], disputes: [], anomalies: [], timeline: [], ...more,
  };
}

export function contractOf(type, more = {}) {
  return {
    type, order_id: "ord_01m891nna4e02v4gdt5166vyfv", payment_id: "pay_01m891nna5evvt298qd2gepsqq", provider: "alipay_main", status: "pending", recurring: false, amount: money(3990), expires_at: NOW + 872, poll_after_ms: 2000,
    ...{
      qr: { checkout_url: "https://qr.example/t/5kQ2mN8xTb4vRz7L", qr_image_url: "https://pay.example/v1/public/payments/pay_01m891nna5evvt298qd2gepsqq/qr.svg" },
      url: { provider: "paypal_main", checkout_url: "https://paypal.example/checkoutnow?token=EC-5kQ2mN8x" },
      stripe: { provider: "stripe_main", stripe: { publishable_key: "pk_test_x", client_secret: "pi_x_secret_y" } },
      apple_pay: { provider: "apple_pay_main", apple_pay: { merchant_identifier: "merchant.com.example", country_code: "CN", currency_code: "CNY", supported_networks: ["visa"], merchant_capabilities: ["supports3DS"], total: { label: "Aurora", amount: "39.90" }, application_data: "nUeK" } },
      wechat_jsapi: { provider: "wechat_main", wechat_jsapi: { appId: "wx2421b1c4370ec43b", timeStamp: "1795680000", nonceStr: "e61463f8efa94090b1f366cccfbbb444", package: "prepay_id=wx201410272009395522657a690389285100", signType: "RSA", paySign: "oR9d8PuhnIc+YZ8cBHFCwfgpaK9gd7vaRvkYD7rthRAZ==" } },
      wechat_app: { provider: "wechat_main", wechat_app: { appid: "wxd930ea5d5a258f4f", partnerid: "1900000109", prepayid: "wx201410272009395522657a690389285100", package: "Sign=WXPay", noncestr: "e61463f8efa94090b1f366cccfbbb444", timestamp: "1795680000", sign: "oR9d8PuhnIc==" } },
      alipay_app: { alipay_app: { order_string: "app_id=2021000000000000&sign=x" } },
      apple_iap: { provider: "apple-iap", product_ids: ["com.example.vip.month"], app_account_token: "715da2ef-82e8-41ad-be13-00821e5f74a0" },
    }[type], ...more,
  };
}

/** WeChat's browser. */
export const WECHAT = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 MicroMessenger/8.0.50 NetType/WIFI Language/zh_CN";

const granted = { expires_at: NOW + 30 * 86400, perpetual: false, units: {} };
const paidOrder = more => orderOf({ status: "paid", next_action: "none", paid_at: NOW - 5, charged: money(3990), refunded: money(0), ...more }, { status: "succeeded" });
const running = (type, more = {}) => ({ state: { url: "redirect" }[type] ?? type, order: orderOf({}, { provider: contractOf(type).provider }), contract: contractOf(type, more) });
const attention = (reason, more) => ({ state: "attention", reason, order: paidOrder(more), granted });

/** Name → [session's members, more facts]. */
export const states = {
  plans: [{ state: "plans", skus: ["vip_month", "vip_year", "vip_auto", "day_pass", "walkie"], chosen: null }],
  methods: [{}], "methods-order": [{ order: orderOf(), skus: ["vip_month", "vip_year"] }],
  "methods-managed": [{ skus: ["vip_auto"], chosen: { sku: "vip_auto", days: null }, terms: { vip_auto: "¥29.90 today, then ¥29.90 every month from 25 Dec 2026 until you cancel. You can cancel at any time in My purchases." } }],
  "methods-free": [{ skus: ["trial"], chosen: { sku: "trial", days: null }, return_url: null }],
  "methods-long": [{ skus: ["long"], chosen: { sku: "long", days: null } }], "methods-coins": [{ skus: ["coins"], chosen: { sku: "coins", days: null }, quantity: 3 }],
  "methods-failed": [{ order: orderOf({ next_action: "retry" }, { status: "failed", failure: { reason: "card_declined", message: "Your bank declined the card. Try another one.", retryable: true } }) }],
  "methods-cancelled": [{ order: orderOf({ next_action: "retry" }, { status: "cancelled" }) }],
  "methods-alert": [{}, { alert: { reason: "provider_unavailable", title: "The payment service does not answer.", text: "Nothing was charged. Try again in a minute.", request_id: "Number for support: req_01m891npb3e0wvw1w47b811ge9" } }],
  qr: [running("qr")], "qr-wechat": [{ ...running("qr", { provider: "wechat_main", checkout_url: "weixin://wxpay/bizpayurl?pr=p4lpSuKzz" }) }],
  redirect: [running("url")], stripe: [running("stripe")], "stripe-sandbox": [running("stripe", { stripe: { publishable_key: "pk_sandbox_x", client_secret: "x" } })],
  apple_pay: [running("apple_pay")], apple_iap: [running("apple_iap")],
  wechat_jsapi: [running("wechat_jsapi"), { agent: WECHAT }], "wechat_jsapi-elsewhere": [running("wechat_jsapi")],
  checking: [{ state: "checking", order: orderOf({ next_action: "wait" }, { status: "unknown" }), contract: contractOf("qr") }],
  paid: [{ state: "paid", order: paidOrder(), granted }], "paid-for-good": [{ state: "paid", skus: ["walkie"], chosen: { sku: "walkie", days: null }, order: paidOrder({ sku: "walkie", amount: money(123456789), charged: money(123456789) }), granted: { expires_at: null, perpetual: true, units: {} } }],
  "paid-coins": [{ state: "paid", order: paidOrder({ sku: "coins", quantity: 3, amount: money(3), charged: money(3) }), granted: { expires_at: null, perpetual: false, units: { coins: 3 } }, return_url: null }],
  "paid-free": [{ state: "paid", order: { ...paidOrder({ sku: "trial", amount: money(0), charged: money(0), provider: null }), payments: [] }, granted }],
  "closed-cancelled": [{ state: "closed", reason: "cancelled", order: orderOf({ status: "closed", next_action: "none" }) }],
  "closed-expired": [{ state: "closed", reason: "expired", order: orderOf({ status: "closed", next_action: "none" }), expires_at: NOW - 1 }],
  "closed-trial": [{ state: "closed", reason: "trial_used", order: orderOf({ status: "closed", next_action: "none" }), skus: ["vip_month", "vip_auto"] }],
  owned: [{ state: "owned" }], "owned-app-store": [{ state: "owned", manage: "app_store" }],
  ...Object.fromEntries(["currency", "platform", "once", "no_account", "in_wechat"].map(reason => [`unavailable-${reason}`, [{ state: "unavailable", reason }]])),
  ...Object.fromEntries(["amount_mismatch", "dispute_open", "dispute_lost", "duplicate_payment", "duplicate_ownership", "late_payment", "held"].map(reason => [`attention-${reason}`, [attention(reason)]])),
  "attention-refunded": [attention("refunded", { status: "refunded", refunded: money(3990) })], "attention-partially_refunded": [attention("partially_refunded", { status: "partially_refunded", refunded: money(1000) })],
};
/** States without a session. */
export const bare = ["elsewhere", "expired", "unknown", "busy", "error"];

export function factsOf(name, lang, more = {}) {
  const [members, given] = states[name] ?? [{ state: name }, name === "error" ? { number: "req_01m891npb3e0wvw1w47b811ge9" } : {}];
  const session = bare.includes(name) ? { branding: sessionOf(lang).branding } : sessionOf(lang, members);
  return {
    session, state: members.state ?? "methods", reason: session.reason ?? null, products: productsOf(lang), methods, alert: null, t: texts[lang], locale: lang,
    place: { agent: given?.agent ?? "", can: () => false, base: "", address: bare.includes(name) ? null : `/pay/s/${session.id}`, zone: "Asia/Shanghai" }, now: NOW, ...given, ...more,
  };
}

/** The context of cashier.mustache, which the server makes. */
export function contextOf(name, lang, more = {}) {
  const facts = factsOf(name, lang, more);
  const { main, alert, live, title, ...body } = present(facts);
  const { branding } = facts.session;
  const hasSession = facts.place.address !== null;
  const offered = body.methods?.items ?? [];
  if (body.methods) Object.assign(body.methods, { all_hidden: offered.every(item => item.hidden), some_hidden: offered.some(item => item.hidden) && !offered.every(item => item.hidden) });
  for (const item of body.plans?.items ?? []) if (item.days !== null) item.days = String(item.days);
  return {
    lang, title, styles: ["/assets/sdk/tokens.css", "/assets/sdk/pay.css"], module: hasSession ? "/assets/cashier/cashier.js" : null, texts: hasSession ? `/assets/texts/${lang}.json` : null,
    token: hasSession ? "pds_" + "A".repeat(43) : null, refresh: ["qr", "redirect", "checking"].includes(facts.state), test: branding.test, branding: { ...branding, initial: Array.from(branding.name)[0] },
    address: facts.place.address, csrf: hasSession ? "csrf-from-the-server" : null, languages: hasSession ? [lang === "en" ? { lang: "zh-Hans", name: "中文" } : { lang: "en", name: "English" }] : [],
    main, alert, live, t: texts[lang], ...body,
  };
}
