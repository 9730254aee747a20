// @ts-check
// What the page shows, as DOM nodes made from the state. Texts are only ever set as text, never as markup.

/** @typedef {import("./texts.js").Words} Words */
/** @typedef {import("./texts.js").Word} Word */
/** @typedef {string | number | boolean | null | undefined} Value */
/** @typedef {Node | string | false | null | undefined} Child */

/**
 * Times are seconds since 1970, amounts of `price` thousandths of a major unit, as `GET /dev/appstore/state` has them.
 * @typedef {{product_id: string, name: string, kind: string, group: string | null, period: string | null, prices: {currency: string, milliunits: number}[]}} Product
 * @typedef {{transaction_id: string, customer: string, product_id: string, purchased_at: number, expires_at: number | null, app_account_token: string | null,
 *   is_family_shared: boolean, is_upgraded: boolean, currency: string, price: number, revoked_at: number | null, refunded_percentage: number | null}} Transaction
 * @typedef {{original_transaction_id: string, customer: string, group: string, product_id: string, status: string, will_renew: boolean, fails: boolean,
 *   expires_at: number, currency: string, renewal_price: number, is_family_shared: boolean}} Subscription
 * @typedef {{uuid: string, type: string, subtype: string | null, signed_payload: string, attempts: {at: number, status: number | null}[]}} Notification
 * @typedef {{mode: string, seconds: number}} Delivery
 * @typedef {{products: Product[], customers: string[], transactions: Transaction[], subscriptions: Subscription[], notifications: Notification[],
 *   delivery: Delivery, now: number}} State
 * @typedef {{name: string, token: string | null, user: string | null}} Customer a token, and the user whose it is, where they are known
 *
 * A user as Paydesk sees one, of `GET /dev/appstore/users/{token}`:
 * @typedef {{sku: string, status: string, expires_at: number | null}} Owned
 * @typedef {{user_id: string, status: {active: boolean, status: string, tier: string | null, expires_at: number, perpetual: boolean, will_renew: boolean},
 *   entitlements: {entitlements: Owned[], balances: Record<string, number>, sandbox_balances: Record<string, number>}}} Seen
 */

const svgNamespace = "http://www.w3.org/2000/svg";

/**
 * Makes an element; attributes that are null or false are left out, children that are null too.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, Value>} [attributes]
 * @param {(Child | Child[])[]} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

/** @param {string} id */
export function icon(id, name = "icon") {
  const svg = document.createElementNS(svgNamespace, "svg");
  svg.setAttribute("class", name);
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(svgNamespace, "use");
  use.setAttribute("href", `#${id}`);
  svg.append(use);
  return svg;
}

const good = new Set(["active"]);
const warn = new Set(["grace_period", "billing_retry", "in_grace_period", "in_billing_retry", "scheduled"]);
const bad = new Set(["expired", "revoked"]);

/**
 * A state with its word and its mark.
 * @param {string} state
 * @param {string} word
 */
export function mark(state, word) {
  const kind = good.has(state) ? "good" : warn.has(state) ? "warn" : bad.has(state) ? "bad" : "idle";
  return make("span", { class: `status ${kind}`, "data-status": state }, icon(`i-m-${kind}`, "mark"), word);
}

export class Views {
  /**
   * @param {Words} words
   * @param {import("./texts.js").Language} language
   */
  constructor(words, language) {
    this.words = words;
    this.language = language;
    // Day before month in English, as on all pages.
    this.locale = language === "en" ? "en-GB" : language;
    this.day = new Intl.DateTimeFormat(this.locale, { dateStyle: language === "en" ? "medium" : "long" });
    this.minute = new Intl.DateTimeFormat(this.locale, { dateStyle: language === "en" ? "medium" : "long", timeStyle: "short" });
  }

  /** @param {number} seconds */
  date(seconds) { return this.day.format(new Date(seconds * 1000)); }

  /** @param {number} seconds */
  time(seconds) {
    const at = new Date(seconds * 1000);
    return make("time", { datetime: at.toISOString(), title: at.toISOString() }, this.minute.format(at));
  }

  /** @param {number} milliunits @param {string} currency */
  money(milliunits, currency) {
    return new Intl.NumberFormat(this.locale, { style: "currency", currency, currencyDisplay: "narrowSymbol" }).format(milliunits / 1000);
  }

  /**
   * A period in words, from ISO 8601: P1M, P2W.
   * @param {string | null} text
   */
  period(text) {
    const [, count, unit] = /^P(\d+)([DWMY])$/.exec(text ?? "") ?? [];
    const name = /** @type {Record<string, string>} */ ({ D: "day", W: "week", M: "month", Y: "year" })[unit ?? ""];
    if (!name) return null;
    const word = this.words.period[name] ?? name;
    return count === "1" ? word : `${count} ${word}`;
  }

