// @ts-check
import { PaydeskError } from "./errors.js";
import { failureOf } from "./transport.js";
import { visible } from "./wait.js";

/** Seconds between two questions where the stream fails. */
const POLL = 30;

/**
 * Calls back with the entitlements at the start and after each change: by the stream, by polling where it fails. The
 * stream is closed while the page is hidden.
 * @param {import("./client.js").Paydesk} desk
 * @param {(entitlements: any) => void} callback
 * @param {AbortSignal} signal
 */
export async function followEntitlements(desk, callback, signal) {
  /** @type {string | null} */
  let last = null;
  let version = -1;
  const read = async () => {
    const owned = await desk.entitlements({ signal });
    if (owned.version > version) {
      version = owned.version;
      callback(owned);
    }
  };
  let failures = 0;
  while (!signal.aborted) {
    try {
      await visible(signal);
      /** @type {AsyncGenerator<{event: string, id: string | null, data: string}>} */
      const stream = events(desk, last, signal);
      for await (const event of stream) {
        if (event.event === "bye") break;
        if (event.event !== "entitlements") continue;
        last = event.id ?? last;
        failures = 0;
        await read();
      }
      await desk.transport.sleep(1000, signal);
    } catch (failure) {
      if (signal.aborted) return;
      if (failure instanceof PaydeskError && [400, 401, 403].includes(failure.status) && !(failure.status === 401 && desk.transport.forgetToken() && failures === 0)) throw failure;
      failures += 1;
      await read().catch(error => {
        if (signal.aborted || !(error instanceof PaydeskError) || error.status === 401) throw error;
      });
      const after = failure instanceof PaydeskError && failure.retryAfter ? failure.retryAfter : POLL;
      await desk.transport.sleep(Math.min(after, failures === 1 ? 3 : POLL) * 1000, signal).catch(() => undefined);
    }
  }
}

/**
 * The stream's events, until it ends or the page is hidden.
 * @param {import("./client.js").Paydesk} desk
 * @param {string | null} last
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<{event: string, id: string | null, data: string}>}
 */
async function* events(desk, last, signal) {
  const end = new AbortController();
  const stop = () => end.abort();
  const hide = () => globalThis.document?.visibilityState === "hidden" && end.abort();
  signal.addEventListener("abort", stop, { once: true });
  globalThis.document?.addEventListener("visibilitychange", hide);
  try {
    /** @type {Record<string, string>} */
    const headers = { Accept: "text/event-stream", Authorization: `Bearer ${await desk.transport.token()}` };
    if (last !== null) headers["Last-Event-ID"] = last;
    const response = await desk.transport.fetch(`${desk.baseURL}/v1/public/stream`, { headers, signal: end.signal, cache: "no-store", credentials: "omit" });
    if (!response.ok) throw await failureOf(response);
    if (!response.body) throw new PaydeskError("network");
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      // A carriage return at the end may be half of a line's end.
      rest = (rest + decoder.decode(value, { stream: true })).replace(/\r\n|\r(?!$)/g, "\n");
      const blocks = rest.split("\n\n");
      rest = blocks.pop() ?? "";
      if (rest.length > 65536) throw new PaydeskError("network");
      for (const block of blocks) {
        const event = eventOf(block);
        if (event) yield event;
      }
    }
  } catch (failure) {
    if (!end.signal.aborted || signal.aborted) throw failure;
  } finally {
    end.abort();
    signal.removeEventListener("abort", stop);
    globalThis.document?.removeEventListener("visibilitychange", hide);
  }
}

/**
 * One block of an event stream; a comment or `retry` alone is null.
 * @param {string} block
 * @returns {{event: string, id: string | null, data: string} | null}
 */
export function eventOf(block) {
  let event = "message";
  /** @type {string | null} */
  let id = null;
  const data = [];
  for (const line of block.split("\n")) {
    const [, name, value] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (name === "event" && value) event = value;
    else if (name === "id") id = value ?? "";
    else if (name === "data") data.push(value ?? "");
  }
  return data.length === 0 ? null : { event, id, data: data.join("\n") };
}
