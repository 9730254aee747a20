// @ts-check

/** Stripe refuses to be served from anywhere else. */
const SCRIPT = "https://js.stripe.com/v3/";

/** @type {Promise<any> | null} */
let loading = null;

/**
 * Loads Stripe.js once; a failure is forgotten, so that the next try loads it again.
 * @returns {Promise<any>}
 */
async function loadStripe() {
  const known = /** @type {any} */ (globalThis).Stripe;
  if (known) return known;
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = SCRIPT;
    script.async = true;
    script.addEventListener("load", () => {
      const loaded = /** @type {any} */ (globalThis).Stripe;
      if (loaded) resolve(loaded);
      else reject(new Error("Stripe.js did not begin"));
    });
    script.addEventListener("error", () => reject(new Error("Stripe.js could not be loaded")));
    document.head.append(script);
  }).catch(error => {
    loading = null;
    throw error;
  });
  return loading;
}

/**
 * Mounts Stripe's Payment Element.
 * @param {{contract: any, where: HTMLElement, locale: string, returnURL: string, isWanted: () => boolean}} options
 * @returns {Promise<{confirm(): Promise<{message: string} | null>} | null>} confirm answers Stripe's refusal, or null; null
 *   where the place is no longer wanted
 */
export async function mountStripe({ contract, where, locale, returnURL, isWanted }) {
  const Stripe = await loadStripe();
  if (!isWanted()) return null;
  const spoken = locale === "zh-Hans" ? "zh" : "en";
  const stripe = Stripe(contract.stripe.publishable_key, { locale: spoken });
  const elements = stripe.elements({ clientSecret: contract.stripe.client_secret, locale: spoken, appearance: appearanceOf(where) });
  const element = elements.create("payment");
  where.replaceChildren();
  element.mount(where);
  where.removeAttribute("aria-busy");
  return {
    async confirm() {
      const options = { elements, confirmParams: { return_url: returnURL }, redirect: "if_required" };
      const { error } = await (contract.setup ? stripe.confirmSetup(options) : stripe.confirmPayment(options));
      return error ? { message: String(error.message ?? "") } : null;
    },
  };
}

/**
 * The page's own colours for Stripe's frame, which cannot read them.
 * @param {HTMLElement} where
 */
function appearanceOf(where) {
  const style = getComputedStyle(where);
  const probe = (/** @type {string} */ name) => {
    const spot = where.ownerDocument.createElement("span");
    spot.setAttribute("class", `probe-${name}`);
    where.append(spot);
    const colour = getComputedStyle(spot).color;
    spot.remove();
    return colour;
  };
  const dark = globalThis.matchMedia?.("(prefers-color-scheme: dark)").matches;
  return {
    theme: dark ? "night" : "stripe",
    variables: {
      colorPrimary: probe("accent"), colorBackground: probe("surface"), colorText: style.color, colorDanger: probe("bad"),
      fontFamily: style.fontFamily, fontSizeBase: "15px", borderRadius: "8px", spacingUnit: "4px",
    },
  };
}
