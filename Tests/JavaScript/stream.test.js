// What the user owns, followed by the stream, and by polling where it fails.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Paydesk } from "../../Sources/Pages/Assets/sdk/paydesk.js";
import { eventOf } from "../../Sources/Pages/Assets/sdk/stream.js";

test("blocks of an event stream", () => {
  assert.deepEqual(eventOf('event: entitlements\nid: 17\ndata: {"version":17}'), { event: "entitlements", id: "17", data: '{"version":17}' });
  assert.deepEqual(eventOf("data: a\ndata:b"), { event: "message", id: null, data: "a\nb" });
  for (const nothing of ["retry: 3000", ": still here", ""]) assert.equal(eventOf(nothing), null);
});

/** Versions that a callback hears of, given what each stream does in turn. */
async function followed(streams, enough) {
  let version = 1;
  const asked = [];
  const versions = [];
  const slept = [];
  const done = await new Promise((resolve, reject) => {
    const desk = new Paydesk({
      baseURL: "https://pay.example", token: () => "jwt", locks: null, sleep: async milliseconds => void slept.push(milliseconds),
      fetch: async (address, init) => {
        if (!address.endsWith("/stream")) return new Response(JSON.stringify({ data: { version } }), { headers: { ETag: `"${version}"` } });
        asked.push(new Headers(init.headers).get("last-event-id"));
        const next = streams.shift();
        if (!next) return new Response(new ReadableStream({ start: control => init.signal.addEventListener("abort", () => control.error(new Error("closed"))) }));
        const given = next(value => { version = value; });
        if (given instanceof Error) throw given;
        return given;
      },
    });
    const stop = desk.onEntitlements(owned => {
      versions.push(owned.version);
      if (versions.length === enough) resolve(stop);
    }, { onError: reject });
  });
  done();
  return { versions, asked, slept };
}

const stream = text => new Response(new ReadableStream({ start(control) {
  for (const letter of text) control.enqueue(new TextEncoder().encode(letter));
  control.close();
} }), { headers: { "Content-Type": "text/event-stream" } });

test("each change is told once, and a stream that ends is opened again from its last event", async () => {
  const { versions, asked } = await followed([
    set => { set(3); return stream('retry: 3000\n\nevent: entitlements\nid: 3\ndata: {"version":3}\n\nevent: entitlements\nid: 3\ndata: {"version":3}\n\n'); },
    set => { set(5); return stream('event: entitlements\r\nid: 5\r\ndata: {"version":5}\r\n\r\nevent: bye\ndata: {"reason":"shutdown"}\n\n'); },
  ], 2);
  assert.deepEqual(versions, [3, 5]);
  assert.deepEqual(asked.slice(0, 2), [null, "3"]);
});

test("where the stream fails it is asked for instead", async () => {
  const { versions, slept } = await followed([set => { set(2); return new TypeError("lost"); }, set => { set(4); return new Response("{}", { status: 429, headers: { "Retry-After": "5" } }); }], 2);
  assert.deepEqual(versions, [2, 4]);
  assert.ok(slept.length >= 1);
});
