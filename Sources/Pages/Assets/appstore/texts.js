// @ts-check
// The page's words: one function of the language for each, so that a missing translation is a missing key.

const english = {
  skip: "Skip to the content", title: "The App Store in a box", ribbon: "Development: nothing here is Apple, no money moves",
  reset: "Reset the box…", resetAsk: "Empty the box? Its customers, subscriptions and notifications go. What Paydesk knows already stays.",
  language: "中文", now: "It is now, for Paydesk and the box", loading: "Loading", offline: "The server does not answer. Start it, then reload this page.",
  moveLabel: "Move the clock to", move: /** @param {string} date */ (date) => `Move to ${date}`, forward: "Go forward", never: "The clock never goes back.",
  hour: "1 hour", day: "1 day", week: "7 days", month: "30 days", nextEvent: /** @param {string} date */ (date) => `to ${date}, the next renewal`,
  moved: /** @param {string} date */ (date) => `It is ${date} now.`, pending: /** @param {number} n */ (n) => `Moved; ${n} jobs still wait.`,
  customers: "Customers", newCustomer: "New customer", customerName: "Customer", userName: "Signed in as (your app's user id)",
  add: "Add", signedIn: /** @param {string} user */ (user) => `signed in as ${user}`, nobody: "nobody: no account token",
  buyAs: /** @param {string} name */ (name) => `Buy as ${name}`, products: "The products of your catalogue", noProducts: "No SKU names an Apple product. Add apple_product_ids to one.",
  buy: "Buy", quantity: "Quantity", each: /** @param {string} price @param {string} period */ (price, period) => `${price} each ${period}`, once: /** @param {string} price */ (price) => `${price} once`,
  period: /** @type {Record<string, string>} */ ({ day: "day", week: "week", month: "month", year: "year" }), offer: "Offer", noOffer: "no offer", introductory: "introductory, free", promotional: "promotional", offer_code: "offer code", win_back: "win-back",
  upgrade: "Upgrade", downgrade: "Downgrade", to: "to", runs: "Runs",
  subscription: "Subscription", noSubscriptions: "No subscription yet. Buy one on the left.",
  status: /** @type {Record<string, string>} */ ({ active: "Runs", grace_period: "In its grace period", billing_retry: "In billing retry", expired: "Expired", revoked: "Taken back", none: "Owns nothing", scheduled: "Begins later", in_grace_period: "In its grace period", in_billing_retry: "In billing retry" }),
  renews: /** @param {string} date */ (date) => `renews on ${date}`, ends: /** @param {string} date */ (date) => `ends on ${date}`, ended: /** @param {string} date */ (date) => `ended on ${date}`, failing: "the next renewal fails",
  nextPeriod: "Next period", card: "The card", customer: "The customer", price: "The price", family: "Family",
  renew: "Renew now", extend: "Extend", days: "Days", expire: "End now", fail_renewal: "Let renewals fail", grace: "Grace", graceDays: /** @param {number} n */ (n) => (n ? `${n} days of grace` : "no grace"), recover: "Card works again",
  turn_off: "Turn renewal off", turn_on: "Turn renewal on", price_increase: "Raise the price", newPrice: "New price", accept_price: "Customer agrees", share: "Share with", member: "Family member", unshare: "Stop sharing",
  transactions: "Transactions", noTransactions: "Nothing was bought yet.", refund: "Refund", percentage: "Per cent", refund_declined: "Decline", refund_reversed: "Reverse refund", consumption_request: "Ask about use",
  bought: "Bought", refunded: "Refunded", refundedPart: /** @param {number} n */ (n) => `${n} % refunded`, upgraded: "Upgraded away", shared: "Shared by family",
  notifications: "Notifications", noNotifications: "Nothing was sent yet.", travel: "Notifications travel", mode: /** @type {Record<string, string>} */ ({ normal: "at once", twice: "twice", late: "late", shuffled: "in random order", off: "never, sync finds them" }),
  seconds: "Seconds", set: "Set", type: "Type", attempts: "Attempts", notSent: "not sent", at: "Time", payload: "Signed payload", copied: "Copied.",
  makes: "What Paydesk makes of it", makesNote: "Entitlements and status, as your app gets them.", noUser: "This customer is signed in as nobody, so Paydesk keeps the purchases for whoever claims them.",
  active: "Active", inactive: "Not active", tier: "Tier", until: "Until", forever: "for good", willRenew: "Renews", yes: "yes", no: "no", entitlements: "Entitlements", balances: "Balances", raw: "As JSON", act: "Act", done: /** @param {string} what */ (what) => `${what}: done.`,
};

