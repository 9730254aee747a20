// @ts-check

/** @type {Map<string, Promise<import("./words.js").Texts>>} */
const loaded = new Map();

/**
 * One of the two languages for a locale or the browser's.
 * @param {string | null | undefined} locale
 * @returns {"en" | "zh-Hans"}
 */
export function language(locale) {
  return /^zh\b/i.test(locale || (globalThis.navigator?.language ?? "en")) ? "zh-Hans" : "en";
}

/**
 * A language's table, which lies beside this module.
 * @param {string} locale
 * @returns {Promise<import("./words.js").Texts>}
 */
export function loadTexts(locale) {
  const name = language(locale);
  let table = loaded.get(name);
  if (!table) {
    table = fetch(new URL(`./${name}.json`, import.meta.url), { credentials: "omit" }).then(answer => {
      if (!answer.ok) throw new Error(`${name}.json: HTTP ${answer.status}`);
      return answer.json();
    });
    table.catch(() => loaded.delete(name));
    loaded.set(name, table);
  }
  return table;
}

/**
 * The styles of the pages for a shadow root; they lie beside this module.
 * @param {ShadowRoot} root
 * @param {string | null} [accent]
 */
export async function addStyles(root, accent = null) {
  const texts = await Promise.all(["tokens.css", "pay.css", "element.css"].map(async name => (await fetch(new URL(`./${name}`, import.meta.url), { credentials: "omit" })).text()));
  if (accent && /^#[0-9a-f]{6}$/i.test(accent)) texts.push(theme(accent));
  root.adoptedStyleSheets = texts.map(text => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    return sheet;
  });
}

/**
 * The shop's accent with white on it where that can be read (4.5:1), else black; a page's own accent wins.
 * @param {string} accent
 */
export function theme(accent) {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map(at => {
    const part = Number.parseInt(accent.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const light = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  const text = 1.05 / (light + 0.05) >= 4.5 ? "#ffffff" : "#000000";
  return `:host { --accent: var(--paydesk-accent, ${accent}); --accent-text: ${text}; }`;
}
