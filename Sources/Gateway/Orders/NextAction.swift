import Domain
import Store

/// The next step of a client that polls an order.
package enum NextAction: String, Encodable, Sendable, CaseIterable {
    /// The payer has to act in the current attempt.
    case pay
    /// The outcome is not known yet, or the payer has acted and the provider is processing it.
    case wait
    /// The newest attempt failed or was cancelled: the client can make another one.
    case retry
    /// The order is not open.
    case none
}

extension NextAction {
    /// - Parameters:
    ///   - payments: the attempts, oldest first.
    ///   - setup: the newest set-up of a trial's order, which has no payments.
    ///   - history: the order's timeline, oldest first.
    init(_ order: Order, payments: [Payment], setup: SetupRecord? = nil, history: [TimelineEntry]) {
        guard order.state == .open else {
            self = .none
            return
        }
        if payments.isEmpty, let setup {
            self = setup.nextAction
            return
        }
        guard let newest = payments.last else {
            self = .wait
            return
        }
        switch newest.state {
        case .failed, .cancelled: self = .retry
        case .created, .unknown, .succeeded: self = .wait
        case .pending: self = newest.isWorkedOn(history) || order.anomalies.contains(.amountMismatch) ? .wait : .pay
        }
    }
}

extension SetupRecord {
    fileprivate var nextAction: NextAction {
        switch state {
        case .failed, .cancelled: .retry
        case .created, .unknown, .succeeded: .wait
        case .pending: .pay
        }
    }
}

/// The failure of an attempt, or of the last try inside it.
package struct PaymentFailure: Encodable, Sendable, Equatable {
    /// The provider's own reason where it stated one: `[a-z_]+`.
    package let reason: String
    package private(set) var message = Self.text.english
    /// True where another try or attempt may succeed.
    package let retryable: Bool

    /// - Returns: nil where nothing failed.
    init?(_ payment: Payment, history: [TimelineEntry]) {
        let types = payment.state == .failed ? ["payment.failed"] : ["payment.try_failed"]
        guard payment.state == .failed || payment.state == .pending, !payment.isWorkedOn(history) else { return nil }
        let entry = history.last { types.contains($0.type) && $0.isAbout(payment) }
        guard payment.state == .failed || entry != nil else { return nil }
        reason = Self.word(entry?.detail.split(separator: " ").dropFirst().joined(separator: "_") ?? "")
        retryable = true
    }

    private static let text: LocalizedText = "The payment failed. Nothing was charged; pay again or in another way."

    /// Returns the failure with its message in the first of the languages that Paydesk has, else in English.
    ///
    /// - Parameter languages: language tags (RFC 5646), the preferred first.
    func speaking(_ languages: [String]) -> PaymentFailure {
        let known = languages.lazy.compactMap { $0.lowercased().split(separator: "-").first }
            .first { $0 == "zh" || $0 == "en" }
        var failure = self
        failure.message = known == "zh" ? Self.text.chinese : Self.text.english
        return failure
    }

    private static func word(_ text: String) -> String {
        let letters = text.lowercased().utf8.map { $0.isSmallLetter ? $0 : UInt8(ascii: "_") }
        let word = String(decoding: letters, as: UTF8.self).split(separator: "_").joined(separator: "_")
        return word.isEmpty ? "failed" : String(word.prefix(64))
    }
}

extension TimelineEntry {
    fileprivate func isAbout(_ payment: Payment) -> Bool { detail.hasPrefix(payment.id.rawValue) }
}

extension Payment {
    static let processing = "payment.processing"

    /// True where the provider's last report is that it is processing the payment, and no try has failed since.
    fileprivate func isWorkedOn(_ history: [TimelineEntry]) -> Bool {
        history.last { [Self.processing, "payment.try_failed"].contains($0.type) && $0.isAbout(self) }?.type
            == Self.processing
    }
}
