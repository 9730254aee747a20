// @ts-check
import { address } from "./api.js";

/** @typedef {import("./api.js").Request} Request */

/**
 * A text as one word of a POSIX shell.
 * @param {string} text
 */
export const quoted = text => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * The call as a command, with the key's name in the place of the key.
 * @param {Request} request
 * @param {string} origin
 */
export function curl(request, origin) {
  const parts = [`curl -sS ${request.method === "GET" ? "" : `-X ${request.method} `}${quoted(origin + address(request))}`];
  parts.push('-H "Authorization: Bearer $PAYDESK_KEY"');
  if (request.key) parts.push(`-H ${quoted(`Idempotency-Key: ${request.key}`)}`);
  if (request.file) {
    const name = /** @type {any} */ (request.file).name ?? "file";
    parts.push(`-H ${quoted(`Content-Type: ${request.file.type || "application/octet-stream"}`)}`, `--data-binary ${quoted(`@${name}`)}`);
  } else if (request.body !== undefined) {
    parts.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(request.body))}`);
  }
  return parts.join(" \\\n  ");
}

/**
 * The calls of a screen as a command that answers one JSON: the first call, and the further ones as comments.
 * @param {Request[]} requests
 * @param {string} origin
 */
export function curls(requests, origin) {
  const [first = "", ...further] = requests.map(request => curl(request, origin));
  return [first, ...further.map(text => text.replace(/^/gm, "# "))].join("\n\n");
}