/** @typedef {typeof english} Words */
/**
 * The names of the words that are no functions.
 * @typedef {{[Name in keyof Words]: Words[Name] extends string ? Name : never}[keyof Words]} Word
 */
/** @typedef {"en" | "zh-Hans"} Language */

/** @type {Words} */
const chinese = {
  skip: "跳到正文", title: "本机 App Store", ribbon: "开发环境：与 Apple 无关，不涉及真实资金",
  reset: "重置…", resetAsk: "要清空本机 App Store 吗？其中的顾客、订阅和通知会被删除，Paydesk 已有的记录保留。",
  language: "English", now: "Paydesk 和本机 App Store 的当前时间", loading: "正在加载", offline: "服务没有响应。启动服务后刷新本页。",
  moveLabel: "把时间调到", move: (date) => `调到 ${date}`, forward: "前进", never: "时间不能倒退。",
  hour: "1 小时", day: "1 天", week: "7 天", month: "30 天", nextEvent: (date) => `到 ${date}，下次续订`,
  moved: (date) => `现在是 ${date}。`, pending: (n) => `已前进，还有 ${n} 个任务未完成。`,
  customers: "顾客", newCustomer: "新顾客", customerName: "顾客", userName: "登录为（应用自己的用户 ID）",
  add: "添加", signedIn: (user) => `登录为 ${user}`, nobody: "未登录：没有账户令牌",
  buyAs: (name) => `以 ${name} 购买`, products: "商品目录中的商品", noProducts: "没有 SKU 指定 Apple 商品，请为 SKU 添加 apple_product_ids。",
  buy: "购买", quantity: "数量", each: (price, period) => `${price} / ${period}`, once: (price) => `${price}，一次性`,
  period: { day: "天", week: "周", month: "月", year: "年" }, offer: "优惠", noOffer: "无优惠", introductory: "推介促销，免费", promotional: "促销优惠", offer_code: "优惠代码", win_back: "赢回优惠",
  upgrade: "升级", downgrade: "降级", to: "到", runs: "生效中",
  subscription: "订阅", noSubscriptions: "还没有订阅，请先购买一个。",
  status: { active: "生效中", grace_period: "宽限期内", billing_retry: "正在重试扣款", expired: "已到期", revoked: "已撤销", none: "没有权益", scheduled: "尚未开始", in_grace_period: "宽限期内", in_billing_retry: "正在重试扣款" },
  renews: (date) => `${date} 续订`, ends: (date) => `${date} 结束`, ended: (date) => `已于 ${date} 结束`, failing: "下次续订将失败",
  nextPeriod: "下一周期", card: "银行卡", customer: "顾客", price: "价格", family: "家人",
  renew: "立即续订", extend: "延长", days: "天数", expire: "立即结束", fail_renewal: "让续订失败", grace: "宽限期", graceDays: (n) => (n ? `宽限 ${n} 天` : "没有宽限期"), recover: "银行卡恢复正常",
  turn_off: "关闭自动续订", turn_on: "开启自动续订", price_increase: "提高价格", newPrice: "新价格", accept_price: "顾客同意", share: "共享给", member: "家人", unshare: "停止共享",
  transactions: "交易", noTransactions: "还没有购买。", refund: "退款", percentage: "百分比", refund_declined: "拒绝退款", refund_reversed: "撤销退款", consumption_request: "询问使用情况",
  bought: "已购买", refunded: "已退款", refundedPart: (n) => `已退款 ${n}%`, upgraded: "已被升级取代", shared: "家人共享",
  notifications: "通知", noNotifications: "还没有通知。", travel: "通知的送达方式", mode: { normal: "立即", twice: "两次", late: "延迟", shuffled: "乱序", off: "不发送，由同步补上" },
  seconds: "秒", set: "设置", type: "类型", attempts: "发送结果", notSent: "未发送", at: "时间", payload: "签名内容", copied: "已复制。",
  makes: "Paydesk 的结果", makesNote: "应用得到的权益和状态。", noUser: "该顾客没有登录，Paydesk 会保留购买记录，等待用户认领。",
  active: "有效", inactive: "无效", tier: "等级", until: "有效期至", forever: "永久", willRenew: "自动续订", yes: "是", no: "否", entitlements: "权益", balances: "余额", raw: "JSON", act: "操作", done: (what) => `${what}：已完成。`,
};

/** @type {Record<Language, Words>} */
export const texts = { en: english, "zh-Hans": chinese };
