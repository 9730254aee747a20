// @ts-check
import { call } from "./api.js";
import { open } from "./dialog.js";
import { h, icon } from "./dom.js";
import { Fault, mark, unmark, valuesOf } from "./fields.js";
import { days, either, money, number } from "./format.js";
import { nameOf } from "./names.js";
import { page } from "./page.js";
import { button, card, facts, note, state } from "./parts.js";
import { fail, show, wordsOf } from "./result.js";
import { to } from "./router.js";
import { mayAct } from "./session.js";
import { archiveAct, priceChangeAct, saveAct, wouldGrant } from "./acts-sku.js";
import { appleProducts } from "./sku-apple.js";
import { kindCard, moreCard, namesCard, priceCard } from "./sku-form.js";
import { offerRows } from "./sku-offers.js";
import { fresh, has, newBody, patch, skuOf } from "./sku-model.js";
import { said, t } from "./text.js";

/** @typedef {import("./page.js").Context} Context */
/** @typedef {Record<string, any>} SKU */

/**
 * The editor of a SKU, `new` for one that is not there yet.
 * @param {Context} context
 */
export async function sku(context) {
  const isNew = context.id === "new";
  const before = isNew ? null : await context.get(["skus", context.id]);
  const [skus, waiting] = await Promise.all([context.also(["skus"], { limit: "200" }), context.also(["products", "waiting"], { limit: "200" })]);
  if (isNew) context.reads.push({ method: "GET", path: ["skus"], query: { limit: "200" } });
  const editor = new Editor(context, before, { skus: skus?.items ?? [], waiting: waiting?.items ?? [] });
  return editor.page();
}

class Editor {
  /** @param {Context} context @param {SKU | null} before @param {{skus: any[], waiting: any[]}} known */
  constructor(context, before, known) {
    this.context = context;
    this.before = before;
    this.isFixed = !mayAct();
    this.known = { ...known, isFixed: this.isFixed, signal: context.signal };
    this.sku = before ?? fresh(context.query);
    this.form = h("form", { class: "stack", id: "sku-form", novalidate: true, onsubmit: /** @param {Event} event */ event => {
      event.preventDefault();
      this.save();
    }, oninput: () => this.look() });
    this.save_ = this.isFixed ? null : h("button", { type: "submit", form: "sku-form", class: "button primary", "data-action": "save" }, t("save"));
    this.gets = h("div", { class: "pad fields" });
    this.would = h("div", { class: "pad fields" }, h("p", { class: "muted" }, t("dry_run_text")));
    this.fill();
  }

  /** Draws the form of the SKU's kind. */
  fill() {
    const summary = h("summary", {}, icon("chev", "icon-s turn"), t("further"));
    this.form.replaceChildren(kindCard(this.sku, this.before === null, this.isFixed, kind => this.choose(kind)), priceCard(this.sku, this.isFixed), namesCard(this.sku, this.isFixed),
      card(t("in_app_store"), {}, appleProducts(this.sku, this.known), has(this.sku.kind, "offers") ? h("div", { class: "pad fields" }, offerRows(this.sku.offers ?? [], this.isFixed)) : null), moreCard(this.sku, this.isFixed, summary));
    this.look();
  }

  /**
   * Another kind has other fields; what both have stays.
   * @param {string} kind
   */
  choose(kind) {
    const values = valuesOf(this.form);
    const typed = Object.fromEntries(["id", "name", "description", "tier"].filter(name => name in values).map(name => [name, values[name]]));
    let read = {};
    try {
      read = skuOf({ ...values, id: "x", name: "x" });
    } catch (error) {
      // What cannot be read yet, as half an amount, is left out.
      if (!(error instanceof Fault)) throw error;
    }
    this.sku = { ...this.sku, ...read, ...typed, kind };
    this.fill();
    /** @type {HTMLElement | null} */ (this.form.querySelector("[name=kind]"))?.focus();
  }

  /**
   * What is typed.
   * @returns {SKU}
   */
  typed() {
    return skuOf(valuesOf(this.form));
  }

