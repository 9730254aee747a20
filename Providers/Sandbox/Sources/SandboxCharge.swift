import Domain
public import ProviderKit

/// Charges wallet tokens: the simulated processor only looks at the amount, not at the token.
extension SandboxProvider: InstrumentCharging {
    public func charge(_ charge: InstrumentCharge) async throws(ProviderError) -> PaymentReport {
        let payment = try await call { () async throws(ProviderError) in
            try await upstream.charge(charge, status: Self.fate(of: charge.amount))
        }
        return PaymentReport(payment: charge.payment, outcome: payment.outcome)
    }

    /// Returns the outcome of an amount: one that ends in 13 minor units is refused, in 17 is pending, and others
    /// succeed.
    private static func fate(of amount: Money) -> SandboxPayment.Status {
        switch amount.value % 100 {
        case 13: .failed
        case 17: .pending
        default: .succeeded
        }
    }
}

extension SandboxUpstream {
    /// Charges once; a repetition finds the payment of the first call.
    ///
    /// - Throws: `rejected` for a closed payment, and for another amount under a known id.
    func charge(
        _ charge: InstrumentCharge, status: SandboxPayment.Status
    ) async throws(ProviderError) -> SandboxPayment {
        let charged = SandboxPayment(charge, status: status)
        let stored = try await change(charge.payment) { $0 == nil ? charged : nil } ?? charged
        guard stored.amount == charge.amount else { throw .rejected(reason: "payment_id_reused") }
        guard stored.status != .cancelled else { throw .rejected(reason: "payment_closed") }
        return stored
    }
}

extension SandboxPayment {
    /// Makes a charged payment, which has no page.
    fileprivate init(_ charge: InstrumentCharge, status: Status) {
        self.init(
            amount: charge.amount, status: status, order: charge.order, title: charge.title.firstScalars(200),
            returnURL: nil, expiresAt: nil)
    }
}
