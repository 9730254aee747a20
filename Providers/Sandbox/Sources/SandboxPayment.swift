import Domain
import FoundationEssentials
import ProviderKit

/// A payment of the simulated service, stored as an entry of the account's book.
struct SandboxPayment: Codable, Sendable, Equatable {
    enum Status: String, Codable, Sendable {
        case pending, succeeded, failed, cancelled
    }

    /// A refund by its id.
    struct Refund: Codable, Sendable, Equatable {
        let amount: Money
        /// False for a refund that was queried before it was made and can no longer be made, and for one that failed
        /// later.
        let succeeded: Bool
    }

    /// The event that ended the payment, stored so that a repetition of the payer's act repeats the same notification.
    struct Event: Codable, Sendable, Equatable {
        let id: String
        let at: Timestamp
    }

    let amount: Money
    var status: Status
    /// The order; nil for a payment that was queried but never opened.
    let order: ID<Order>?
    let title: String
    let returnURL: String?
    let expiresAt: Timestamp?
    var refunds: [String: Refund]
    var event: Event?
    /// The mandate that it is to leave behind; nil for a payment that happens once.
    var mandate: SandboxMandateRequest?
    /// The reason for which a charge was refused.
    var refusal: ChargeRefusal?
    /// True for a charge of a mandate, which waits for no payer.
    var isCharge: Bool?

    private enum CodingKeys: String, CodingKey {
        case amount, status, order, title, refunds, event, mandate, refusal
        case isCharge = "is_charge"
        case returnURL = "return_url"
        case expiresAt = "expires_at"
    }

    /// Makes a payment that is opened.
    init(_ attempt: PaymentAttempt, status: Status) {
        self.init(
            amount: attempt.amount, status: status, order: attempt.order, title: attempt.title.firstScalars(200),
            returnURL: attempt.returnURL, expiresAt: attempt.expiresAt)
        mandate = attempt.mandate.map {
            SandboxMandateRequest(
                subscription: $0.subscription, period: $0.periodIndex, terms: $0.terms, isSetup: false)
        }
    }

    /// Makes a payment that was never opened here.
    init(unopened amount: Money, status: Status) {
        self.init(amount: amount, status: status, order: nil, title: "", returnURL: nil, expiresAt: nil)
    }

    init(
        amount: Money, status: Status, order: ID<Order>?, title: String, returnURL: String?, expiresAt: Timestamp?
    ) {
        self.amount = amount
        self.status = status
        self.order = order
        self.title = title
        self.returnURL = returnURL
        self.expiresAt = expiresAt
        refunds = [:]
    }
}

extension SandboxPayment {
    /// Returns true for an unpaid payment that has expired.
    func isExpired(_ now: Timestamp) -> Bool { status == .pending && expiresAt.map { $0 <= now } ?? false }

    /// Returns this payment, closed where it has expired.
    func settled(_ now: Timestamp) -> SandboxPayment {
        guard isExpired(now) else { return self }
        var closed = self
        closed.status = .cancelled
        return closed
    }

    var outcome: PaymentOutcome {
        switch status {
        case .pending: .accepted
        case .succeeded: .succeeded(amount)
        case .failed: .failed(reason: "payer_failed")
        case .cancelled: .cancelled
        }
    }

    /// Returns the event of a payer's act; nil where the act changed nothing.
    ///
    /// A repetition of the act that ended the payment returns the same event.
    func announces(_ act: SandboxPayerAct, _ event: Event, now: Timestamp) -> Event? {
        switch (act, settled(now).status) {
        case (.succeed, .succeeded), (.fail, .failed): self.event
        case (.pending, .pending): event
        default: nil
        }
    }
}

extension SandboxPayment.Refund {
    var outcome: RefundOutcome { succeeded ? .succeeded : .failed(reason: "unknown_refund") }
}

/// The payer's action on the page.
enum SandboxPayerAct: String, Sendable, CaseIterable {
    case succeed, fail, pending

    var eventType: String {
        switch self {
        case .succeed: "payment.succeeded"
        case .fail: "payment.failed"
        case .pending: "payment.pending"
        }
    }

    /// The payment's state after the act; nil leaves it unchanged.
    var status: SandboxPayment.Status? {
        switch self {
        case .succeed: .succeeded
        case .fail: .failed
        case .pending: nil
        }
    }
}
