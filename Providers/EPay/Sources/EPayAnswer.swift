import FoundationEssentials
import ProviderKit

/// The failures of a call.
enum EPayFailure: Error, Sendable, Equatable {
    /// The call never reached the service.
    case notSent
    /// The call may have taken effect: after a time limit, a lost connection, or an answer that is not the service's.
    case unanswered
    /// The service's refusal with this code, which does not tell the reason; only the free text does.
    case refused(code: String)
    /// The answer is not accepted: it is about another payment or merchant, or its amount is unreadable.
    case unproven(UnprovenReason)

    /// Returns the failure as a provider error.
    ///
    /// A refusal is never final, because its code does not show whether it can be corrected.
    /// - Parameter afterChange: true for a call that changes something, whose effect is unknown after a lost answer.
    func providerError(afterChange: Bool) -> ProviderError {
        switch self {
        case .notSent: .unavailable
        case .unanswered, .refused: afterChange ? .outcomeUnknown : .unavailable
        case .unproven(let reason): .unproven(reason)
        }
    }
}

/// A value that services write as text or as a number; numbers are read digit by digit, never as floating point.
struct EPayValue: Decodable, Sendable {
    let text: String

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self.text = text
        } else {
            text = try container.decode(Decimal.self).description
        }
    }
}

/// The answer of `mapi.php`, with one of three ways to pay.
struct EPayOpened: Decodable, Sendable {
    let code: EPayValue
    let trade_no: EPayValue?
    let payurl: String?
    let qrcode: String?
    let urlscheme: String?
}

/// The answer of `act=order`.
struct EPayOrder: Decodable, Sendable {
    enum State: Sendable, Equatable {
        case unpaid, paid, refunded
        case other(String)
    }

    let code: EPayValue
    let pid: EPayValue?
    let trade_no: EPayValue?
    let out_trade_no: EPayValue?
    let money: EPayValue?
    let status: EPayValue?

    var state: State {
        switch status?.text {
        case "0": .unpaid
        case "1": .paid
        case "2": .refunded
        default: .other(EPayText.word(status?.text) ?? "unknown")
        }
    }
}

/// The answer of `act=refund`.
struct EPayRefunded: Decodable, Sendable {
    let code: EPayValue
}
