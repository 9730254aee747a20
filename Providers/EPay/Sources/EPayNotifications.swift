import Domain
import FoundationEssentials
import ProviderKit

/// Reads the facts of a notification once its signature is verified.
extension EPayProvider {
    /// Reads the fields from the query of a GET or the body of a POST.
    func reading(_ notification: RawNotification) throws(ProviderError) -> ReceivedNotification {
        let bytes = notification.method == .get ? Data(notification.query.utf8) : notification.body
        guard let form = FormFields(bytes) else { throw .unproven(.malformed) }
        guard settings.signature.isGenuine(form) else { throw .unproven(.signature) }
        guard form["pid"] == settings.pid else { throw .unproven(.otherMerchant) }
        guard let number = EPayText.word(form["trade_no"]) else { throw .rejected(reason: "bad_trade_no") }
        guard let status = EPayText.word(form["trade_status"]) else { throw .rejected(reason: "bad_trade_status") }
        guard let money = EPayText.money(form["money"]) else { throw .unproven(.badMoney) }
        var facts: [ProviderFact] = []
        // A number of another form belongs to no payment of ours.
        if let payment = form["out_trade_no"].flatMap({ ID<Payment>($0) }) {
            let outcome: PaymentOutcome = status == "TRADE_SUCCESS" ? .succeeded(money) : .pending(status: status)
            facts = [.payment(PaymentReport(payment: payment, outcome: outcome, reference: number))]
        }
        // There is no event id: the trade and its status identify the event.
        return ReceivedNotification(
            eventID: "\(number) \(form["out_trade_no"]?.firstScalars(64) ?? "") \(status) \(money.decimal)",
            type: status,
            facts: facts, acknowledgement: Acknowledgement(body: "success"))
    }
}
