import ProviderKit

/// The failures of a call to Alipay.
typealias AlipayFailure = ServiceFailure<AlipayRefusal>

/// An answer of Alipay's that is no success, without its messages: they can repeat what was signed.
struct AlipayRefusal: ServiceRefusal {
    /// A number such as `40004`; empty where an unsigned answer has none.
    let code: String
    /// Such as `ACQ.TRADE_NOT_EXIST`; nil where it is no word.
    let word: String?
    /// True for an answer that Alipay's key proves; Alipay leaves some refusals of the application's key unsigned.
    let isProven: Bool

    /// True where there is no trade of this number; a QR code that was not scanned has none.
    var isMissing: Bool { isProven && code == "40004" && word == "ACQ.TRADE_NOT_EXIST" }

    /// A number of ours has been used with other parameters, or its trade has ended well: what is true has to be asked.
    var isAboutAnother: Bool {
        ["ACQ.TRADE_HAS_SUCCESS", "ACQ.CONTEXT_INCONSISTENT", "ACQ.DISCORDANT_REPEAT_REQUEST"].contains(word)
    }

    /// A "no" of the acquirer's, about this very trade.
    private var isFinal: Bool {
        guard code == "40004", let word, word.hasPrefix("ACQ.") else { return false }
        return !["ACQ.SYSTEM_ERROR", "ACQ.REQUEST_TOO_FREQUENT", "ACQ.REFUND_IN_PROGRESS"].contains(word)
            && !isAboutAnother
    }

    /// The gateway refused before anything began: a key, a right, a parameter, a limit.
    private var isBeforeWork: Bool { ["20001", "40001", "40002", "40003", "40005", "40006"].contains(code) }

    func providerError(_ unknown: ProviderError) -> ProviderError {
        guard isProven else { return .unproven(.signature) }
        // A refused question says nothing about the trade that it was about.
        guard !isBeforeWork, unknown != .unavailable else { return .unavailable }
        guard isFinal, let word else { return unknown }
        return .rejected(reason: word)
    }
}
