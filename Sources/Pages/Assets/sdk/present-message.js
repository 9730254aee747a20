// @ts-check
import { fill } from "./words.js";
import * as words from "./words.js";
import { back, nameOf, receipt, sum } from "./present-parts.js";

/** Icons and tones by state, and by reason where it has its own; checking has a spinner. */
const SIGNS = /** @type {Record<string, {icon: string, tone: string | null}>} */ ({
  closed: { icon: "clock", tone: null }, "closed:cancelled": { icon: "x", tone: null }, owned: { icon: "star", tone: "good" }, unavailable: { icon: "off", tone: null },
  attention: { icon: "clock", tone: "warn" }, "attention:refunded": { icon: "undo", tone: null }, "attention:partially_refunded": { icon: "undo", tone: null },
  "attention:late_payment": { icon: "undo", tone: null }, "attention:duplicate_payment": { icon: "undo", tone: null }, "attention:duplicate_ownership": { icon: "undo", tone: null },
  "attention:dispute_lost": { icon: "undo", tone: null }, "attention:amount_mismatch": { icon: "alert", tone: "warn" },
  elsewhere: { icon: "window", tone: null }, expired: { icon: "clock", tone: null }, unknown: { icon: "off", tone: null }, busy: { icon: "clock", tone: "warn" }, error: { icon: "alert", tone: "bad" },
});
const BY_REASON = new Set(["closed", "unavailable", "attention"]);

/**
 * The context of message.mustache.
 * @param {import("./present-parts.js").Facts & {number?: string | null}} f
 */
export function message(f) {
  const { t, state, session, reason } = f;
  const key = BY_REASON.has(state) && reason ? `${state}_${reason}` : state;
  const values = { name: state === "owned" ? nameOf(f) : "", amount: state === "attention" ? returned(f) : "", currency: session?.currency ?? "" };
  const told = ["elsewhere", "expired", "unknown", "busy", "error"].includes(state);
  const order = told ? null : session?.order ?? null;
  const manage = state === "owned" && session?.manage === "app_store";
  const support = session?.branding?.support_url ?? null;
  const retry = state === "closed" && session.expires_at > f.now;
  const way = told ? null : back(f, t.back_to ?? "");
  return {
    sign: state === "checking" ? null : SIGNS[`${state}:${reason}`] ?? SIGNS[state] ?? SIGNS.error,
    title: fill(t[`${key}_title`] ?? t.error_title ?? "", values),
    lead: fill((manage ? t.owned_lead_app_store : t[`${key}_lead`]) ?? t.error_lead ?? "", values),
    item: order && (state === "checking" || state === "closed") ? { name: nameOf(f), ...sum(f) } : null,
    number: f.number ?? null,
    receipt: state === "attention" && order && order.status !== "open" && order.status !== "closed" ? receipt(f) : null,
    retry: retry ? (session.skus.length > 1 ? "?view=plans" : "?view=methods") : null,
    back: state === "checking" ? null : way, back_first: !retry, manage_app_store: manage,
    support: support && ["attention", "unavailable", "expired"].includes(state) ? { href: support, text: (state === "attention" ? t.ask_support : t.write_support) ?? "" } : null,
    check: state === "checking", reload: state === "busy" || state === "error" ? f.place.address ?? "?" : null,
    other_method: state === "checking" && order?.next_action === "pay" && session.expires_at > f.now ? "?view=methods" : null,
  };
}

/**
 * What went back, else what was paid.
 * @param {import("./present-parts.js").Facts} f
 */
function returned(f) {
  const back = f.session?.order?.refunded;
  return back?.value > 0 ? words.amount(back, f.locale) : f.session ? sum(f).amount : "";
}
