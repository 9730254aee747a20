// @ts-check
import { Fault, needed } from "./fields.js";
import { h } from "./dom.js";
import { time } from "./format.js";
import { foot, table } from "./list.js";
import { page } from "./page.js";
import { dot, empty, facts, note } from "./parts.js";
import { to } from "./router.js";
import { session } from "./session.js";
import { said, t } from "./text.js";

const SCOPES = ["admin", "admin:read", "entitlements:read", "entitlements:write", "orders:read", "checkout:write", "refunds:write", "events:read", "webhooks:write"];

/**
 * Who may call.
 * @param {import("./page.js").Context} context
 */
export async function keys(context) {
  const found = await context.get(["api-keys"], { cursor: context.query.get("cursor") });
  const list = found.items.length === 0 ? empty("keys", t("keys_none_title"), t("keys_none_text")) : [table({ name: "keys", caption: t("nav_keys"), rows: found.items, columns: [
    { title: t("name"), style: "s-main tall", cell: row => [h("span", { class: "clip what", "data-field": "name", title: row.name }, row.name), row.id === session.who?.key_id ? h("span", { class: "sub" }, t("this_key")) : null] },
    { title: t("state"), style: "s-sub", cell: row => keyState(row) }, { title: t("may"), style: "s-third tall", cell: row => h("span", { "data-field": "scopes" }, row.scopes.map(/** @param {string} scope */ scope => said("scope", scope.replace(":", "_"))).join(t("comma"))) },
    { title: t("partner"), style: "s-none s-wide muted", cell: row => h("span", { class: "clip user" }, row.partner) }, { title: t("last_used"), style: "num s-sub-end nowrap", cell: row => (row.last_used_at ? time(row.last_used_at, { field: "last_used_at" }) : h("span", { class: "muted" }, t("never"))) },
    { title: t("ends"), style: "num s-none nowrap muted", cell: row => (row.expires_at ? time(row.expires_at, { field: "expires_at" }) : t("never")) },
    { title: t("act"), hidden: true, style: "num s-act", cell: row => (row.revoked_at ? null : context.act(t("revoke_key"), () => revokeAct(row), { name: "revoke-key", look: "small danger" })) },
  ] }), foot(t("newest_first"), found.next_cursor, cursor => {
    location.hash = to("keys", null, { cursor });
  })];
  return page(context, { title: t("nav_keys"), lead: t("keys_lead"), acts: context.act(t("add_key"), addAct, { name: "add-key", look: "primary", symbol: "plus" }) }, h("section", { class: "card" }, list));
}

/** @param {any} row */
function keyState(row) {
  const data = { "data-field": "status" };
  if (row.revoked_at) return dot("idle", t("key_revoked"), data);
  if (row.expires_at && row.expires_at <= Date.now() / 1000) return dot("idle", t("key_ended"), data);
  return row.last_used_at ? dot("good", t("key_works"), data) : dot("warn", t("key_unused"), data);
}

/** @returns {import("./dialog.js").Act} */
const addAct = () => ({
  name: "add-key", title: t("add_key_title"), confirm: t("add_key_confirm"),
  fields: [
    { name: "name", label: t("name"), help: t("key_name_help") }, { name: "partner", label: t("partner"), help: t("key_partner_help") },
    { name: "scopes", label: t("may"), type: "checks", choices: SCOPES.map(scope => [scope, said("scope", scope.replace(":", "_"))]) }, { name: "expires_at", label: t("ends"), type: "date", help: t("key_ends_help") },
  ],
  request: values => {
    const body = /** @type {Record<string, unknown>} */ ({ name: needed(values, "name") });
    if (values.partner) body.partner = values.partner;
    if (!values.scopes) throw new Fault("scopes", t("fault_scopes"));
    body.scopes = values.scopes.split(",");
    if (values.expires_at) body.expires_at = Math.floor(new Date(values.expires_at).getTime() / 1000);
    return { method: "POST", path: ["api-keys"], body };
  },
  secret: data => ({ title: t("key_secret_title", { name: data.name }), text: t("key_secret_text"), value: data.key, after: facts([[t("may"), data.scopes.map(/** @param {string} scope */ scope => said("scope", scope.replace(":", "_"))).join(t("comma"))], [t("partner"), data.partner]], "facts tight") }),
  done: data => t("add_key_done", { name: data.name }),
});

/** @param {any} key @returns {import("./dialog.js").Act} */
const revokeAct = key => ({
  name: "revoke-key", title: t("revoke_key_title", { name: key.name }), isDanger: true, confirm: t("revoke_key_confirm"), body: note("warn", "warn", t("revoke_key_warning"), key.id === session.who?.key_id ? t("revoke_own_key") : t("revoke_key_text")),
  type: { id: key.id, label: t("revoke_key_type") }, request: () => ({ method: "DELETE", path: ["api-keys", key.id] }), done: () => t("revoke_key_done", { name: key.name }),
});
