// @ts-check

/** How long a key is used again, in milliseconds. */
const LIFETIME = 24 * 3600 * 1000;

/**
 * @typedef {{key: string, order_id: string | null, at: number}} Intention
 * @typedef {{getItem(name: string): string | null, setItem(name: string, value: string): void, removeItem(name: string): void}} Store
 */

/** Memory in the place of `localStorage` where the browser refuses it. */
class MemoryStore {
  constructor() {
    /** @type {Map<string, string>} */
    this.values = new Map();
  }
  /** @param {string} name */
  getItem(name) {
    return this.values.get(name) ?? null;
  }
  /** @param {string} name @param {string} value */
  setItem(name, value) {
    this.values.set(name, value);
  }
  /** @param {string} name */
  removeItem(name) {
    this.values.delete(name);
  }
}

const memory = new MemoryStore();

/** @returns {Store} */
function browserStore() {
  try {
    const store = globalThis.localStorage;
    const probe = "paydesk:probe";
    store.setItem(probe, "1");
    store.removeItem(probe);
    return store;
  } catch {
    return memory;
  }
}

/**
 * Idempotency keys by what somebody wants to buy, so that a reload, a second tab or a lost answer makes no second order.
 * Kept as `localStorage["paydesk:" + baseURL + ":" + SHA-256(body and subject)]`; a token is never stored.
 */
export class Intentions {
  /** @param {{baseURL: string, store?: Store, now?: () => number, locks?: LockManager | null}} options */
  constructor(options) {
    this.prefix = `paydesk:${options.baseURL}:`;
    this.store = options.store ?? browserStore();
    this.now = options.now ?? Date.now;
    this.locks = options.locks === undefined ? globalThis.navigator?.locks ?? null : options.locks;
    /** @type {Map<string, Promise<unknown>>} */
    this.running = new Map();
  }

  /**
   * @param {unknown} body
   * @param {string} subject the token's subject, or the session's id
   */
  async name(body, subject) {
    const text = JSON.stringify([body, subject]);
    // Without a secure context there is no digest; the text then names the intention in memory alone.
    if (!globalThis.crypto?.subtle) {
      this.store = memory;
      return this.prefix + text;
    }
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
    return this.prefix + Array.from(digest, byte => byte.toString(16).padStart(2, "0")).join("");
  }

  /**
   * Runs alone among all tabs of this origin, or of this page where there are no locks.
   * @template T
   * @param {string} name
   * @param {() => Promise<T>} act
   * @returns {Promise<T>}
   */
  async alone(name, act) {
    if (this.locks) return this.locks.request(name, act);
    const before = this.running.get(name) ?? Promise.resolve();
    const run = before.catch(() => undefined).then(act);
    this.running.set(name, run);
    try {
      return await run;
    } finally {
      if (this.running.get(name) === run) this.running.delete(name);
    }
  }

  /**
   * @param {string} name
   * @returns {Intention | null}
   */
  read(name) {
    try {
      const kept = JSON.parse(this.store.getItem(name) ?? "null");
      if (kept && typeof kept.key === "string" && typeof kept.at === "number" && kept.at > this.now() - LIFETIME && kept.at <= this.now() + 60_000) {
        return { key: kept.key, order_id: typeof kept.order_id === "string" ? kept.order_id : null, at: kept.at };
      }
    } catch {
      // Somebody else wrote there.
    }
    this.forget(name);
    return null;
  }

  /**
   * @param {string} name
   * @param {Intention} intention
   */
  write(name, intention) {
    try {
      this.store.setItem(name, JSON.stringify(intention));
    } catch {
      this.store = memory;
      this.store.setItem(name, JSON.stringify(intention));
    }
  }

  /** @param {string} name */
  forget(name) {
    try {
      this.store.removeItem(name);
    } catch {
      // Nothing was kept there.
    }
  }

  /** @returns {Intention} */
  fresh() {
    return { key: randomKey(), order_id: null, at: this.now() };
  }
}

/** A new idempotency key; `randomUUID` needs a secure context, `getRandomValues` does not. */
export function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * The subject of a JWT, or null for what is none.
 * @param {string} token
 * @returns {string | null}
 */
export function subjectOf(token) {
  const payload = token.split(".")[1];
  if (!payload) return null;
  try {
    const text = atob(payload.replace(/-/g, "+").replace(/_/g, "/"));
    const claims = JSON.parse(new TextDecoder().decode(Uint8Array.from(text, letter => letter.charCodeAt(0))));
    return typeof claims.sub === "string" ? claims.sub : null;
  } catch {
    return null;
  }
}
