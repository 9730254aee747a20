// @ts-check
import { defineElement } from "./define.js";

export { Paydesk } from "./client.js";
export { PaydeskError } from "./errors.js";

defineElement();
