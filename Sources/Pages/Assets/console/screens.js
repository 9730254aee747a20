// @ts-check
import { accounts } from "./screen-accounts.js";
import { audit } from "./screen-audit.js";
import { catalogue } from "./screen-catalogue.js";
import { home } from "./screen-home.js";
import { jobs } from "./screen-jobs.js";
import { keys } from "./screen-keys.js";
import { notification } from "./screen-notification.js";
import { notifications } from "./screen-notifications.js";
import { order } from "./screen-order.js";
import { orders } from "./screen-orders.js";
import { people } from "./screen-people.js";
import { person } from "./screen-person.js";
import { sku } from "./screen-sku.js";
import { webhook } from "./screen-webhook.js";
import { webhooks } from "./screen-webhooks.js";

/** Each screen reads what it shows and answers its nodes. */
export const screens = /** @type {Record<string, (context: import("./page.js").Context) => Promise<any>>} */ ({
  home, orders, order, people, person, catalogue, sku, accounts, notifications, notification, jobs, webhooks, webhook, keys, audit,
});
