// @ts-check
import { pen } from "../sdk/draw.js";

/**
 * Says beside `<main>` that the server does not answer; the text is put into a region that is there from the start, so
 * that it is spoken.
 * @param {HTMLElement} main
 * @param {string} text
 * @returns {(on: boolean) => void}
 */
export function banner(main, text) {
  const { h, icon } = pen({ document: main.ownerDocument, t: {} });
  const box = h("p", { class: "banner", "data-banner": "offline", role: "status", hidden: true });
  main.closest(".page")?.prepend(box);
  return on => {
    if (box.hidden === !on) return;
    box.hidden = !on;
    box.replaceChildren(...(on ? [icon("off"), h("span", null, text)] : []));
  };
}
