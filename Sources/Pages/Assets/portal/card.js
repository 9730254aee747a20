// @ts-check
import { mountStripe } from "../sdk/pay-stripe.js";
import { alertBox } from "../sdk/view-parts.js";
import { pen } from "../sdk/draw.js";

/**
 * A card's form for a new payment method, or for a renewal that is paid here.
 * @param {HTMLElement} section
 * @param {{t: import("../sdk/words.js").Texts, locale: string, address: string, done: () => void}} page done: the payer has acted
 */
export async function cardForm(section, { t, locale, address, done }) {
  const where = /** @type {HTMLElement | null} */ (section.querySelector('[data-field="payment-element"]'));
  const button = /** @type {HTMLButtonElement | null} */ (section.querySelector('[data-action="pay"]'));
  const { key, secret } = section.dataset;
  if (!where || !button || !key || !secret) return;
  const p = pen({ document, t });
  const alert = (/** @type {import("../sdk/present-parts.js").Alert | null} */ words) => {
    section.querySelector('[role="alert"]')?.remove();
    const box = alertBox(p, words);
    if (box) section.querySelector("h1")?.before(box);
  };
  const contract = { setup: section.dataset.replaces !== undefined, stripe: { publishable_key: key, client_secret: secret } };
  const form = await mountStripe({ contract, where, locale, returnURL: address, isWanted: () => where.isConnected }).catch(() => {
    where.removeAttribute("aria-busy");
    alert({ reason: "provider_unavailable", title: t.stripe_not_loaded ?? "", text: t.stripe_not_loaded_text });
    return null;
  });
  if (!form) return;
  button.disabled = false;
  button.addEventListener("click", async () => {
    if (button.getAttribute("aria-busy") === "true") return;
    button.setAttribute("aria-busy", "true");
    alert(null);
    const refusal = await form.confirm().catch(() => ({ message: "" }));
    if (!refusal) return done();
    button.removeAttribute("aria-busy");
    alert({ reason: "refused", title: refusal.message || (t.alert_refused ?? ""), text: null });
  });
}
