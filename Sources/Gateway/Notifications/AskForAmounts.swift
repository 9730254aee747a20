import Domain
import FoundationEssentials
import ProviderKit
import Store

extension Gateway {
    /// Asks for each refund that a stored notification tells of without an amount, and that nobody here has made: it is
    /// booked with what its provider answers, and never with all that is left.
    ///
    /// - Throws: `temporarilyUnavailable` where the provider does not say how much it was; the notification waits then.
    func askForAmounts(_ id: ID<Domain.Notification>) async throws(GatewayError) -> [ProviderFact] {
        let (account, unknown) = try await read { db -> (AccountID?, [UnknownRefund]) in
            guard let stored = try db.waitingNotification(id) else { return (nil, []) }
            let facts = try JSONDecoder().decode([ProviderFact].self, from: Data(stored.facts.utf8))
            return (
                stored.account,
                try facts.compactMap { fact in
                    guard case .refund(let report) = fact else { return nil }
                    return try UnknownRefund(report, in: db)
                }
            )
        }
        var answers: [ProviderFact] = []
        for refund in unknown {
            guard let account = account.flatMap({ registry[$0] }) else { throw .providerUnavailable }
            let line = line(account)
            let attempt = RefundAttempt(
                refund: refund.report.refund ?? ids.make(), payment: refund.payment, amount: refund.payment.amount,
                reason: "", reference: refund.report.reference)
            let answer = await calls.perform { try? await line.query(refund: attempt) }
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

/// A refund that was told of without an amount and is not known here.
private struct UnknownRefund: Sendable {
    let report: RefundReport
    let payment: ProviderReference

    /// - Returns: nil for one that is known, has its amount, or is about no payment of ours.
    init?(_ report: RefundReport, in db: any Database) throws {
        guard report.amount == nil, report.outcome == .succeeded || report.outcome == .pending,
            let payment = try db.payment(report.payment)?.payment
        else { return nil }
        if let id = report.refund, try db.refund(id) != nil { return nil }
        let known = try db.refunds(of: payment.id)
        if let reference = report.reference, known.contains(where: { $0.reference == reference }) { return nil }
        self.report = report
        self.payment = ProviderReference(
            payment: payment.number, reference: report.paymentReference ?? payment.reference, amount: payment.amount)
    }
}
