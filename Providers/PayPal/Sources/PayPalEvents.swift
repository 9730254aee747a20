import Domain
import FoundationEssentials
import ProviderKit

/// Reads the facts of a notification: the state of its object, queried at PayPal.
extension PayPalProvider {
    private struct Event: Decodable {
        struct Resource: Decodable {
            let id: String?
            let dispute_id: String?
        }
        let id: String
        let event_type: String
        let resource: Resource
    }

    /// - Throws: `rejected` for a genuine notification that cannot be decoded, `unavailable` where PayPal does not
    ///   answer.
    func reading(_ body: Data) async throws(ProviderError) -> ReceivedNotification {
        guard let event = try? UnambiguousJSON.decode(Event.self, from: body) else {
            throw .rejected(reason: "malformed_body")
        }
        try ReceivedNotification.check(eventID: event.id, type: event.event_type)
        var facts: [ProviderFact] = []
        do throws(PayPalFailure) { facts = try await self.facts(event) } catch {
            switch error {
            case .unsayable(let reason):
                throw reason == "bad_amount" ? .unproven(.badMoney) : .rejected(reason: reason)
            // The object is not this account's.
            case .unproven: break
            case .refused(let refusal) where refusal.isMissing: break
            // PayPal repeats the notification, and the object is queried again.
            case .notSent, .unanswered, .refused: throw .unavailable
            }
        }
        return ReceivedNotification(
            eventID: event.id, type: event.event_type, facts: facts, acknowledgement: Acknowledgement(body: "ok"))
    }

    /// Reads the facts from the object's state, not from the event's name; other types have no facts.
    private func facts(_ event: Event) async throws(PayPalFailure) -> [ProviderFact] {
        let (type, id) = (event.event_type, event.resource.id ?? "")
        if type.hasPrefix("CHECKOUT.ORDER.") { return try await orderFacts(id) }
        if type.hasPrefix("CUSTOMER.DISPUTE.") { return try await disputeFacts(event.resource.dispute_id ?? id) }
        if type.hasPrefix("PAYMENT.REFUND.") || type == "PAYMENT.CAPTURE.REFUNDED" { return try await refundFacts(id) }
        if type == "PAYMENT.CAPTURE.REVERSED" { return try await reversalFacts(id) }
        if type.hasPrefix("PAYMENT.CAPTURE.") { return try await captureFacts(id) }
        return []
    }

    /// Captures an order that its payer approved, so that a payer who never returns has paid nevertheless.
    private func orderFacts(_ id: String) async throws(PayPalFailure) -> [ProviderFact] {
        let order = try await api.order(id)
        guard let payment = order.customID.flatMap({ ID<Payment>($0) }) else { return [] }
        do throws(ProviderError) {
            // A payment is stored before its page is shown. A missing one belongs to another database, or was lost from
            // this one, so its purpose is unknown here.
            guard let record = try await ledger.record(payment) else { return [] }
            guard record.order ?? order.id == order.id else { throw .unproven(.otherPayment) }
            return [.payment(try await settling(payment, order.id, record))]
        } catch {
            if case .unproven(let reason) = error { throw .unproven(reason) }
            throw .unanswered
        }
    }

    /// Returns the facts of a capture of the payment's own order: the maker of another order has chosen its payee.
    private func captureFacts(_ id: String) async throws(PayPalFailure) -> [ProviderFact] {
        let capture = try await api.capture(id)
        guard let payment = capture.custom_id.flatMap({ ID<Payment>($0) }) else { return [] }
        // A capture without an exact amount is refused, whoever it belongs to.
        _ = try capture.outcome(isFinal: false)
        let record: PayPalRecord?
        do throws(ProviderError) { record = try await ledger.record(payment) } catch { throw .unanswered }
        guard let own = record?.order else { return [] }
        let order = try await api.order(own)
        guard order.holds(capture: id) else { throw .foreign }
        // Another capture may follow a declined one until the order is complete.
        let outcome = try capture.outcome(isFinal: order.isFinal)
        return [.payment(PaymentReport(payment: payment, outcome: outcome, reference: own))]
    }

