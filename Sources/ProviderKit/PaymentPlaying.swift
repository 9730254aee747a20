public import Domain

/// A provider that plays its own service and can be told what happens to its payments; for development.
public protocol PaymentPlaying: PaymentPageServing {
    /// Announces that something happened to a payment, by a signed notification as the service would send it.
    func announce(_ event: PlayedPaymentEvent, of payment: ID<Payment>, amount: Money) async throws(ProviderError)
}

/// An event of a payment, or of its refund, that a played service announces.
public enum PlayedPaymentEvent: Sendable, Equatable {
    case succeeded
    case refundFailed(ID<Refund>)
    case disputeOpened, disputeWon
}
