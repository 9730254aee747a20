// @ts-check
// The documentation's search. A plain script and no module, so that it works in pages that are opened as files, too.
(() => {
  /** A section: its address, its title, the page that it is on, and its text.
   * @typedef {[address: string, title: string, page: string, text: string]} Entry */
  /** @typedef {{ address: string, title: string, page: string, before: string, match: string, after: string }} Found */

  const MOST = 20;
  const AROUND = 60;

  /** Finds the sections that have every word of a text, the best first.
   * @param {Entry[]} entries @param {string} text @returns {Found[]} */
  function find(entries, text) {
    const words = text.toLowerCase().split(/\s+/).filter(word => word !== "");
    if (words.length === 0) return [];
    /** @type {{ entry: Entry, score: number }[]} */
    const found = [];
    for (const entry of entries) {
      const [title, page, body] = [entry[1].toLowerCase(), entry[2].toLowerCase(), entry[3].toLowerCase()];
      let score = 0;
      for (const word of words) {
        const own = title === word ? 40 : title.startsWith(word) ? 20 : title.includes(word) ? 12 : page.includes(word) ? 6 : body.includes(word) ? 2 : 0;
        score = own === 0 || score < 0 ? -1 : score + own;
      }
      if (score > 0) found.push({ entry, score });
    }
    // The order of the pages decides among equals, because sorting is stable.
    found.sort((a, b) => b.score - a.score);
    return found.slice(0, MOST).map(({ entry }) => ({ address: entry[0], title: entry[1], page: entry[2], ...excerpt(entry[3], words) }));
  }

  /** The text around the first word that it has.
   * @param {string} text @param {string[]} words */
  function excerpt(text, words) {
    const lower = text.toLowerCase();
    const word = words.find(each => lower.includes(each));
    if (word === undefined) return { before: text.slice(0, 2 * AROUND), match: "", after: "" };
    const at = lower.indexOf(word);
    const start = at <= AROUND ? 0 : text.indexOf(" ", at - AROUND) + 1 || at - AROUND;
    const from = start > at ? at - AROUND : start;
    const rest = text.slice(at + word.length, at + word.length + AROUND);
    const cut = rest.length < AROUND ? 0 : rest.lastIndexOf(" ");
    return { before: (from > 0 ? "… " : "") + text.slice(from, at), match: text.slice(at, at + word.length), after: cut > 0 ? `${rest.slice(0, cut)} …` : rest };
  }

  const page = /** @type {any} */ (globalThis);
  page.paydeskFind = find;

  const rail = document.querySelector("[popover]");
  const current = rail?.querySelector("[aria-current]");
  /** The page's place in the contents may lie far below the first one. */
  function showPlace() {
    if (rail && current instanceof HTMLElement) rail.scrollTop = current.offsetTop - rail.clientHeight / 3;
  }
  showPlace();
  rail?.addEventListener("toggle", showPlace);
  rail?.addEventListener("click", event => {
    // A link to a section of this page leaves the contents open over it.
    if (event.target instanceof Element && event.target.closest("a") && rail.matches(":popover-open")) /** @type {any} */ (rail).hidePopover();
  });

  const search = /** @type {HTMLElement | null} */ (document.querySelector("[data-search]"));
  if (!search) return;
  const field = /** @type {HTMLInputElement} */ (search.querySelector("input"));
  const list = /** @type {HTMLElement} */ (search.querySelector("[data-field=results]"));
  const status = /** @type {HTMLElement} */ (search.querySelector("[data-field=status]"));
  const { index, none, one, some } = search.dataset;
  search.hidden = false;

  let isAsked = false;
  /** Loads the index, once; the page's policy lets no other script in. */
  function load() {
    if (isAsked || index === undefined) return;
    isAsked = true;
    const script = document.createElement("script");
    const policy = page.trustedTypes?.createPolicy("docs", { createScriptURL: () => index });
    script.src = policy ? policy.createScriptURL("") : index;
    script.addEventListener("load", show);
    document.head.append(script);
  }

  function show() {
    const isEmpty = field.value.trim() === "";
    const found = isEmpty ? [] : find(page.paydeskDocs ?? [], field.value);
    list.replaceChildren(...found.map(item));
    list.hidden = found.length === 0;
    status.textContent = isEmpty || page.paydeskDocs === undefined ? "" : found.length === 0 ? none ?? "" : found.length === 1 ? one ?? "" : (some ?? "").replace("{count}", String(found.length));
    status.classList.toggle("visually-hidden", found.length > 0 || status.textContent === "");
  }

  /** @param {Found} found */
  function item(found) {
    const link = document.createElement("a");
    link.href = found.address;
    const title = document.createElement("b");
    title.textContent = found.title;
    const place = document.createElement("span");
    place.className = "place";
    place.textContent = found.page;
    const text = document.createElement("span");
    text.className = "excerpt";
    const mark = document.createElement("mark");
    mark.textContent = found.match;
    text.append(found.before, ...(found.match === "" ? [] : [mark]), found.after);
    link.append(title, ...(found.page === found.title ? [] : [place]), text);
    const line = document.createElement("li");
    line.append(link);
    return line;
  }

  function close() {
    list.hidden = true;
    status.textContent = "";
    status.classList.add("visually-hidden");
  }

  field.addEventListener("focus", () => { load(); show(); });
  field.addEventListener("input", () => { load(); show(); });
  search.addEventListener("submit", event => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  search.addEventListener("keydown", event => {
    if (event.key === "Escape") {
      close();
      field.focus();
      return close();
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const links = [...list.querySelectorAll("a")];
    const at = links.indexOf(/** @type {HTMLAnchorElement} */ (document.activeElement));
    const next = event.key === "ArrowDown" ? links[at + 1] : at <= 0 ? field : links[at - 1];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  document.addEventListener("click", event => {
    if (!(event.target instanceof Node && search.contains(event.target))) close();
    else if (event.target instanceof Element && event.target.closest("a")) close();
  });
})();