    private func refundFacts(_ id: String) async throws(PayPalFailure) -> [ProviderFact] {
        let refund = try await api.refund(id)
        guard let payment = try await payment(named: refund.custom_id, capture: refund.capture) else { return [] }
        return [.refund(try report(refund, payment, refund.invoice_id.flatMap { ID<Refund>($0) }))]
    }

    /// Returns the facts of money that PayPal took back.
    ///
    /// Mostly a dispute caused it, and reports its amount and its end; everything else counts as a refund at PayPal.
    private func reversalFacts(_ id: String) async throws(PayPalFailure) -> [ProviderFact] {
        context.log.write(.warning, "paypal: a capture was reversed", ["reversal": PayPalText.word(id) ?? ""])
        let reversal = try await api.refund(id)
        var facts: [ProviderFact] = []
        if let capture = reversal.capture {
            for item in try await api.disputes(about: capture) { facts += try await disputeFacts(item.dispute_id) }
        }
        guard facts.isEmpty else { return facts }
        guard let payment = try await payment(named: reversal.custom_id, capture: reversal.capture) else { return [] }
        return [.refund(try report(reversal, payment, nil))]
    }

    private func disputeFacts(_ id: String) async throws(PayPalFailure) -> [ProviderFact] {
        guard let id = PayPalText.id(id) else { throw .foreign }
        let dispute: PayPalObject.Dispute = try await api.get("v1/customer/disputes/\(id)")
        guard dispute.dispute_id == id else { throw .foreign }
        guard let outcome = dispute.outcome, let transaction = dispute.disputed_transactions?.first,
            let payment = try await payment(
                named: transaction.custom, capture: PayPalText.id(transaction.seller_transaction_id))
        else { return [] }
        let lost = outcome == .lost ? PayPalAmount.money(dispute.dispute_outcome?.amount_refunded) : nil
        guard let amount = lost ?? PayPalAmount.money(dispute.dispute_amount) else { throw .unsayable("bad_amount") }
        let report = DisputeReport(
            payment: payment, reference: id, outcome: outcome, amount: amount,
            at: dispute.update_time.flatMap(PayPalSignature.seconds))
        return [.dispute(report)]
    }

    /// Finds the payment of a refund or a dispute.
    ///
    /// The maker of an order may name our payment in it, without effect: a refund of a capture that is known to belong
    /// to another order is not ours.
    private func payment(
        named custom: String?, capture id: String?
    ) async throws(PayPalFailure) -> ID<Payment>? {
        var named = custom.flatMap { ID<Payment>($0) }
        if named == nil, let id { named = try await api.capture(id).custom_id.flatMap { ID<Payment>($0) } }
        guard let payment = named, let id else { return named }
        let record: PayPalRecord?
        do throws(ProviderError) { record = try await ledger.record(payment) } catch { throw .unanswered }
        guard let own = record?.order else { return payment }
        do throws(PayPalFailure) {
            return try await api.order(own).holds(capture: id) ? payment : nil
        } catch {
            // An object that PayPal has deleted contradicts nothing.
            guard case .refused(let refusal) = error, refusal.isMissing else { throw error }
            return payment
        }
    }
}

extension PayPalObject.Dispute {
    /// The outcome; nil for an inquiry, in which buyer and seller only talk, and for unknown values.
    var outcome: DisputeOutcome? {
        switch status {
        case "OPEN", "WAITING_FOR_BUYER_RESPONSE", "WAITING_FOR_SELLER_RESPONSE", "UNDER_REVIEW":
            dispute_life_cycle_stage == "INQUIRY" ? nil : .opened
        case "RESOLVED":
            switch dispute_outcome?.outcome_code {
            case "RESOLVED_SELLER_FAVOUR", "RESOLVED_WITH_PAYOUT", "CANCELED_BY_BUYER", "DENIED": .won
            case "RESOLVED_BUYER_FAVOUR", "ACCEPTED": .lost
            default: nil
            }
        default: nil
        }
    }
}
