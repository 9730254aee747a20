// @ts-check
import { PaydeskError, throwIfAborted } from "./errors.js";

/**
 * Waits; an abort ends it with `aborted`.
 * @param {number} milliseconds
 * @param {AbortSignal | null} [signal]
 * @returns {Promise<void>}
 */
export function sleep(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(new PaydeskError("aborted", { cause: signal.reason }));
    const end = () => {
      clearTimeout(timer);
      reject(new PaydeskError("aborted", { cause: signal?.reason }));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", end, { once: true });
  });
}

/**
 * Waits until the page is seen; at once where there is no page.
 * @param {AbortSignal | null} [signal]
 * @returns {Promise<void>}
 */
export async function visible(signal) {
  while (globalThis.document?.visibilityState === "hidden") {
    throwIfAborted(signal);
    await new Promise(resolve => {
      document.addEventListener("visibilitychange", resolve, { once: true });
      signal?.addEventListener("abort", resolve, { once: true });
    });
  }
  throwIfAborted(signal);
}
