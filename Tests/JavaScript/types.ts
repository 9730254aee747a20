// The types that are written by hand, compared with the modules: tsc refuses this file where they differ.
import * as client from "../../Sources/Pages/Assets/sdk/client.js";
import * as errors from "../../Sources/Pages/Assets/sdk/errors.js";
import type { Contract, Exits, Outcome, Paydesk, PaydeskError, PaydeskOptions } from "../../Sources/Pages/Assets/sdk/paydesk";

export const desk: (options: PaydeskOptions) => Paydesk = options => new client.Paydesk(options);
export const error: PaydeskError = new errors.PaydeskError("network");

export async function use(desk: Paydesk): Promise<Outcome["status"]> {
  const exits: Exits = { url: async (contract: Contract): Promise<"left"> => { console.log(contract.checkout_url); return "left"; }, apple_pay: null, wechat_app: contract => console.log(contract.wechat_app?.prepayid), unknown: (type, json) => { console.log(type, json.order_id); return "left"; } };
  const outcome = await desk.checkout({ sku: "vip_month", currency: "CNY", returnURL: "https://app.example/done" }, exits);
  const stop: () => void = desk.onEntitlements(owned => console.log(owned.version));
  stop();
  return outcome.status;
}
