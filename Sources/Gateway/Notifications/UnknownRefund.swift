import Domain
import ProviderKit
import Store

extension Notifications {
    /// Queries the providers for the amounts of refunds that were reported without one and are unknown here.
    ///
    /// An amount is never assumed to be all that is left.
    /// - Throws: `temporarilyUnavailable` where a provider does not state the amount; the notification is processed
    ///   later.
    func amounts(of unknown: [UnknownRefund]) async throws(GatewayError) -> [ProviderFact] {
        var answers: [ProviderFact] = []
        for refund in unknown {
            guard let account = registry[refund.account] else { throw .providerUnavailable }
            let client = settlements.providers.client(of: account)
            let attempt = RefundAttempt(
                refund: refund.report.refund ?? settlements.ids.make(), payment: refund.payment,
                amount: refund.payment.amount,
                reason: "", reference: refund.report.reference)
            let answer = await settlements.providers.perform { try? await client.query(refund: attempt) }
            guard let answer, answer.payment == refund.report.payment, let amount = answer.amount else {
                throw .temporarilyUnavailable(retryAfter: 60)
            }
            answers.append(
                .refund(
                    RefundReport(
                        payment: refund.report.payment, refund: refund.report.refund, outcome: answer.outcome,
                        amount: amount, reference: refund.report.reference ?? answer.reference,
                        paymentReference: refund.report.paymentReference)))
        }
        return answers
    }
}

/// A refund that was reported without an amount and is unknown here.
struct UnknownRefund: Sendable {
    let account: AccountID
    let report: RefundReport
    let payment: ProviderReference

    /// Returns the refunds of this kind among the facts of an account's notification.
    static func all(
        _ facts: [ProviderFact], from account: AccountID, in db: any Database
    ) throws -> [UnknownRefund] {
        try facts.compactMap { fact in
            guard case .refund(let report) = fact, report.amount == nil else { return nil }
            return try UnknownRefund(report, from: account, in: db)
        }
    }

    /// - Returns: nil for a refund that is known, that moved no money, or whose payment is not this account's.
    private init?(_ report: RefundReport, from account: AccountID, in db: any Database) throws {
        guard report.outcome == .succeeded || report.outcome == .pending,
            let payment = try db.payments.find(report.payment).value()?.payment,
            payment.account == account || payment.processor == account
        else { return nil }
        if let id = report.refund, try db.refunds.find(id) != nil { return nil }
        let known = try db.refunds.list(of: payment.id).value()
        if let reference = report.reference, known.contains(where: { $0.reference == reference }) { return nil }
        self.account = account
        self.report = report
        self.payment = ProviderReference(
            payment: payment.number, reference: report.paymentReference ?? payment.reference, amount: payment.amount)
    }
}
