import FoundationEssentials
import ProviderKit

/// The failures of a call to WeChat Pay.
enum WeChatPayFailure: Error, Sendable, Equatable {
    /// The call never reached WeChat Pay.
    case notSent
    /// The call may have taken effect: after a time limit, a lost connection, or an answer that is not WeChat Pay's.
    case unanswered
    /// The answer is not accepted: it is not proven to be WeChat Pay's, or it is about another payment or account.
    case unproven(UnprovenReason)
    /// WeChat Pay's refusal.
    case refused(WeChatPayRefusal)
    /// The answer has a value that Paydesk cannot represent, with the reason.
    case unsayable(String)

    /// The answer is about another payment.
    static let foreign = WeChatPayFailure.unproven(.otherPayment)
}

/// An error answer of WeChat Pay's, without its message.
struct WeChatPayRefusal: Error, Sendable, Equatable {
    let status: Int
    /// The code, `PARAM_ERROR`, `ORDER_NOT_EXIST` …; nil where the body is not WeChat Pay's.
    let code: String?
    /// True where its signature is valid; without one it is no refusal.
    let isProven: Bool

    init(status: Int, code: String?, isProven: Bool) {
        self.status = status
        self.code = code
        self.isProven = isProven
    }

    static func code(_ body: Data) -> String? {
        struct Body: Decodable { let code: String }
        return WeChatPayText.word((try? JSONDecoder().decode(Body.self, from: body))?.code)
    }

    /// True where WeChat Pay states that there is no such order or refund.
    var isMissing: Bool {
        isProven && status == 404
            && ["ORDER_NOT_EXIST", "ORDERNOTEXIST", "RESOURCE_NOT_EXISTS"].contains(code)
    }

    /// True where the order number is in use with other parameters, or the order can no longer be opened.
    var isOfKnownOrder: Bool {
        isProven
            && ["OUT_TRADE_NO_USED", "INVALID_REQUEST", "ORDERPAID", "ORDER_PAID"].contains(code)
    }

    /// True where WeChat Pay refused before any work: because of a key, a right, a limit.
    private var isBeforeWork: Bool {
        [401, 429].contains(status) || (status == 403 && isProven && code == "NO_AUTH")
    }

    func providerError(_ unknown: ProviderError) -> ProviderError {
        if isBeforeWork { return .unavailable }
        let own = ["SYSTEM_ERROR", "SYSTEMERROR", "BANK_ERROR", "BANKERROR"]
        guard isProven, (400..<500).contains(status), ![408, 409, 425].contains(status), let code, !own.contains(code)
        else { return unknown }
        return .rejected(reason: code)
    }
}

extension WeChatPayFailure {
    /// Returns the failure as a provider error.
    ///
    /// - Parameter afterChange: true for a call that changes something, whose effect is unknown after a lost answer.
    func providerError(afterChange: Bool) -> ProviderError {
        let unknown: ProviderError = afterChange ? .outcomeUnknown : .unavailable
        switch self {
        case .notSent: return .unavailable
        case .unanswered: return unknown
        case .unsayable(let reason): return reason == "bad_amount" ? .unproven(.badMoney) : unknown
        case .unproven(let reason): return .unproven(reason)
        case .refused(let refusal): return refusal.providerError(unknown)
        }
    }
}
