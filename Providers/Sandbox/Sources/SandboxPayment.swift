import Domain
import FoundationEssentials
import ProviderKit

/// A payment as the played service knows it; the value of one entry of the account's book.
struct SandboxPayment: Codable, Sendable, Equatable {
    enum Status: String, Codable, Sendable {
        case pending, succeeded, failed, cancelled
    }

    /// A refund by its id.
    struct Refund: Codable, Sendable, Equatable {
        let amount: Money
        /// False for one that was asked about before it was made, and can never be made then, and for one that bounced.
        let succeeded: Bool
    }

    /// The event that ended the payment, stored so that repeating the payer's act repeats the same notification.
    struct Event: Codable, Sendable, Equatable {
        let id: String
        let at: Timestamp
    }

    let amount: Money
    var status: Status
    /// Nil for a payment that was asked about but never opened.
    let order: ID<Order>?
    let title: String
    let returnURL: String?
    let expiresAt: Timestamp?
    var refunds: [String: Refund]
    var event: Event?

    private enum CodingKeys: String, CodingKey {
        case amount, status, order, title, refunds, event
        case returnURL = "return_url"
        case expiresAt = "expires_at"
    }

    /// A payment as it is opened.
    init(_ attempt: PaymentAttempt, status: Status) {
        self.init(
            amount: attempt.amount, status: status, order: attempt.order, title: attempt.title.firstScalars(200),
            returnURL: attempt.returnURL, expiresAt: attempt.expiresAt)
    }

    /// A payment that was never opened here.
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
    /// The service closes what is not paid in time.
    func isExpired(_ now: Timestamp) -> Bool { status == .pending && expiresAt.map { $0 <= now } ?? false }

    /// This payment with its time taken into account.
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

    /// The event to send for an act of the payer; nil when the act changed nothing.
    ///
    /// Repeating the act that ended the payment gives the event of then.
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

    /// The state that it leads to; nil leaves the payment as it is.
    var status: SandboxPayment.Status? {
        switch self {
        case .succeed: .succeeded
        case .fail: .failed
        case .pending: nil
        }
    }
}
