// @ts-check
import { CallError, call, freshKey } from "./api.js";
import { curl } from "./curl.js";
import { h, icon, unique } from "./dom.js";
import { Fault, fieldRow, mark, unmark, valuesOf } from "./fields.js";
import { copyable, note } from "./parts.js";
import { clear, fail, show, wordsOf } from "./result.js";
import { t } from "./text.js";

/**
 * @typedef {object} Act an act with its dialog
 * @property {string} name `data-action`
 * @property {string} title
 * @property {import("./dom.js").Child} [body] what will happen, before the fields
 * @property {import("./fields.js").Field[]} [fields]
 * @property {string} confirm the words of its button
 * @property {(values: Record<string, any>) => string} [label] those words by what is typed
 * @property {string} [cancel]
 * @property {boolean} [isDanger]
 * @property {{id: string, label: string, when?: (values: Record<string, any>) => boolean}} [type] an id that must be typed
 * @property {(values: Record<string, any>) => import("./api.js").Request} request throws `Fault` for a value that cannot be sent
 * @property {(data: any, values: Record<string, any>) => string} done the outcome in words
 * @property {(data: any) => {title: string, text: string, value: string, after?: import("./dom.js").Child} | null} [secret] what is shown this once
 * @property {(data: any) => unknown} [after] in the place of reading the screen again
 * @property {(form: HTMLFormElement) => unknown} [ready]
 * @property {HTMLFormElement} [marks] the form whose fields a refusal marks beside the dialog's own
 */

/** Closes every dialog, as when the screen is left. */
export function closeAll() {
  for (const each of Array.from(document.querySelectorAll("dialog[open]"))) /** @type {HTMLDialogElement} */ (each).close();
}

/**
 * Opens the dialog of an act.
 * @param {Act} act
 * @param {() => unknown} reload reads the screen again
 */
export function open(act, reload) {
  clear();
  const opener = /** @type {HTMLElement | null} */ (document.activeElement);
  // One key for what is typed: sending it again, or going back to it, is the same act.
  const keys = new Map();
  /** @param {import("./api.js").Request} request */
  const keyed = request => {
    const file = /** @type {File | undefined} */ (request.file);
    const text = JSON.stringify([request.path, request.query, request.body, file?.name, file?.size, file?.lastModified]);
    if (!keys.has(text)) keys.set(text, freshKey());
    return { ...request, key: keys.get(text) };
  };
  const title = unique("dialog");
  const confirm = h("button", { type: "submit", class: `button primary${act.isDanger ? " danger" : ""}`, "data-action": "confirm" }, act.confirm);
  const shown = h("pre", { class: "wrap", "data-curl": true, tabindex: "0", "aria-label": "curl", hidden: true, id: unique("curl") });
  const toggle = h("button", { type: "button", class: "button quiet small start", "data-action": "curl", "aria-expanded": "false", "aria-controls": shown.id, onclick: () => {
    shown.hidden = !shown.hidden;
    toggle.setAttribute("aria-expanded", String(!shown.hidden));
    look();
  } }, icon("code", "icon-s"), "curl");
  const typed = act.type ? h("div", { class: "field-row", "data-type-id": true }, fieldRow({ name: "confirm", label: act.type.label, mono: true }), h("p", { class: "help" }, h("code", {}, act.type.id))) : null;
  const form = h("form", { method: "dialog", novalidate: true, onsubmit: submit, oninput: look },
    h("div", { class: "dialog-in" }, h("h2", { id: title, tabindex: "-1" }, act.title), act.body ?? null, (act.fields ?? []).map(fieldRow), typed, h("div", { "data-outcome": true }), shown),
    h("div", { class: "dialog-foot" }, toggle, h("button", { type: "button", class: "button", "data-action": "cancel", onclick: () => dialog.close() }, act.cancel ?? t("cancel")), confirm));
  const dialog = h("dialog", { "data-dialog": act.name, "aria-labelledby": title, onclose: () => {
    dialog.remove();
    if (opener?.isConnected) opener.focus();
  } }, form);

  function look() {
    const values = valuesOf(form);
    if (typed) typed.hidden = !(act.type?.when?.(values) ?? true);
    if (act.label && confirm.getAttribute("aria-busy") !== "true") confirm.textContent = act.label(values);
    if (shown.hidden) return;
    try {
      shown.textContent = curl(keyed(act.request(values)), location.origin);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      shown.textContent = `# ${error.field}: ${error.message}`;
    }
  }

  /** @param {unknown} error */
  function refuse(error) {
    if (error instanceof Fault) {
      if (!mark(form, error.field, error.message) && act.marks) {
        dialog.close();
        mark(act.marks, error.field, error.message);
      }
      return;
    }
    fail(error, form.querySelector("[data-outcome]"));
    const field = error instanceof CallError && error.status !== 0 ? error.details.field : undefined;
    if (typeof field === "string" && !mark(form, field, wordsOf(error)) && act.marks) mark(act.marks, field, wordsOf(error));
  }

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    if (confirm.getAttribute("aria-busy") === "true") return;
    unmark(form);
    if (act.marks) unmark(act.marks);
    const values = valuesOf(form);
    try {
      const request = keyed(act.request(values));
      if (typed && !typed.hidden && values.confirm !== act.type?.id) throw new Fault("confirm", t("fault_confirm"));
      confirm.setAttribute("aria-busy", "true");
      const reply = await call(request);
      finish(reply, values);
    } catch (error) {
      confirm.removeAttribute("aria-busy");
      // The sign-in page stands there now.
      if (error instanceof CallError && error.status === 401) dialog.close();
      if (dialog.open || error instanceof Fault) refuse(error);
    }
  }

  /** @param {import("./api.js").Reply} reply @param {Record<string, any>} values */
  function finish(reply, values) {
    dialog.close();
    const secret = act.secret?.(reply.data) ?? null;
    if (secret) reveal(secret);
    show("ok", act.done(reply.data, values), { requestID: reply.requestID });
    if (act.after) act.after(reply.data);
    else reload();
  }

  document.body.append(dialog);
  act.ready?.(form);
  look();
  dialog.showModal();
  const first = /** @type {HTMLElement | null} */ (form.querySelector("input:not([readonly]), select, textarea"));
  (first && first.closest("[hidden]") === null ? first : act.isDanger ? form.querySelector("h2") : confirm)?.focus();
}

/**
 * Shows what no call tells again.
 * @param {{title: string, text: string, value: string, after?: import("./dom.js").Child}} secret
 */
function reveal(secret) {
  const title = unique("dialog");
  const dialog = h("dialog", { "data-dialog": "secret", "aria-labelledby": title, onclose: () => dialog.remove() },
    h("form", { method: "dialog" },
      h("div", { class: "dialog-in" }, h("h2", { id: title, tabindex: "-1" }, secret.title), note("warn", "warn", t("secret_once"), secret.text),
        copyable(secret.value, t("copy"), { isSecret: true }), secret.after ?? null, h("div", { "data-outcome": true })),
      h("div", { class: "dialog-foot" }, h("button", { type: "submit", class: "button primary", "data-action": "cancel" }, t("secret_kept")))));
  document.body.append(dialog);
  dialog.showModal();
  dialog.querySelector("h2")?.focus();
}