  /**
   * The call that would save it.
   * @param {boolean} isDry
   * @returns {import("./api.js").Request}
   */
  request(isDry) {
    const after = this.typed();
    const query = isDry ? { dry_run: "true" } : {};
    if (this.before === null) return { method: "POST", path: ["skus"], query, body: newBody(after) };
    return { method: "PATCH", path: ["skus", this.before.id], query, body: patch(this.before, after) };
  }

  /** Says what the customer gets, and how much was changed. */
  look() {
    let after = null;
    try {
      after = this.typed();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
    }
    if (after) {
      const count = this.before ? Object.keys(patch(this.before, after)).length : 0;
      if (this.save_ && this.before) this.save_.textContent = count === 0 ? t("save") : count === 1 ? t("save_one") : t("save_count", { count: number(count) });
    }
    this.gets.replaceChildren(...summaryOf(after ?? this.sku));
  }

  /** @param {unknown} error */
  refuse(error) {
    if (error instanceof Fault) {
      mark(this.form, error.field, error.message);
      return;
    }
    fail(error);
    const field = /** @type {any} */ (error).details?.field;
    if (typeof field === "string") mark(this.form, field, wordsOf(error));
  }

  async dryRun() {
    unmark(this.form);
    try {
      const reply = await call(this.request(true), this.context.signal);
      this.would.replaceChildren(...wouldGrant(reply.data));
      show("ok", t("dry_run_done"), { requestID: reply.requestID });
    } catch (error) {
      if (!this.context.signal.aborted) this.refuse(error);
    }
  }

  save() {
    if (this.isFixed) return;
    unmark(this.form);
    try {
      this.request(false);
    } catch (error) {
      return this.refuse(error);
    }
    open(saveAct(this.before, () => this.request(false), () => this.request(true), this.form, () => this.context.reload()), this.context.reload);
  }

  page() {
    const { before, context } = this;
    const title = before ? nameOf(before) : t("new_sku");
    return page(context, { title, crumbs: [[t("nav_catalogue"), to("catalogue")]], lead: before ? before.id : t("new_sku_lead"),
      beside: before ? state("sku", before.active ? "on_sale" : "archived") : null,
      acts: [
        before && before.active ? context.act(t("archive"), () => archiveAct(before), { name: "archive", look: "danger" }) : null,
        before && before.renewal === "managed" ? context.act(t("price_change"), () => priceChangeAct(before), { name: "price-change" }) : null, this.save_,
      ] },
      h("div", { class: "grid-main" }, this.form, h("div", { class: "stack sticky" }, card(t("customer_gets"), {}, this.gets),
        this.isFixed ? null : card(t("would_get"), { acts: button("dry-run", t("dry_run"), () => this.dryRun(), { look: "small" }) }, this.would))));
  }
}

/**
 * What the customer gets, in words.
 * @param {SKU} sku
 */
function summaryOf(sku) {
  const name = sku.tier || sku.name || sku.id || "…";
  const lengths = (sku.options ?? []).map(/** @param {any} option */ option => days(option.days));
  const length = sku.duration_days ? days(sku.duration_days) : lengths.length > 0 ? either(lengths) : t("some_days");
  const units = Object.entries(sku.units ?? {}).map(([unit, count]) => `${number(Number(count))} ${unit}`).join(t("comma"));
  const sentence = sku.kind === "consumable" ? t("gets_units", { units: units || "…" }) : t(`gets_${sku.kind}`, { name, length });
  const prices = [...(sku.prices ?? []), ...(sku.options ?? []).flatMap(/** @param {any} option */ option => option.prices)];
  return [h("p", {}, sentence), prices.length === 0 ? note("warn", "warn", t("gets_no_price")) : null, facts([
    [t("price"), prices.length === 0 ? "–" : prices.slice(0, 6).map(/** @param {any} price */ price => money(price)).join(t("comma"))],
    [t("renews"), t(sku.kind === "subscription" ? "renews_apple" : "no")],
    units && sku.kind !== "consumable" ? [t("units"), units] : null,
    has(sku.kind, "on_refund") ? [t("full_refund"), said("on_refund", sku.on_refund ?? "revoke")] : null,
    [t("app_store"), (sku.apple_product_ids ?? []).length === 0 ? t("no") : (sku.apple_product_ids ?? []).join(t("comma"))],
  ], "facts tight")].filter(each => each !== null);
}
