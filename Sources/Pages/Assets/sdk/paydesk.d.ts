/** Paydesk in the browser: frontends.md of Paydesk's documentation describes every member. */

export type Locale = "en" | "zh-Hans";
export type ContractType =
  | "apple_iap"
  | "stripe"
  | "url"
  | "qr"
  | "apple_pay"
  | "alipay_app"
  | "wechat_app"
  | "wechat_jsapi"
  | "none";

export interface Money {
  /** Minor units. */
  value: number;
  currency: string;
}

export interface Payment {
  id: string;
  provider: string;
  processor: string | null;
  status: "created" | "pending" | "unknown" | "succeeded" | "failed" | "cancelled";
  reference: string | null;
  amount: Money;
  failure: { reason: string; message: string; retryable: boolean } | null;
  unfenced: boolean;
  created_at: number;
}

/** Of GET /v1/public/orders/{id}; more members may come. */
export interface Order {
  id: string;
  status: "open" | "paid" | "partially_refunded" | "refunded" | "closed";
  next_action: "pay" | "wait" | "retry" | "none";
  sku: string;
  quantity: number;
  days: number | null;
  amount: Money | null;
  charged: Money | null;
  refunded: Money | null;
  provider: string | null;
  environment: "Production" | "Sandbox" | "Xcode";
  created_at: number;
  expires_at: number | null;
  paid_at: number | null;
  closed_at: number | null;
  payments: Payment[];
  [more: string]: unknown;
}

/** How an order is paid; `type` says what the client does next. A newer server may name one that is not listed here. */
export interface Contract {
  type: ContractType | (string & {});
  order_id: string;
  payment_id: string | null;
  provider: string | null;
  status: string;
  recurring: boolean;
  amount: Money;
  expires_at: number | null;
  poll_after_ms: number;
  checkout_url?: string;
  qr_image_url?: string;
  stripe?: { publishable_key: string; client_secret: string; method?: string };
  product_ids?: string[];
  app_account_token?: string;
  apple_pay?: {
    merchant_identifier: string;
    country_code: string;
    currency_code: string;
    supported_networks: string[];
    merchant_capabilities: string[];
    total: { label: string; amount: string };
    application_data: string;
  };
  /** For Alipay's library, as it is. */
  alipay_app?: { order_string: string };
  /** For the `PayReq` of WeChat's library. */
  wechat_app?: {
    appid: string;
    partnerid: string;
    prepayid: string;
    package: string;
    noncestr: string;
    timestamp: string;
    sign: string;
  };
  /** For `WeixinJSBridge`, or `wx.requestPayment` of a mini program. */
  wechat_jsapi?: {
    appId: string;
    timeStamp: string;
    nonceStr: string;
    package: string;
    signType: "RSA" | (string & {});
    paySign: string;
  };
  setup?: boolean;
  setup_id?: string | null;
  terms?: string;
  [more: string]: unknown;
}

export interface CheckoutOptions {
  sku?: string;
  quantity?: number;
  days?: number;
  currency?: string;
  platform?: string;
  /** An account's id or a kind. */
  provider?: string;
  /** Fewer types than the exits could act on. */
  accept?: string[];
  /** Must be allowed by `http.return_urls`. */
  returnURL?: string;
  /** Of WeChat, where the account has several app ids for a type. */
  app_id?: string;
  /** For `wechat_jsapi`: the payer's openid, which belongs to one app id. */
  payer?: { wechat_openid: string };
  locale?: string;
  metadata?: Record<string, string>;
  /** Apple's token of a purchase outside of the App Store, with the storefront in three letters. */
  external_purchase_token?: string;
  storefront?: string;
  signal?: AbortSignal | null;
  [more: string]: unknown;
}

export interface ExitContext {
  signal: AbortSignal | null;
  desk: Paydesk;
}

/** Acts on a contract; "left" says that the payer was sent away and nothing is to be waited for. */
export type Exit = (contract: Contract, context: ExitContext) => void | "left" | Promise<void | "left">;

/** Acts on a contract of a type that has no exit: one of a newer server. `json` is the contract as it came. */
export type UnknownExit = (
  type: string,
  json: Contract,
  context: ExitContext,
) => void | "left" | Promise<void | "left">;

/** An exit of one's own for any type; null takes the type out of `accept`. */
export type Exits = Partial<Record<ContractType, Exit | null>> & { unknown?: UnknownExit };

export interface Outcome {
  /** `failed`: another attempt may follow; `open`: the time was over or `signal` aborted. */
  status: "paid" | "open" | "closed" | "failed" | "left";
  order: Order;
}

export interface PaydeskOptions {
  baseURL: string;
  /** The user's JWT or a session's token; a function is asked once more after a 401. */
  token: string | (() => string | Promise<string>);
  locale?: string | null;
  platform?: string;
  /** Of tests. */
  fetch?: typeof fetch;
  store?: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  locks?: LockManager | null;
  now?: () => number;
  sleep?: (milliseconds: number, signal?: AbortSignal | null) => Promise<void>;
}

export interface CallOptions {
  signal?: AbortSignal | null;
}

export class Paydesk {
  constructor(options: PaydeskOptions);
  readonly baseURL: string;
  readonly locale: string | null;
  readonly platform: string;
  checkout(options: CheckoutOptions, exits?: Exits): Promise<Outcome>;
  products(options?: { currency?: string; platform?: string; signal?: AbortSignal | null }): Promise<any[]>;
  paymentMethods(options: {
    sku: string;
    currency?: string;
    days?: number | null;
    platform?: string;
    accept?: string[];
    signal?: AbortSignal | null;
  }): Promise<{ account: string; kind: string; display_name: string; type: string }[]>;
  order(id: string, options?: CallOptions): Promise<Order>;
  waitForOrder(id: string, options?: CallOptions): Promise<Outcome>;
  cancel(id: string, options?: CallOptions): Promise<Order>;
  refresh(id: string, options?: CallOptions): Promise<Order>;
  /** What the user owns, of GET /v1/public/entitlements. */
  entitlements(options?: CallOptions): Promise<any>;
  /** Calls back at once and after each change, until the function that is returned is called. */
  onEntitlements(callback: (entitlements: any) => void, options?: { onError?: (error: unknown) => void }): () => void;
  usage(meter: string, options?: CallOptions): Promise<any>;
  consume(meter: string, amount?: number, options?: CallOptions): Promise<any>;
  /** Of GET /v1/public/session, for a session's token. */
  session(options?: CallOptions): Promise<any>;
}

export class PaydeskError extends Error {
  /** An id of docs/api.md, section 2, `network` or `aborted`. */
  readonly error: string;
  /** 0 without an answer. */
  readonly status: number;
  readonly requestId: string | null;
  readonly details: Record<string, any>;
  /** Seconds. */
  readonly retryAfter: number | null;
}

/** `<paydesk-checkout token base-url locale>` */
export interface PaydeskCheckoutElement extends HTMLElement {
  desk: Paydesk | null;
}

declare global {
  interface HTMLElementTagNameMap {
    "paydesk-checkout": PaydeskCheckoutElement;
  }
  interface HTMLElementEventMap {
    "paydesk-state": CustomEvent<{ state: string; order: Order | null }>;
    "paydesk-paid": CustomEvent<{ order: Order }>;
    "paydesk-error": CustomEvent<{ error: PaydeskError }>;
  }
}
