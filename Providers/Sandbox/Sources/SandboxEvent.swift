import Domain
import FoundationEssentials
import ProviderKit

/// The body of a notification.
struct SandboxEvent: Codable, Sendable {
    let event_id: String
    let payment_id: String?
    let type: String
    let amount: Money?
    let refund_id: String?
    let occurred_at: Int64
    /// The set-up of `setup.succeeded` and `setup.failed`.
    var setup_id: String?
    /// The subscription of a set-up's event and of `mandate.ended`.
    var subscription_id: String?
}

extension SandboxPayment {
    /// The notification of a payer's act on a payment or a set-up.
    func notification(_ id: String, _ act: SandboxPayerAct, _ event: Event) -> SandboxEvent {
        guard let mandate, mandate.isSetup else {
            return SandboxEvent(
                event_id: event.id, payment_id: id, type: act.eventType, amount: amount, refund_id: nil,
                occurred_at: event.at.rawValue)
        }
        return SandboxEvent(
            event_id: event.id, payment_id: nil, type: act == .succeed ? "setup.succeeded" : "setup.failed",
            amount: nil, refund_id: nil, occurred_at: event.at.rawValue, setup_id: id,
            subscription_id: mandate.subscription.rawValue)
    }
}

extension SandboxEvent {
    /// - Throws: `rejected` for a genuine notification that cannot be decoded.
    init(_ body: Data) throws(ProviderError) {
        guard let event = try? UnambiguousJSON.decode(SandboxEvent.self, from: body) else {
            throw .rejected(reason: "malformed_body")
        }
        try ReceivedNotification.check(eventID: event.event_id, type: event.type, typeLimit: 64)
        self = event
    }

    var json: Data? { try? JSONText.encoded(self) }

    /// Converts the event to facts, with its amounts unchanged.
    func received() throws(ProviderError) -> ReceivedNotification {
        if type.hasPrefix("setup.") || type.hasPrefix("mandate.") {
            return ReceivedNotification(
                eventID: event_id, type: type, facts: try mandateFacts(), acknowledgement: Acknowledgement(body: "ok"))
        }
        guard let payment = payment_id.flatMap({ ID<Payment>($0) }) else { throw .rejected(reason: "bad_payment_id") }
        return ReceivedNotification(
            eventID: event_id, type: type, facts: try facts(payment), acknowledgement: Acknowledgement(body: "ok"))
    }

    private func facts(_ payment: ID<Payment>) throws(ProviderError) -> [ProviderFact] {
        let words = type.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard words.count == 2 else { return [] }
        switch words[0] {
        case "payment":
            return [.payment(PaymentReport(payment: payment, outcome: try paymentOutcome(words[1])))]
        case "refund":
            guard let outcome = refundOutcome(words[1]) else { return [] }
            guard let refund = refund_id.flatMap({ ID<Refund>($0) }) else { throw .rejected(reason: "bad_refund_id") }
            return [.refund(RefundReport(payment: payment, refund: refund, outcome: outcome, amount: amount))]
        case "dispute":
            guard let outcome = disputeOutcome(words[1]) else { return [] }
            return [
                .dispute(
                    DisputeReport(
                        payment: payment, reference: nil, outcome: outcome, amount: amount, at: Timestamp(occurred_at)))
            ]
        default:
            return []
        }
    }

    /// The facts of an event about a set-up or a mandate; a success is completed from the book.
    private func mandateFacts() throws(ProviderError) -> [ProviderFact] {
        switch type {
        case "mandate.ended":
            guard let subscription = subscription_id.flatMap({ ID<Subscription>($0) }) else {
                throw .rejected(reason: "bad_subscription_id")
            }
            return [.mandate(MandateReport(subscription: subscription, event: .ended(reference: nil)))]
        case "setup.succeeded", "setup.failed":
            guard let setup = setup_id.flatMap({ ID<Setup>($0) }) else { throw .rejected(reason: "bad_setup_id") }
            return [.setup(SetupReport(setup: setup, outcome: .pending))]
        default: return []
        }
    }

    private func paymentOutcome(_ word: String) throws(ProviderError) -> PaymentOutcome {
        switch word {
        case "succeeded":
            guard let amount else { throw .unproven(.badMoney) }
            return .succeeded(amount)
        case "failed": return .failed(reason: "payer_failed")
        case "cancelled": return .cancelled
        case "pending": return .processing
        default: return .pending(status: word)
        }
    }

    private func refundOutcome(_ word: String) -> RefundOutcome? {
        switch word {
        case "succeeded": .succeeded
        case "failed": .failed(reason: "refund_failed")
        default: nil
        }
    }

    private func disputeOutcome(_ word: String) -> DisputeOutcome? {
        switch word {
        case "opened": .opened
        case "won": .won
        case "lost": .lost
        default: nil
        }
    }
}
