// @ts-check
import { h } from "./dom.js";
import { number, time } from "./format.js";
import { foot, table } from "./list.js";
import { said, t } from "./text.js";

/**
 * The history of a balance, the newest first, page by page.
 * @param {import("./page.js").Context} context
 * @param {string} user
 * @param {string} unit
 */
export async function history(context, user, unit) {
  const shown = h("div", {});
  /** @param {string | null} cursor */
  const read = async cursor => {
    const page = await context.also(["users", user, "balances", unit, "history"], { limit: "10", cursor });
    if (!page) return;
    shown.replaceChildren(table({ name: "history", caption: t("history_of", { unit }), style: "list cards compact", rows: page.items, id: null, columns: [
      { title: t("history_of", { unit }), style: "s-main tall", cell: row => [row.reason || said("change", row.source?.type), h("span", { class: "sub" }, time(row.at))] },
      { title: t("change"), style: "num s-end", cell: row => (row.amount > 0 ? `+${number(row.amount)}` : number(row.amount)) },
      { title: t("balance"), style: "num s-sub-end muted", cell: row => number(row.balance) },
    ] }));
    if (cursor !== null || page.next_cursor) shown.append(foot(t("newest_first"), page.next_cursor, read));
  };
  await read(null);
  return shown;
}
