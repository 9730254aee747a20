import ProviderKit

/// The failures of a call to Alipay.
typealias AlipayFailure = ServiceFailure<AlipayRefusal>

/// A refusal of Alipay's without its message, which can repeat the request's content.
struct AlipayRefusal: ServiceRefusal {
    /// A number such as `40004`; empty where an unsigned answer has none.
    let code: String
    /// The detailed code, such as `ACQ.TRADE_NOT_EXIST`; nil where it has another form.
    let word: String?
    /// True for an answer that Alipay's key proves; Alipay leaves some refusals of the application's key unsigned.
    let isProven: Bool

    /// True where no trade has this number; a QR code that was not scanned has none.
    var isMissing: Bool { isProven && code == "40004" && word == "ACQ.TRADE_NOT_EXIST" }

    /// True where the number was used with other parameters, or its trade has succeeded: the true state must be
    /// queried.
    var isAboutAnother: Bool {
        ["ACQ.TRADE_HAS_SUCCESS", "ACQ.CONTEXT_INCONSISTENT", "ACQ.DISCORDANT_REPEAT_REQUEST"].contains(word)
    }

    /// True for a final refusal of the acquirer about this trade.
    private var isFinal: Bool {
        guard code == "40004", let word, word.hasPrefix("ACQ.") else { return false }
        return !["ACQ.SYSTEM_ERROR", "ACQ.REQUEST_TOO_FREQUENT", "ACQ.REFUND_IN_PROGRESS"].contains(word)
            && !isAboutAnother
    }

    /// True where the gateway refused before any work: because of a key, a right, a parameter, a limit.
    private var isBeforeWork: Bool { ["20001", "40001", "40002", "40003", "40005", "40006"].contains(code) }

    func providerError(_ unknown: ProviderError) -> ProviderError {
        guard isProven else { return .unproven(.signature) }
        // A refused question says nothing about the trade that it was about.
        guard !isBeforeWork, unknown != .unavailable else { return .unavailable }
        guard isFinal, let word else { return unknown }
        return .rejected(reason: word)
    }
}
