/// The treatment of a payment that succeeds although its order is closed.
package enum LatePaymentPolicy: String, Sendable, CaseIterable {
    case fulfil, refund, hold
}

/// The treatment of a payment for something that is already paid or already owned.
package enum DuplicatePolicy: String, Sendable, CaseIterable {
    case refund, hold
}

package struct OrderPolicies: Sendable {
    package var latePayment: LatePaymentPolicy
    package var duplicatePayment: DuplicatePolicy
    package var expireAfterMinutes: Int64

    package init(
        latePayment: LatePaymentPolicy = .fulfil, duplicatePayment: DuplicatePolicy = .refund,
        expireAfterMinutes: Int64 = 30
    ) {
        self.latePayment = latePayment
        self.duplicatePayment = duplicatePayment
        self.expireAfterMinutes = expireAfterMinutes
    }

    /// Holds where the policies refund, for a rebuild: the refunds that a policy decided are already stored.
    package mutating func holdInsteadOfRefunding() {
        if latePayment == .refund { latePayment = .hold }
        if duplicatePayment == .refund { duplicatePayment = .hold }
    }
}

/// The effect of a payment's success on its order.
package struct OrderEffect: Sendable, Equatable {
    package let state: Order.State
    package let grants: Bool
    /// True where this payment's money goes back in full.
    package let refunds: Bool
    package let anomaly: Anomaly?

    package init(state: Order.State, grants: Bool, refunds: Bool = false, anomaly: Anomaly? = nil) {
        self.state = state
        self.grants = grants
        self.refunds = refunds
        self.anomaly = anomaly
    }
}

extension Order.State {
    /// Applies the success of a payment with the right amount, currency and account (`domain.md` section 3).
    ///
    /// - Parameter alreadyOwned: the order sells a non-consumable that the user owns through another order.
    package func paymentSucceeded(policies: OrderPolicies, alreadyOwned: Bool) -> OrderEffect {
        switch self {
        case .paid:
            return OrderEffect(
                state: .paid, grants: false, refunds: policies.duplicatePayment == .refund, anomaly: .duplicatePayment)
        case .closed where policies.latePayment != .fulfil:
            return OrderEffect(
                state: .closed, grants: false, refunds: policies.latePayment == .refund, anomaly: .latePayment)
        case .open, .closed:
            if alreadyOwned {
                return OrderEffect(
                    state: .paid, grants: false, refunds: policies.duplicatePayment == .refund,
                    anomaly: .duplicateOwnership)
            }
            return OrderEffect(state: .paid, grants: true, anomaly: self == .closed ? .latePayment : nil)
        }
    }
}
