// The documentation's search: what it finds, in which order, and what is shown of it. It is a plain script, so it runs in a
// context of its own here, with as much of a page as it needs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createContext, runInContext } from "node:vm";

const source = readFileSync(new URL("../../Sources/Pages/Assets/docs/docs.js", import.meta.url), "utf8");
const page = createContext({ document: { querySelector: () => null } });
runInContext(source, page);

const entries = [
  ["/docs/en/api", "The HTTP API", "The HTTP API", "Every route, its parameters, answers and errors."],
  ["/docs/en/api#2-errors", "2. Errors", "The HTTP API", "error is one of a closed list; details is an object."],
  ["/docs/en/errors#order_not_found", "order_not_found", "Errors", "Forget the order's id."],
  ["/docs/en/domain#refunds", "Refunds", "Domain rules", `${"word ".repeat(60)}a refund that fails later leads back ${"word ".repeat(60)}`],
  ["/docs/zh-Hans/overview", "概览", "概览", "客户端发起结账，得到一份带类型的支付合约"],
];
const found = text => page.paydeskFind(entries, text).map(each => each.address);

test("a title comes before a page's name, and that before the text", () => {
  const table = [["errors", ["/docs/en/api#2-errors", "/docs/en/errors#order_not_found", "/docs/en/api"]], ["order_not_found", ["/docs/en/errors#order_not_found"]], ["ERRORS http", ["/docs/en/api#2-errors", "/docs/en/api"]],
    ["refund", ["/docs/en/domain#refunds"]], ["errors refund", []], ["支付合约", ["/docs/zh-Hans/overview"]], ["nothing", []], ["", []], ["   ", []], ["(", []], ["<b>", []]];
  for (const [text, expected] of table) assert.deepEqual([...found(text)], expected, text);
});

test("what is shown is the text around the word, in three parts", () => {
  const [hit] = page.paydeskFind(entries, "REFUND");
  assert.equal(hit.match, "refund");
  assert.match(hit.before, /^… word .* a $/);
  assert.ok(hit.before.length <= 64 && hit.after.length <= 62);
  assert.match(hit.after, / …$/);
  const [title] = page.paydeskFind(entries, "order_not_found");
  assert.deepEqual([title.before, title.match, title.after], ["Forget the order's id.", "", ""]);
});

test("at most twenty are found", () => {
  const many = Array.from({ length: 50 }, (_, index) => [`/docs/en/a#${index}`, "same", "page", "text"]);
  assert.deepEqual([...page.paydeskFind(many, "same").map(each => each.address)], many.slice(0, 20).map(each => each[0]));
});
