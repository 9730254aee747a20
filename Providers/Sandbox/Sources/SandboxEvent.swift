import Domain
import FoundationEssentials
import ProviderKit

/// The body of a notification.
struct SandboxEvent: Codable, Sendable {
    let event_id: String
    let payment_id: String
    let type: String
    let amount: Money?
    let refund_id: String?
    let occurred_at: Int64
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
        guard let payment = ID<Payment>(payment_id) else { throw .rejected(reason: "bad_payment_id") }
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