  /** @param {string} action @param {string} text @param {Record<string, Value>} values */
  button(action, text, values = {}, kind = "") {
    const data = Object.fromEntries(Object.entries(values).map(([key, value]) => [`data-${key}`, value]));
    return make("button", { type: "button", class: `button small ${kind}`.trim(), "data-action": action, ...data }, text);
  }

  /**
   * A labelled field whose label is for screen readers where the button beside says enough.
   * @param {string} id
   * @param {string} label
   * @param {HTMLElement} control
   */
  field(id, label, control, isShown = false) {
    control.id = id;
    control.classList.add("field");
    return make("span", { class: "inline" }, make("label", { for: id, class: isShown ? "small muted" : "sr" }, label), control);
  }

  /** @param {string} name @param {[string, string][]} options @param {string} value */
  select(name, options, value) {
    return make("select", { name }, options.map(([key, text]) => make("option", { value: key, selected: key === value }, text)));
  }

  /** @param {string} name @param {number} value @param {number} min @param {number} max */
  number(name, value, min, max, step = 1) {
    return make("input", { type: "number", name, value, min, max, step, inputmode: "numeric", class: "short" });
  }

  /** @param {string} name @param {string} heading @param {string | null} note @param {(Child | Child[])[]} content */
  card(name, heading, note, ...content) {
    const id = `h-${name}`;
    return make("section", { class: "card", "aria-labelledby": id, "data-card": name },
      make("div", { class: "card-head" }, make("h2", { id }, heading), note ? make("p", {}, note) : null), ...content);
  }

  /** @param {string} text */
  empty(text) { return make("p", { class: "pad muted" }, text); }

  /** @param {State} state @param {number} [next] the next renewal */
  clock(state, next) {
    const t = this.words;
    const slider = make("input", { type: "range", id: "clock", name: "to", min: 0, max: 400, step: 1, value: 0, "aria-valuetext": this.date(state.now) });
    const presets = /** @type {[number, string][]} */ ([[3600, t.hour], [86400, t.day], [7 * 86400, t.week], [30 * 86400, t.month]])
      .map(([seconds, text]) => this.button("advance", text, { seconds }));
    if (next) presets.push(this.button("advance-to", t.nextEvent(this.date(next)), { to: next + 60 }));
    return make("section", { class: "card clock", "aria-labelledby": "h-clock", "data-card": "clock" },
      make("div", { class: "now" }, make("h2", { id: "h-clock", class: "small muted" }, t.now), make("b", { "data-now": state.now }, this.time(state.now))),
      make("div", { class: "slider" }, make("label", { for: "clock", class: "small muted" }, t.moveLabel), slider,
        make("button", { type: "button", class: "button primary", "data-action": "slide", disabled: true }, t.move(this.date(state.now)))),
      make("div", { class: "presets", role: "group", "aria-label": t.forward }, make("span", { class: "small muted" }, t.forward), ...presets,
        make("span", { class: "small muted" }, t.never)));
  }

  /** @param {Customer[]} customers @param {Customer} chosen */
  customers(customers, chosen) {
    const t = this.words;
    const list = customers.map((customer) => make("li", {}, make("button", {
      type: "button", class: "pick", "data-action": "choose", "data-customer": customer.name, "aria-pressed": customer.name === chosen.name ? "true" : "false",
    }, icon("i-people"), make("span", {}, make("span", { class: "strong clip" }, customer.name),
      make("span", { class: "sub clip" }, customer.user ? t.signedIn(customer.user) : customer.token ? t.signedIn(customer.token) : t.nobody)))));
    const form = make("form", { class: "pad fields", "data-form": "customer" },
      make("h3", {}, t.newCustomer),
      make("div", { class: "field-row" }, make("label", { for: "customer-name" }, t.customerName), make("input", { id: "customer-name", name: "name", class: "field", required: true, maxlength: 100, autocomplete: "off" })),
      make("div", { class: "field-row" }, make("label", { for: "customer-user" }, t.userName), make("input", { id: "customer-user", name: "user", class: "field", maxlength: 128, autocomplete: "off" })),
      make("button", { type: "submit", class: "button" }, t.add));
    return this.card("customers", t.customers, null, make("ul", { class: "people-pick", "data-list": "customers" }, list), form);
  }

