import ProviderKit

/// The failures of a call to Alipay.
enum AlipayFailure: Error, Sendable, Equatable {
    /// The call never reached Alipay.
    case notSent
    /// The call may have taken effect: after a time limit, a lost connection, or an answer that is not Alipay's.
    case unanswered
    /// An answer in Alipay's form that its key does not verify, with its code.
    case unproven(word: String?, isSigned: Bool)
    /// Alipay's verified refusal.
    case refused(AlipayRefusal)
    /// The answer is about another payment.
    case foreign
    /// The answer has a value that Paydesk cannot represent.
    case unsayable
    /// An amount in the answer cannot be read exactly.
    case badMoney
}

/// A refusal of Alipay's without its message, which can repeat the request's content.
struct AlipayRefusal: Error, Sendable, Equatable {
    /// A number such as `40004`.
    let code: String
    /// The detailed code, such as `ACQ.TRADE_NOT_EXIST`; nil where it has another form.
    let word: String?

    /// True where no trade has this number; a QR code that was not scanned has none.
    var isMissing: Bool { code == "40004" && word == "ACQ.TRADE_NOT_EXIST" }

    /// True where the number was used with other parameters, or its trade has succeeded: the true state must be
    /// queried.
    var isAboutAnother: Bool {
        ["ACQ.TRADE_HAS_SUCCESS", "ACQ.CONTEXT_INCONSISTENT", "ACQ.DISCORDANT_REPEAT_REQUEST"].contains(word)
    }

    /// True for a final refusal of the acquirer about this trade.
    fileprivate var isFinal: Bool {
        guard code == "40004", let word, word.hasPrefix("ACQ.") else { return false }
        return !["ACQ.SYSTEM_ERROR", "ACQ.REQUEST_TOO_FREQUENT", "ACQ.REFUND_IN_PROGRESS"].contains(word)
            && !isAboutAnother
    }

    /// True where the gateway refused before any work: because of a key, a right, a parameter, a limit.
    fileprivate var isBeforeWork: Bool { ["20001", "40001", "40002", "40003", "40005", "40006"].contains(code) }
}

extension AlipayFailure {
    /// The provider error after a call that changes something.
    var afterChange: ProviderError {
        switch self {
        case .notSent: return .unavailable
        case .unanswered, .unsayable: return .outcomeUnknown
        case .unproven: return .unproven(.signature)
        case .foreign: return .unproven(.otherPayment)
        case .badMoney: return .unproven(.badMoney)
        case .refused(let refusal):
            if refusal.isBeforeWork { return .unavailable }
            guard refusal.isFinal, let word = refusal.word else { return .outcomeUnknown }
            return .rejected(reason: word)
        }
    }

    /// The provider error after a query: a missing answer says nothing about the queried object.
    var afterQuestion: ProviderError {
        switch self {
        case .unproven: .unproven(.signature)
        case .foreign: .unproven(.otherPayment)
        case .badMoney: .unproven(.badMoney)
        case .notSent, .unanswered, .unsayable, .refused: .unavailable
        }
    }
}
