import Domain
import FoundationEssentials
import ProviderKit

/// A plugin's notification.
struct RemoteNotice: Decodable {
    let type: String
    let payment: RemotePayment?
    let refund: RemoteRefund?
    let dispute: RemoteDispute?
    let setup: RemoteSetup?
    let mandate: RemoteMandateNotice?
}

/// Reads the facts of a notification once its signature is verified.
extension RemoteProvider {
    func reading(_ notification: RawNotification) throws(ProviderError) -> ReceivedNotification {
        let now = (notification.receivedAt ?? context.time.now).rawValue
        // A body beyond the limit is not even hashed, because anybody can send it.
        guard notification.body.count <= RemoteLimits.body, let seal = RemoteSeal(notification.header) else {
            throw .unproven(.signature)
        }
        guard seal.isTimely(at: now) else { throw .unproven(.time) }
        guard seal.isGenuine(notification.body, settings.secrets) else { throw .unproven(.signature) }
        guard let notice = try? UnambiguousJSON.decode(RemoteNotice.self, from: notification.body),
            let type = RemoteText.word(notice.type)
        else { throw .rejected(reason: "malformed_body") }
        let (status, fact) = try fact(notice, type)
        return ReceivedNotification(
            eventID: seal.id, type: status.map { "\(type).\($0)" } ?? type, facts: fact.map { [$0] } ?? [],
            acknowledgement: Acknowledgement(body: "ok"))
    }

    /// - Returns: nil for an unknown type, and for a payment id of another form, which is not ours.
    private func fact(
        _ notice: RemoteNotice, _ type: String
    ) throws(ProviderError) -> (status: String?, ProviderFact?) {
        switch type {
        case "payment":
            guard let said = notice.payment else { throw .rejected(reason: "malformed_body") }
            guard let outcome = said.outcome else { throw .unproven(.badMoney) }
            let fact = ID<Payment>(said.payment_id).map {
                ProviderFact.payment(said.report(of: $0, outcome, log: context.log))
            }
            return (RemoteText.word(said.status), fact)
        case "refund":
            guard let said = notice.refund else { throw .rejected(reason: "malformed_body") }
            return (RemoteText.word(said.status), try refundFact(said))
        case "dispute":
            guard let said = notice.dispute else { throw .rejected(reason: "malformed_body") }
            guard let payment = ID<Payment>(said.payment_id), let outcome = said.outcome else {
                return (RemoteText.word(said.status), nil)
            }
            let report = DisputeReport(
                payment: payment, reference: RemoteText.reference(said.reference), outcome: outcome,
                amount: said.amount, at: said.at.map { Timestamp($0) },
                paymentReference: RemoteText.reference(said.payment_reference))
            return (RemoteText.word(said.status), .dispute(report))
        case "setup":
            guard let said = notice.setup else { throw .rejected(reason: "malformed_body") }
            guard let outcome = said.outcome else { throw .rejected(reason: "bad_mandate") }
            let fact = ID<Setup>(said.setup_id).map {
                ProviderFact.setup(
                    SetupReport(setup: $0, outcome: outcome, reference: RemoteText.reference(said.reference)))
            }
            return (RemoteText.word(said.status), fact)
        case "mandate":
            guard let said = notice.mandate else { throw .rejected(reason: "malformed_body") }
            return (RemoteText.word(said.status), try mandateFact(said))
        default: return (nil, nil)
        }
    }

    /// - Returns: nil for an unknown status, and for a subscription id of another form, which is not ours.
    private func mandateFact(_ said: RemoteMandateNotice) throws(ProviderError) -> ProviderFact? {
        guard let subscription = ID<Subscription>(said.subscription_id) else { return nil }
        switch said.status {
        case "made":
            guard let mandate = said.mandate?.mandate else { throw .rejected(reason: "bad_mandate") }
            return .mandate(MandateReport(subscription: subscription, event: .made(mandate)))
        case "ended":
            let reference = RemoteText.reference(said.mandate?.reference)
            // A reference that cannot be kept was never a mandate's, and must not end every other.
            guard said.mandate == nil || reference != nil else { throw .rejected(reason: "bad_mandate") }
            return .mandate(MandateReport(subscription: subscription, event: .ended(reference: reference)))
        default: return nil
        }
    }

    /// Reads a refund: ours has our id; one that was made at the plugin has its own reference and an amount.
    private func refundFact(_ said: RemoteRefund) throws(ProviderError) -> ProviderFact? {
        guard let payment = ID<Payment>(said.payment_id) else { return nil }
        let refund = said.refund_id.flatMap { ID<Refund>($0) }
        let reference = RemoteText.reference(said.reference)
        guard said.refund_id == nil || refund != nil else { throw .rejected(reason: "bad_refund_id") }
        guard refund != nil || (reference != nil && said.amount != nil) else {
            throw .rejected(reason: "bad_refund_id")
        }
        return .refund(
            RefundReport(
                payment: payment, refund: refund, outcome: said.outcome, amount: said.amount, reference: reference,
                paymentReference: RemoteText.reference(said.payment_reference)))
    }
}
