// @ts-check

/**
 * An answer that is not a success, or no answer.
 * `error` is an id of docs/api.md, section 2, or `network` (no answer) or `aborted`; `status` is 0 without an answer.
 */
export class PaydeskError extends Error {
  /**
   * @param {string} error
   * @param {{status?: number, requestId?: string | null, details?: Record<string, any>, message?: string, retryAfter?: number | null, cause?: unknown}} [more]
   */
  constructor(error, more = {}) {
    super(more.message || error, "cause" in more ? { cause: more.cause } : undefined);
    this.name = "PaydeskError";
    this.error = error;
    this.status = more.status ?? 0;
    this.requestId = more.requestId ?? null;
    this.details = more.details ?? {};
    /** Seconds, or null. */
    this.retryAfter = more.retryAfter ?? null;
  }
}

/** @param {AbortSignal | undefined | null} signal */
export function throwIfAborted(signal) {
  if (signal?.aborted) throw new PaydeskError("aborted", { cause: signal.reason });
}
