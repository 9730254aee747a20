/// The state of the cashier's page, which the page, its module and every other client show alike.
package enum CashierState: String, Sendable, Codable, CaseIterable {
    case plans, methods, qr, redirect, stripe, checking, paid, closed, owned, unavailable, attention
    case applePay = "apple_pay"
    case appleIAP = "apple_iap"
    case wechatJSAPI = "wechat_jsapi"
}

/// The state of the cashier with its reason.
package struct CashierStanding: Sendable, Equatable {
    package let state: CashierState
    /// A word of the state, such as `cancelled` of `closed`; nil where the state says everything.
    package let reason: String?

    package init(_ state: CashierState, _ reason: String? = nil) {
        self.state = state
        self.reason = reason
    }
}

/// The facts from which ``standing`` computes the state of the cashier.
package struct CashierFacts: Sendable {
    /// The part of the choice that the payer asks to see again.
    package enum View: String, Sendable {
        case plans, methods
    }

    /// The reason why nothing can be sold.
    package enum Unavailable: String, Sendable {
        /// No SKU has a price in the currency.
        case currency
        /// No enabled account serves the platform.
        case platform
        /// The user had the free SKU already.
        case once
        case noAccount = "no_account"
    }

    /// The possibility of a sale to the user.
    package enum Offer: Sendable, Equatable {
        /// At least one SKU.
        case sells
        /// The only SKU is owned and not sold again.
        case owned
        case nothing(Unavailable)
    }

    /// The newest order; nil before the first.
    package var order: OrderFacts?
    /// The part of the choice that is asked for; nil also after the session's end.
    package var view: View?
    /// True where the session has more than one SKU and none is chosen.
    package var needsPlan: Bool
    package var offer: Offer
    /// True where the payer comes back from a card's page.
    package var hasReturned: Bool

    package init(
        order: OrderFacts? = nil, view: View? = nil, needsPlan: Bool = false, offer: Offer = .sells,
        hasReturned: Bool = false
    ) {
        self.order = order
        self.view = view
        self.needsPlan = needsPlan
        self.offer = offer
        self.hasReturned = hasReturned
    }
}

extension CashierFacts {
    /// The facts about the order that the cashier shows.
    package struct OrderFacts: Sendable {
        /// The way of money that belongs back to the payer.
        package enum Return: Sendable {
            /// No refund of it was begun.
            case held
            case begun
            case done
        }

        /// The newest attempt of an open order.
        package enum Attempt: Sendable, Equatable {
            /// No attempt, or one whose provider has given no contract.
            case none
            /// Has failed or was cancelled.
            case ended
            /// Has an outcome that is awaited.
            case awaited
            /// Waits for the payer, with a contract of this type.
            case open(ContractType)
        }

        package var status: Order.Status
        /// True where money of another amount came, and nobody has decided about it.
        package var hasMismatch: Bool
        /// `open` where a dispute is open, else `lost` where one was lost.
        package var dispute: Dispute.State?
        /// `duplicate_payment` or `duplicate_ownership`, and the way of its money.
        package var duplicate: (anomaly: Anomaly, money: Return)?
        /// The way of money that came after the order was closed; nil where none came.
        package var latePayment: Return?
        /// `cancelled`, `expired` or `trial_used` of a closed order.
        package var closing: String
        package var attempt: Attempt

        package init(
            status: Order.Status, hasMismatch: Bool = false, dispute: Dispute.State? = nil,
            duplicate: (anomaly: Anomaly, money: Return)? = nil, latePayment: Return? = nil,
            closing: String = "cancelled", attempt: Attempt = .none
        ) {
            self.status = status
            self.hasMismatch = hasMismatch
            self.dispute = dispute
            self.duplicate = duplicate
            self.latePayment = latePayment
            self.closing = closing
            self.attempt = attempt
        }
    }

    /// The state of the cashier: the first row of `docs/api.md` section 13 that fits.
    package var standing: CashierStanding {
        guard let order else { return withoutOrder }
        if let attention = order.attention { return attention }
        if order.status == .paid { return CashierStanding(.paid) }
        if let view { return choice(view) }
        if order.status == .closed { return CashierStanding(.closed, order.closing) }
        switch order.attempt {
        case .none, .ended: return CashierStanding(.methods)
        case .awaited: return CashierStanding(.checking)
        case .open(.stripe) where hasReturned: return CashierStanding(.checking)
        case .open(let type): return CashierStanding(type.state)
        }
    }

    private var withoutOrder: CashierStanding {
        switch offer {
        case .owned: CashierStanding(.owned)
        case .nothing(let reason): CashierStanding(.unavailable, reason.rawValue)
        case .sells: choice(view ?? .methods)
        }
    }

    private func choice(_ view: View) -> CashierStanding {
        CashierStanding(view == .plans || needsPlan ? .plans : .methods)
    }
}

extension CashierFacts.OrderFacts {
    /// The standing of an order that needs the payer's or the staff's attention; nil for any other.
    fileprivate var attention: CashierStanding? {
        func attention(_ reason: String) -> CashierStanding { CashierStanding(.attention, reason) }
        if hasMismatch { return attention(Anomaly.amountMismatch.rawValue) }
        switch dispute {
        case .open: return attention("dispute_open")
        case .lost: return attention("dispute_lost")
        case .won, nil: break
        }
        if let duplicate, duplicate.money != .done {
            return attention(duplicate.money == .held ? "held" : duplicate.anomaly.rawValue)
        }
        if status == .refunded || status == .partiallyRefunded { return attention(status.rawValue) }
        if status == .closed, let latePayment {
            return attention(latePayment == .held ? "held" : Anomaly.latePayment.rawValue)
        }
        return nil
    }
}

extension ContractType {
    /// The state in which the cashier shows a contract of this type.
    fileprivate var state: CashierState {
        switch self {
        case .appleIAP: .appleIAP
        case .stripe: .stripe
        case .url: .redirect
        case .qr: .qr
        case .applePay: .applePay
        case .wechatJSAPI: .wechatJSAPI
        // A free order is paid when it is made, and no page acts on a contract for an app.
        case .alipayApp, .wechatApp, .none: .methods
        }
    }
}
