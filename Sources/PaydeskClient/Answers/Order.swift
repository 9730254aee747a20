/// An order as its buyer sees it (`api.md` section 4).
public struct ClientOrder: Sendable, Equatable, Decodable {
    public enum NextAction: String, Sendable, Decodable {
        case pay, wait, retry, none
    }

    public let id: String
    /// `open`, `paid`, `partially_refunded`, `refunded` or `closed`.
    public let status: String
    public let nextAction: NextAction
    public let sku: String
    public let amount: ClientMoney?
    /// `Production`, `Sandbox` or `Xcode`.
    public let environment: String
    public let expiresAt: Int64?

    enum CodingKeys: String, CodingKey {
        case id, status, sku, amount, environment
        case nextAction = "next_action"
        case expiresAt = "expires_at"
    }

    /// True for an order that was paid, whatever was refunded since.
    public var isPaid: Bool { ["paid", "partially_refunded", "refunded"].contains(status) }
}

/// The end of a checkout.
public enum CheckoutOutcome: Sendable, Equatable {
    case paid(ClientOrder)
    /// Closed without a payment.
    case closed(ClientOrder)
    /// The attempt failed, and another may follow.
    case failed(ClientOrder)
    /// Not decided before the contract's end.
    case open(ClientOrder)
    /// The payer was sent away, and the app asks for the order when they come back.
    case left(orderID: String)
}

/// The answer to a posted wallet token.
public struct ApplePayResult: Sendable, Equatable, Decodable {
    public enum Status: String, Sendable, Decodable {
        case paid, pending, failed
    }

    public let status: Status
    public let order: ClientOrder
}
