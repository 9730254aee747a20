// Rules for the files that are served: sizes, imports, and what no module may do under the pages' policy.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

const assets = new URL("../../Sources/Pages/Assets/", import.meta.url);
const files = Object.fromEntries(["sdk", "cashier", "portal", "console", "appstore", "docs"].flatMap(folder => readdirSync(new URL(`${folder}/`, assets)).map(name => [`${folder}/${name}`, readFileSync(new URL(`${folder}/${name}`, assets), "utf8")])));
const modules = Object.entries(files).filter(([name]) => name.endsWith(".js"));

/** What a module loads at once, with itself. */
function loadedBy(name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  for (const [, path] of files[name].matchAll(/^(?:import|export)\b[^;]*?\bfrom\s*"([^"]+)"/gm)) loadedBy(new URL(path, `http://x/${name}`).pathname.slice(1), found);
  return found;
}

test("what one import of paydesk.js loads at once is at most 12 kB", () => {
  const size = [...loadedBy("sdk/paydesk.js")].reduce((sum, name) => sum + gzipSync(files[name]).length, 0);
  assert.ok(size <= 12_000, `${size} bytes`);
  assert.ok(!loadedBy("sdk/paydesk.js").has("sdk/views.js"));
});

test("modules are short, checked, and import only what is there", () => {
  for (const [name, source] of modules) {
    assert.ok(source.split("\n").length <= 300, `${name} has ${source.split("\n").length} lines`);
    assert.match(source, /^\/\/ @ts-check\n/, name);
    for (const [, path] of source.matchAll(/(?:from\s+|import\()"([^"]+)"/g)) {
      if (/"\)\.|types/.test(path) || path === "./paydesk") continue; // a type of the file written by hand
      const target = new URL(path, `http://x/${name}`).pathname.slice(1);
      assert.ok(target in files && target.endsWith(".js"), `${name} imports ${path}`);
      if (name.startsWith("sdk/")) assert.ok(target.startsWith("sdk/"), `${name} leaves its folder`);
    }
  }
});

test("nothing reads text as HTML or as a program, and only Stripe's script is foreign", () => {
  for (const [name, source] of modules) {
    const code = source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
    assert.ok(!/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|setAttribute\("(?:style|on)/.test(code), name);
    for (const [address] of code.matchAll(/https?:\/\/[^"`\s]+/g)) assert.ok(["https://js.stripe.com/v3/", "https://apps.apple.com/account/subscriptions"].includes(address) || address.startsWith("http://www.w3.org/"), `${name}: ${address}`);
    assert.ok(!/console\.(?:log|warn|debug)/.test(code), name);
  }
});

test("styles load nothing, and no letter is below 13 px", () => {
  for (const [name, source] of Object.entries(files).filter(([name]) => name.endsWith(".css"))) {
    assert.ok(!/url\(|@import|data:/.test(source.replace(/\/\*[\s\S]*?\*\//g, "")), name);
    for (const [, size] of source.matchAll(/font-size:\s*([\d.]+)px/g)) assert.ok(Number(size) === 0 || Number(size) >= 13, `${name}: ${size}px`);
  }
});
