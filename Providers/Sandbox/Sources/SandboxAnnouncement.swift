public import Domain
public import ProviderKit

extension SandboxProvider: PaymentPlaying {
    public func announce(
        _ event: PlayedPaymentEvent, of payment: ID<Payment>, amount: Money
    ) async throws(ProviderError) {
        let nonce = Hex.encoded(context.random.bytes(8))
        await notify(
            SandboxEvent(
                event_id: "\(payment)-\(event.type)-\(nonce)", payment_id: payment.rawValue, type: event.type,
                amount: amount, refund_id: event.refund?.rawValue, occurred_at: context.businessTime.now.rawValue))
    }
}

extension PlayedPaymentEvent {
    fileprivate var type: String {
        switch self {
        case .succeeded: "payment.succeeded"
        case .refundFailed: "refund.failed"
        case .disputeOpened: "dispute.opened"
        case .disputeWon: "dispute.won"
        }
    }

    fileprivate var refund: ID<Refund>? { if case .refundFailed(let refund) = self { refund } else { nil } }
}
