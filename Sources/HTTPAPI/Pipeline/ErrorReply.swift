import Domain
import Gateway
import HTTPTypes
import ProviderKit

/// The HTTP form of a refusal; only this type maps ``GatewayError`` to HTTP (`docs/api.md` section 2).
struct ErrorReply: Sendable {
    let status: HTTPResponse.Status
    let id: String
    let english: String
    let chinese: String
    var details: [String: JSONValue] = [:]
    var retryAfter: Int64?
    /// The value of `WWW-Authenticate`, which every 401 must have (RFC 9110 section 15.5.2).
    var challenge: String?
    /// The value of `Allow`, which every 405 must have (RFC 9110 section 15.5.6).
    var allow: String?

    func message(_ languages: [String]) -> String {
        for language in languages.map({ $0.lowercased() }) {
            if language == "zh" || language.hasPrefix("zh-") { return chinese }
            if language == "en" || language.hasPrefix("en-") { return english }
        }
        return english
    }
}

extension ErrorReply {
    init(_ error: GatewayError) {
        switch error {
        case .invalidRequest(let field, let reason):
            let (english, chinese) = (reason.english, reason.chinese)
            self.init(
                .invalidRequest,
                field.isEmpty ? "The request is not valid: \(english)." : "\(field): \(english).",
                field.isEmpty ? "请求无效：\(chinese)。" : "参数 \(field) 无效：\(chinese)。",
                reason.details.merging(["field": .string(field), "reason": .string(english)]) { $1 })
        case .invalidNotification:
            self.init(.invalidNotification, "The notification does not verify.", "通知验证失败。")
        case .invalidTransaction(let reason):
            self.init(
                .invalidTransaction, "The transaction does not verify: \(reason.rawValue).",
                "交易验证失败：\(RefusalWords.chinese(reason.rawValue))。", ["reason": .string(reason.rawValue)])
        case .invalidReceipt(let reason):
            self.init(
                .invalidReceipt, "The receipt does not verify: \(reason).", "收据验证失败：\(RefusalWords.chinese(reason))。",
                ["reason": .string(reason)])
        case .applePayTokenInvalid(let reason):
            self.init(
                .applePayTokenInvalid, "The payment could not be verified: \(reason.rawValue).",
                "支付凭证验证失败：\(RefusalWords.chinese(reason.rawValue))。", ["reason": .string(reason.rawValue)])
        case .applePayTokenReused:
            self.init(
                .applePayTokenReused, "This token was used for another payment.", "该支付凭证已用于其他支付。")
        case .amountMismatch:
            self.init(
                .amountMismatch, "The token is for another amount or currency than the order.",
                "支付凭证的金额或币种与订单不一致。")
        case .unknownProduct(let product):
            self.init(
                .unknownProduct, "The purchase is kept, but \(product.shown) is an unknown product.",
                "购买已保留，但商品 \(product.shown) 未配置（unknown product）。")
        case .productNotSold(let product):
            self.init(.unknownProduct, "No SKU has the product \(product.shown).", "没有商品使用 \(product.shown)。")
        case .notEligible:
            self.init(
                .conflict, "The offer is not for this user.", "该用户不符合此优惠的条件。", ["reason": .string("not_eligible")])
        case .purchaseBelongsToAnotherUser:
            self.init(
                .purchaseBelongsToAnotherUser, "This purchase belongs to another user.", "该购买属于其他用户。")
        case .purchaseRevoked:
            self.init(.purchaseRevoked, "Apple has taken this purchase back.", "该购买已被苹果撤销。")
        case .unauthenticated:
            self.init(.unauthenticated, "A valid token or key is needed.", "需要有效的令牌或密钥。")
            challenge = Self.challenge
        case .invalidCredential(let fault):
            let (english, chinese) = fault.words
            self.init(.unauthenticated, "\(english).", "\(chinese)。")
            if case .claim(let name) = fault { details = ["claim": .string(name.shown)] }
            if fault == .sessionExpired { details = ["reason": .string("session_expired")] }
            challenge = "\(Self.challenge), error=\"invalid_token\", error_description=\"\(english)\""
        case .forbidden:
            self.init(.forbidden, "This key lacks the scope for that.", "此密钥没有所需的权限。")
        case .forbiddenToSessions:
            self.init(.forbidden, "A session's token is not accepted here.", "此处不接受会话令牌。")
        case .needsSession:
            self.init(.forbidden, "Only a session's token is accepted here.", "此处只接受会话令牌。")
        case .notFromConsole:
            self.init(
                .forbidden, "The console's cookie counts only in its own calls, with X-Paydesk-Console: 1.",
                "控制台的 Cookie 仅在控制台自身的请求中有效，且须带有 X-Paydesk-Console: 1。")
        case .notFound:
            self.init(.notFound, "There is nothing here.", "未找到所请求的资源。")
        case .unknown(let thing, let id):
            let (english, chinese) = thing.words
            self.init(
                .notFound, "There is no \(english) \(id.shown).", "\(chinese) \(id.shown) 不存在。",
                ["what": .string(thing.rawValue)])
        case .methodNotAllowed(let methods):
            let all = methods.joined(separator: ", ")
            self.init(
                .methodNotAllowed, "This path takes \(all) only.", "此路径只接受以下方法：\(all)。",
                ["allowed": .array(methods.map(JSONValue.string))])
            allow = all
        case .orderNotFound(let id):
            self.init(.orderNotFound, "Order \(id.shown) does not exist.", "订单 \(id.shown) 不存在。")
        case .skuNotFound(let id):
            self.init(
                .skuNotFound, "SKU \(id.shown) does not exist.", "商品 \(id.shown) 不存在。", ["sku": .string(id.shown)])
        case .alreadyOwned:
            self.init(.alreadyOwned, "The user owns this already.", "用户已拥有该商品。")
        case .subscriptionRuns(let id, let source):
            self.init(
                .alreadyOwned, "A subscription of this group runs already.", "该组中已有订阅在续费。",
                ["subscription_id": .string(id.rawValue), "manage": .string(source.rawValue)])
        case .belongsToSubscription(let id):
            self.init(
                .conflict, "The order belongs to a subscription, which alone pays or closes it.",
                "该订单属于订阅，只能通过订阅支付或关闭。", ["subscription_id": .string(id.rawValue)])
        case .chargesUnchecked(let count):
            self.init(
                .conflict, "The providers of \(count) subscriptions were not asked yet what they charged.",
                "还有 \(count) 个订阅的支付渠道未查询扣款情况。", ["unchecked": .integer(count)])
        case .subscriptionIs(let status, let reason):
            self.init(
                .conflict, "The subscription does not allow that: \(reason.english).", "订阅不允许此操作：\(reason.chinese)。",
                ["status": .string(status.rawValue), "reason": .string(reason.english)])
        case .orderNotOpen:
            self.init(.orderNotOpen, "The order is not open any more.", "订单已不可支付。")
        case .contractGone:
            self.init(.orderNotOpen, "The order is not open any more.", "订单已不可支付。", status: .gone)
        case .instructionExpired:
            self.init(
                .orderNotOpen, "The contract is too old for the wallet; another attempt makes a new one.",
                "支付参数已过期，请重新发起支付。", ["reason": .string("instruction_expired")], status: .gone)
        case .requestInProgress:
            self.init(
                .requestInProgress, "A request with this Idempotency-Key is running.", "相同幂等键的请求正在处理。",
                retryAfter: 1)
        case .clockIsMoving:
            self.init(
                .requestInProgress, "The clock is being moved; try again when that is done.", "时钟正在调整，请在完成后重试。",
                retryAfter: 1)
        case .conflict(let reason, let resource):
            self.init(
                .conflict, "That conflicts with what is there: \(reason.english).", "与现有数据冲突：\(reason.chinese)。",
                ["reason": .string(reason.english)].merging(resource.map { ["resource": .string($0)] } ?? [:]) { $1 })
        case .sessionOver:
            self.init(
                .conflict, "The session is over; it can still read, cancel and refresh.", "会话已结束，仅可查询、取消和刷新。",
                ["reason": .string("session_over")])
        case .orderIsPaid(let order):
            self.init(
                .conflict, "The session's order was paid.", "该会话的订单已支付。",
                ["reason": .string("order_paid"), "order_id": .string(order.rawValue)])
        case .payloadTooLarge:
            self.init(.payloadTooLarge, "The body is too large.", "请求体过大。")
        case .unsupportedMediaType:
            self.init(
                .unsupportedMediaType, "The body must be application/json.", "请求体必须是 JSON 格式。")
        case .headersTooLarge:
            self.init(
                .headersTooLarge, "The headers are larger than 16 KiB.",
                "请求头超过 16 KiB。")
        case .idempotencyKeyReused:
            self.init(
                .idempotencyKeyReused, "This Idempotency-Key was used with another request.",
                "该幂等键已用于不同的请求。")
        case .noProviderAvailable:
            self.init(
                .noProviderAvailable, "No payment method fits this request.", "没有符合要求的支付方式。")
        case .noProvider(let why):
            let (english, chinese) = why.reason?.words ?? ("no account is configured", "没有配置收款账户")
            var details: [String: JSONValue] = why.reason.map { ["reason": .string($0.rawValue)] } ?? [:]
            if !why.accounts.isEmpty {
                details["accounts"] = .array(
                    why.accounts.map {
                        .object([
                            "account": .string($0.account.rawValue), "reason": .string($0.reason.rawValue),
                        ])
                    })
            }
            self.init(
                .noProviderAvailable, "No payment method fits this request: \(english).",
                "没有符合要求的支付方式：\(chinese)。", details)
        case .providerRejected(let reason):
            self.init(
                .providerRejected, "The payment provider refused.", "支付渠道拒绝了请求。",
                ["reason": .string(reason)])
        case .refundExceedsCaptured:
            self.init(
                .refundExceedsCaptured, "That is more than is left to refund.", "退款金额超过可退余额。")
        case .rateLimited(let seconds):
            self.init(.rateLimited, "Too many requests.", "请求过于频繁。", retryAfter: seconds)
        case .usageLimitReached(let seconds):
            self.init(
                .usageLimitReached, "The limit of this period is reached.", "已达到本周期的使用上限。",
                retryAfter: seconds)
        case .internalError, .dryRun:
            self.init(.internalError, "Something went wrong.", "服务器内部错误。")
        case .providerUnavailable:
            self.init(.providerUnavailable, "The payment provider did not answer.", "支付渠道暂无响应。")
        case .outcomeUnknown(let reason):
            self.init(
                .temporarilyUnavailable, "This may have happened: \(reason.english).",
                "操作可能已经生效：\(reason.chinese)。", ["reason": .string(reason.english)], retryAfter: 60)
        case .temporarilyUnavailable(let seconds):
            self.init(
                .temporarilyUnavailable, "Please try again.", "服务暂时不可用，请稍后重试。",
                retryAfter: seconds)
        case .leaseLost:
            self.init(
                .temporarilyUnavailable, "Please try again.", "服务暂时不可用，请稍后重试。", retryAfter: 1)
        case .insufficientBalance:
            self.init(.insufficientBalance, "The balance is not enough.", "余额不足。")
        }
    }

    /// The challenge to a request without credentials, which names no error (RFC 6750 section 3.1).
    private static let challenge = #"Bearer realm="paydesk""#

    private init(
        _ id: ErrorID, _ english: String, _ chinese: String, _ details: [String: JSONValue] = [:],
        retryAfter: Int64? = nil, status: HTTPResponse.Status? = nil
    ) {
        self.status = status ?? id.status
        self.id = id.rawValue
        self.english = english
        self.chinese = chinese
        self.details = details
        self.retryAfter = retryAfter
    }
}
