import Domain
public import ProviderKit

/// Charging wallet tokens: the played processor looks at the amount and not into the token.
extension SandboxProvider: InstrumentCharging {
    public func charge(_ charge: InstrumentCharge) async throws(ProviderError) -> PaymentReport {
        let payment = try await call { () async throws(ProviderError) in
            try await upstream.charge(charge, status: Self.fate(of: charge.amount))
        }
        return PaymentReport(payment: charge.payment, outcome: payment.outcome)
    }

    /// Amounts that end in 13 minor units are refused, in 17 wait, and every other one succeeds.
    private static func fate(of amount: Money) -> SandboxPayment.Status {
        switch amount.value % 100 {
        case 13: .failed
        case 17: .pending
        default: .succeeded
        }
    }
}

extension SandboxUpstream {
    /// Charges once; a repetition finds what the first call made.
    ///
    /// - Throws: `rejected` for a payment that is closed, and for another amount under a known id.
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
    /// A payment as it is charged; it has no page that anybody was sent to.
    fileprivate init(_ charge: InstrumentCharge, status: Status) {
        self.init(
            amount: charge.amount, status: status, order: charge.order, title: charge.title.firstScalars(200),
            returnURL: nil, expiresAt: nil)
    }
}