  /** @param {Product[]} products @param {Customer} chosen @param {Subscription[]} running */
  products(products, chosen, running) {
    const t = this.words;
    if (!products.length) return this.card("products", t.buyAs(chosen.name), null, this.empty(t.noProducts));
    const offers = /** @type {Word[]} */ (["introductory", "promotional", "offer_code", "win_back"]);
    const rows = products.map((product, index) => {
      const isRunning = running.some((one) => one.product_id === product.product_id);
      const price = product.prices[0];
      const cost = price ? this.money(price.milliunits, price.currency) : "–";
      const period = this.period(product.period);
      const words = period ? t.each(cost, period) : t.once(cost);
      const tools = [];
      if (product.kind === "consumable") tools.push(this.field(`quantity-${index}`, t.quantity, this.number("quantity", 1, 1, 10)));
      if (product.kind === "subscription") {
        tools.push(this.field(`offer-${index}`, t.offer, this.select("offer", [["", t.noOffer], ...offers.map((o) => /** @type {[string, string]} */ ([o, t[o]]))], "")));
      }
      tools.push(make("button", { type: "submit", class: "button small", "aria-label": `${t.buy}: ${product.name}` }, t.buy));
      return make("li", { "data-id": product.product_id }, make("form", { class: "product", "data-form": "buy", "data-product": product.product_id },
        make("span", { class: "strong" }, product.name, isRunning ? mark("active", t.runs) : null),
        make("span", { class: "sub" }, `${words} · `, make("span", { class: "mono" }, product.product_id)),
        make("span", { class: "acts" }, tools)));
    });
    return this.card("products", t.buyAs(chosen.name), t.products, make("ul", { class: "shelf", "data-list": "products" }, rows));
  }

  /** @param {Subscription} one @param {Product[]} products @param {number} index @param {number} now */
  subscription(one, products, index, now) {
    const t = this.words;
    const id = one.original_transaction_id;
    const act = /** @param {Word} name */ (name, kind = "") => this.button("act", t[name], { act: name, subscription: id }, kind);
    const group = /** @param {string} name @param {Child[]} content */ (name, ...content) => make("div", { class: "group" }, make("span", {}, name), make("form", { class: "acts", "data-form": "act", "data-subscription": id }, ...content));
    const submit = /** @param {Word} name */ (name) => make("button", { type: "submit", class: "button small", name: "act", value: name }, t[name]);
    const others = products.filter((p) => p.group && p.group === one.group && p.product_id !== one.product_id).map((p) => /** @type {[string, string]} */ ([p.product_id, p.name]));
    const product = products.find((p) => p.product_id === one.product_id);
    const end = one.expires_at <= now ? t.ended(this.date(one.expires_at)) : one.will_renew ? t.renews(this.date(one.expires_at)) : t.ends(this.date(one.expires_at));
    const groups = one.is_family_shared ? [group(t.family, act("unshare", "danger"))] : [
      group(t.nextPeriod, act("renew"), this.field(`days-${index}`, t.days, this.number("days", 30, 1, 90)), submit("extend"), act("expire", "danger")),
      group(t.card, this.field(`grace-${index}`, t.grace, this.select("grace", [16, 0, 3, 28].map((n) => /** @type {[string, string]} */ ([String(n), t.graceDays(n)])), "16")), submit("fail_renewal"), act("recover")),
      group(t.customer, act(one.will_renew ? "turn_off" : "turn_on"),
        ...(others[0] ? [this.field(`to-${index}`, t.to, this.select("product_id", others, others[0][0])), submit("upgrade"), submit("downgrade")] : [])),
      group(t.price, this.field(`price-${index}`, t.newPrice, make("input", { type: "number", name: "price", class: "short", min: 0, step: "0.01", value: (Math.round(one.renewal_price / 8) / 100).toFixed(2) })), submit("price_increase"), act("accept_price")),
      group(t.family, this.field(`member-${index}`, t.member, make("input", { name: "customer", maxlength: 100, value: "family" })), submit("share")),
    ];
    return this.card(`subscription-${index}`, `${product ? product.name : one.product_id} · ${one.customer}`, null,
      make("div", { class: "pad head-line", "data-id": id }, mark(one.status, `${t.status[one.status]}, ${end}`),
        one.fails ? make("span", { class: "chip test" }, t.failing) : null,
        make("span", { class: "muted small" }, `${this.money(one.renewal_price, one.currency)} · `, make("span", { class: "mono" }, id))),
      make("div", { class: "pad groups" }, groups));
  }

