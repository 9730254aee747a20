import Domain
import FoundationEssentials
import ProviderKit

/// Reads the facts of a notification once its signature is verified.
extension AlipayProvider {
    /// The only answer after which Alipay does not repeat a notification.
    static let acknowledgement = Acknowledgement(body: "success")

    func reading(_ notification: RawNotification) async throws(ProviderError) -> ReceivedNotification {
        let form = try verified(notification)
        guard (form["charset"] ?? "utf-8").lowercased() == "utf-8" else { throw .rejected(reason: "other_charset") }
        guard form["app_id"] == settings.appID else { throw .unproven(.otherApp) }
        // Alipay may leave the seller out; where it is present, it must be ours.
        guard form["seller_id"] ?? settings.sellerID == settings.sellerID else { throw .unproven(.otherMerchant) }
        guard let id = form["notify_id"], id.utf8.count <= 255 else { throw .rejected(reason: "bad_notify_id") }
        guard let status = AlipayText.word(form["trade_status"]) else { throw .rejected(reason: "bad_trade_status") }
        var facts: [ProviderFact] = []
        // A number of another form belongs to no payment of ours.
        if let payment = form["out_trade_no"].flatMap({ ID<Payment>($0) }) {
            facts = try await self.facts(form, status, payment)
        }
        return ReceivedNotification(
            eventID: id, type: status, facts: facts, acknowledgement: Self.acknowledgement)
    }

    /// Verifies the exact fields; empty ones are signed too, `sign` and `sign_type` are not.
    private func verified(_ notification: RawNotification) throws(ProviderError) -> FormFields {
        guard notification.method == .post, let form = FormFields(notification.body) else {
            throw .unproven(.malformed)
        }
        guard form["sign_type"] == "RSA2", let signature = form["sign"] else { throw .unproven(.signature) }
        guard settings.proof.knows(form["alipay_cert_sn"]) else { throw .unproven(.certificate) }
        guard
            settings.proof.isProven(
                form.joined(without: ["sign", "sign_type"], dropsEmpty: false), signature, by: form["alipay_cert_sn"])
        else { throw .unproven(.signature) }
        return form
    }

    private func facts(
        _ form: FormFields, _ status: String, _ payment: ID<Payment>
    ) async throws(ProviderError) -> [ProviderFact] {
        // A partial refund is reported with the trade's own status, which is not a second payment.
        if form["gmt_refund"] != nil || AlipayText.money(form["refund_fee"]).map({ !$0.isZero }) ?? false {
            return try await refundFacts(form, payment)
        }
        let outcome: PaymentOutcome
        switch status {
        case "WAIT_BUYER_PAY": outcome = .accepted
        case "TRADE_SUCCESS", "TRADE_FINISHED":
            guard let money = AlipayText.money(form["total_amount"], form["trans_currency"]) else {
                throw .unproven(.badMoney)
            }
            outcome = .succeeded(money)
        case "TRADE_CLOSED":
            // The trade was closed after it was paid: its refunds report the money.
            guard form["gmt_payment"] == nil else { return [] }
            outcome = .cancelled
        default: outcome = .pending(status: status)
        }
        return [
            .payment(PaymentReport(payment: payment, outcome: outcome, reference: AlipayText.word(form["trade_no"])))
        ]
    }

    /// `refund_fee` is the sum of all refunds, so each refund is queried by its number, ours or another's: only that
    /// answer has its amount, and the proof that it was made.
    private func refundFacts(
        _ form: FormFields, _ payment: ID<Payment>
    ) async throws(ProviderError) -> [ProviderFact] {
        let number = form["out_biz_no"] ?? payment.rawValue
        let trade = AlipayText.word(form["trade_no"])
        let unknown = Money(value: 0, currency: .cny)
        let known: AlipayRefund?
        do throws(AlipayFailure) {
            known = try await api.refund(
                number, of: ProviderReference(payment: payment, reference: trade, amount: unknown))
        } catch {
            // Alipay repeats the notification, and the refund is queried again.
            throw .unavailable
        }
        guard let known else {
            context.log.write(
                .warning, "alipay: a refund of unknown amount was made elsewhere", ["payment": payment.rawValue])
            return []
        }
        let refund = ID<Refund>(number)
        return [
            .refund(
                RefundReport(
                    payment: payment, refund: refund, outcome: .succeeded, amount: known.amount,
                    reference: refund == nil ? number.firstScalars(64) : nil, paymentReference: trade))
        ]
    }
}
