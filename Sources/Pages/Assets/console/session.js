// @ts-check
import { call } from "./api.js";

/** @typedef {{key_id: string, name: string, scopes: string[], expires_at: number}} Who */

/** Who is signed in; null for nobody. */
export const session = { who: /** @type {Who | null} */ (null) };

/** True for a key that may change things. */
export const mayAct = () => session.who?.scopes.includes("admin") ?? false;

/** True where the server is in development mode. */
export const isDevelopment = () => document.body.hasAttribute("data-test");

const PATH = ["console", "session"];

/** Reads who the browser's cookie belongs to. */
export async function resume() {
  session.who = (await call({ method: "GET", path: PATH })).data;
}

/**
 * Signs in with a key, or with the code of the link that a development server prints.
 * @param {{key: string} | {once: string}} proof
 */
export async function signIn(proof) {
  session.who = (await call({ method: "POST", path: PATH, body: proof })).data;
}

export async function signOut() {
  await call({ method: "DELETE", path: PATH });
  session.who = null;
}