  /** @param {Transaction[]} transactions */
  transactions(transactions) {
    const t = this.words;
    if (!transactions.length) return this.card("transactions", t.transactions, null, this.empty(t.noTransactions));
    const rows = transactions.map((one, index) => {
      const percentage = one.refunded_percentage ?? 100;
      const [state, word] = one.revoked_at ? /** @type {const} */ (["revoked", percentage < 100 ? t.refundedPart(percentage) : t.refunded])
        : one.is_upgraded ? ["expired", t.upgraded] : ["active", one.is_family_shared ? t.shared : t.bought];
      const act = /** @param {Word} name */ (name, kind = "") => this.button("act-on", t[name], { act: name, transaction: one.transaction_id }, kind);
      const tools = one.revoked_at ? [act("refund_reversed")] : [
        this.field(`percent-${index}`, t.percentage, this.number("percentage", 100, 1, 100)),
        make("button", { type: "submit", class: "button small danger", name: "act", value: "refund" }, t.refund), act("refund_declined"), act("consumption_request")];
      return make("li", { "data-id": one.transaction_id },
        make("div", {}, make("p", {}, mark(state ?? "", word ?? ""), " ", make("span", { class: "strong" }, one.product_id)),
          make("p", { class: "sub" }, this.time(one.purchased_at), one.expires_at ? ` – ${this.date(one.expires_at)}` : "", ` · ${this.money(one.price, one.currency)} · `, make("span", { class: "mono" }, one.transaction_id))),
        make("form", { class: "acts", "data-form": "act-on", "data-transaction": one.transaction_id }, tools));
    });
    return this.card("transactions", t.transactions, null, make("ul", { class: "rows", "data-list": "transactions" }, rows));
  }

  /** @param {Notification[]} notifications @param {Delivery} delivery */
  notifications(notifications, delivery) {
    const t = this.words;
    const modes = ["normal", "twice", "late", "shuffled", "off"];
    const form = make("form", { class: "pad acts", "data-form": "delivery" },
      this.field("mode", t.travel, this.select("mode", modes.map((m) => /** @type {[string, string]} */ ([m, t.mode[m] ?? m])), delivery.mode), true),
      this.field("delay", t.seconds, this.number("seconds", delivery.seconds ?? 60, 1, 86400), true),
      make("button", { type: "submit", class: "button small" }, t.set));
    if (!notifications.length) return this.card("notifications", t.notifications, null, form, this.empty(t.noNotifications));
    const rows = notifications.map((one) => make("li", { "data-id": one.uuid },
      make("div", {}, make("p", { class: "mono strong" }, [one.type, one.subtype].filter(Boolean).join(" · ")),
        make("p", { class: "sub" }, one.attempts.length
          ? one.attempts.map((a) => mark(a.status !== null && a.status >= 200 && a.status < 300 ? "active" : "expired", String(a.status ?? "–")))
          : mark("none", t.notSent), one.attempts[0] ? [" ", this.time(one.attempts[0].at)] : null)),
      this.button("copy", t.payload, { uuid: one.uuid }, "quiet")));
    return this.card("notifications", t.notifications, null, form, make("ul", { class: "rows", "data-list": "notifications" }, rows));
  }

  /**
   * How long somebody owns something, in words.
   * @param {Owned} one
   */
  owned(one) {
    const t = this.words;
    if (one.status !== "active") return t.status[one.status] ?? one.status;
    return one.expires_at ? t.ends(this.date(one.expires_at)) : t.forever;
  }

  /** @param {Seen | null} seen */
  paydesk(seen) {
    const t = this.words;
    if (!seen) return this.card("paydesk", t.makes, t.makesNote, this.empty(t.noUser));
    const { status, entitlements } = seen;
    const until = status.perpetual ? t.forever : status.expires_at ? this.date(status.expires_at) : "–";
    const facts = /** @type {[string, string][]} */ ([[t.tier, status.tier || "–"], [t.until, until], [t.willRenew, status.will_renew ? t.yes : t.no]]);
    const owned = entitlements.entitlements.map((one) => make("li", { "data-id": one.sku }, mark(one.status, one.sku),
      make("span", { class: "small muted" }, this.owned(one))));
    const balances = Object.entries({ ...entitlements.balances, ...entitlements.sandbox_balances });
    return this.card("paydesk", t.makes, t.makesNote,
      make("div", { class: "pad stack-s" }, make("p", {}, mark(status.active ? "active" : status.status, status.active ? t.active : (t.status[status.status] ?? t.inactive))),
        make("dl", { class: "facts" }, facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])),
        owned.length ? [make("h3", {}, t.entitlements), make("ul", { class: "owned", "data-list": "entitlements" }, owned)] : null,
        balances.length ? [make("h3", {}, t.balances), make("dl", { class: "facts", "data-list": "balances" }, balances.flatMap(([unit, n]) => [make("dt", {}, unit), make("dd", {}, String(n))]))] : null,
        make("details", {}, make("summary", {}, t.raw), make("pre", { class: "wrap", tabindex: 0, "aria-label": t.raw }, JSON.stringify(seen, null, 2)))));
  }
}
