// @ts-check
import { call } from "./api.js";
import { h, icon } from "./dom.js";
import { Fault } from "./fields.js";
import { money, number } from "./format.js";
import { minor } from "./money.js";
import { note } from "./parts.js";
import { stay, wordsOf } from "./result.js";
import { to } from "./router.js";
import { forgetNames, nameOf } from "./names.js";
import { t } from "./text.js";

/** @typedef {import("./dialog.js").Act} Act */
/** @typedef {Record<string, any>} SKU */

/**
 * Who would get it at once: purchases that nobody knew what to do with.
 * @param {{would_grant: any[], would_grant_total: number}} tried
 */
export function wouldGrant(tried) {
  if (tried.would_grant_total === 0) return [h("p", { class: "muted", "data-empty": true }, t("would_nobody"))];
  const users = new Set(tried.would_grant.map(each => each.user_id).filter(Boolean)).size;
  const more = tried.would_grant_total - Math.min(5, tried.would_grant.length);
  return [note("", "people", t("would_count", { count: number(tried.would_grant_total), users: number(users) }), t("would_text")),
    h("ul", { class: "rows small", "data-list": "would_grant" }, tried.would_grant.slice(0, 5).map(each => h("li", { "data-id": each.transaction_id, class: "wrap-any" }, `${each.user_id ?? t("unclaimed")} · ${each.product_id}`)), more > 0 ? h("li", { class: "muted" }, t("and_more", { count: number(more) })) : null)];
}

/**
 * @param {SKU | null} before
 * @param {() => import("./api.js").Request} request
 * @param {() => import("./api.js").Request} dry
 * @param {HTMLFormElement} form
 * @param {() => unknown} reload
 * @returns {Act}
 */
export function saveAct(before, request, dry, form, reload) {
  const would = h("div", { class: "fields" }, h("p", { class: "muted" }, t("loading")));
  const change = request().body;
  const changed = before ? Object.keys(/** @type {object} */ (change)) : [];
  return {
    name: "save", title: before ? t("save_title", { name: nameOf(before) }) : t("save_new_title"), confirm: t("save"), marks: form,
    body: h("div", { class: "fields" }, before ? (changed.length === 0 ? h("p", { class: "muted" }, t("save_nothing")) : h("p", {}, t("save_changes", { fields: changed.map(field => t(`field_${field}`)).join(t("comma")) }))) : null, h("p", { class: "help" }, t("save_text")), would),
    request, done: data => t("save_done", { name: data.name }),
    ready: async () => {
      try {
        would.replaceChildren(...wouldGrant((await call(dry())).data));
      } catch (error) {
        would.replaceChildren(h("p", { class: "error" }, icon("warn", "icon-s"), h("span", {}, wordsOf(error))));
      }
    },
    after: data => {
      forgetNames();
      const address = to("catalogue", data.id);
      if (location.hash === address) return reload();
      stay();
      location.hash = address;
    },
  };
}

/** @param {SKU} sku @returns {Act} */
export const archiveAct = sku => ({
  name: "archive", title: t("archive_title", { name: nameOf(sku) }), isDanger: true, confirm: t("archive_confirm"), body: note("warn", "warn", t("archive_warning"), t("archive_text")),
  type: { id: sku.id, label: t("archive_type") },
  request: () => ({ method: "DELETE", path: ["skus", sku.id] }), done: () => t("archive_done"),
});

/**
 * The price of those who renew now, with notice.
 * @param {SKU} sku
 * @returns {Act}
 */
export const priceChangeAct = sku => ({
  name: "price-change", title: t("price_change_title"), confirm: t("price_change_confirm"), body: note("warn", "warn", t("price_change_warning"), t("price_change_text")),
  fields: [...sku.prices.map(/** @param {any} price @param {number} index */ (price, index) => ({ name: `prices[${index}].value`, label: `${t("price")}, ${price.currency}`, type: "money", currency: price.currency, help: t("price_now", { amount: money(price) }) })),
    { name: "effective_at", label: t("effective_at"), type: "date" }],
  request: values => {
    const prices = sku.prices.flatMap(/** @param {any} price @param {number} index */ (price, index) => {
      const typed = values[`prices[${index}].value`] ?? "";
      if (typed === "") return [];
      const value = minor(typed, price.currency);
      if (value === null) throw new Fault(`prices[${index}].value`, t("fault_amount", { currency: price.currency }));
      return [{ value, currency: price.currency }];
    });
    if (prices.length === 0) throw new Fault("prices[0].value", t("fault_needed"));
    const at = new Date(values.effective_at).getTime();
    if (Number.isNaN(at)) throw new Fault("effective_at", t("fault_needed"));
    return { method: "POST", path: ["skus", sku.id, "price-change"], body: { prices, effective_at: Math.floor(at / 1000) } };
  },
  done: data => t("price_change_done", { count: data.affected ?? 0 }),
});

/** @param {Blob & {name: string}} file @returns {[string, string]} the format, and its media type */
const formatOf = file => (/\.(storekit|json)$/i.test(file.name) ? ["storekit", "application/json"] : ["yaml", "application/yaml"]);

/** @param {string | undefined} text @returns {string[]} */
const lines = text => (text ?? "").split("\n").map(line => line.trim()).filter(line => line !== "");

/** @param {string[]} currencies @returns {Act} */
export function importAct(currencies) {
  /** @param {Record<string, any>} values @param {boolean} isDry @returns {import("./api.js").Request} */
  const request = (values, isDry) => {
    const file = values.file;
    if (!(file instanceof File) || file.size === 0) throw new Fault("file", t("fault_file"));
    const [format, type] = formatOf(file);
    const sent = new File([file], file.name, { type, lastModified: file.lastModified });
    const query = { format, ...(format === "storekit" ? { currency: values.currency, bundle: values.bundle || null, tier: lines(values.tier), days: lines(values.days), units: lines(values.units) } : {}), ...(isDry ? { dry_run: "true" } : {}) };
    return { method: "POST", path: ["catalog", "import"], query, file: sent };
  };
  const tried = h("div", { role: "status" });
  return {
    name: "import", title: t("import_title"), confirm: t("import_confirm"), body: note("", "info", t("import_note"), t("import_text")),
    fields: [
      { name: "file", label: t("import_file"), type: "file", accept: ".yaml,.yml,.storekit,.json" },
      { name: "currency", label: t("import_currency"), type: "select", choices: currencies.map(each => [each, each]), help: t("import_storekit_only") },
      { name: "bundle", label: t("import_bundle"), mono: true, help: t("import_storekit_only") },
      { name: "tier", label: t("import_tier"), type: "area", mono: true, help: t("import_tier_help") },
      { name: "days", label: t("import_days"), type: "area", mono: true, help: t("import_days_help") },
      { name: "units", label: t("import_units"), type: "area", mono: true, help: t("import_units_help") },
    ],
    request: values => request(values, false),
    ready: form => {
      form.querySelector(".dialog-in")?.append(tried);
      let asked = 0;
      form.addEventListener("change", async () => {
        asked += 1;
        const mine = asked;
        const values = Object.fromEntries(new FormData(form));
        try {
          const { data } = await call(request(values, true));
          if (mine === asked) tried.replaceChildren(note("", "info", t("import_would", { added: data.added, changed: data.changed })));
        } catch (error) {
          if (error instanceof Fault) tried.replaceChildren();
          else if (mine === asked) tried.replaceChildren(note("bad", "warn", wordsOf(error)));
        }
      });
    },
    done: data => t("import_done", { added: data.added, changed: data.changed }),
  };
}

