import Crypto
import Domain
import FoundationEssentials
public import ProviderKit

extension PiggyProvider {
    public func receive(_ notification: RawNotification) async throws(ProviderError) -> ReceivedNotification {
        try verify(notification)
        guard let event = try? JSONDecoder().decode(PiggyEvent.self, from: notification.body) else {
            throw .rejected(reason: "malformed_body")
        }
        return ReceivedNotification(
            eventID: event.event, type: event.type, facts: try event.facts, acknowledgement: Acknowledgement(body: "ok")
        )
    }

    /// `X-Piggy-Signature: <unix time>,<hex HMAC-SHA256(secret, "<unix time>." + body)>`.
    private func verify(_ notification: RawNotification) throws(ProviderError) {
        let parts = (notification.header("x-piggy-signature") ?? "").split(separator: ",").map(String.init)
        let now = (notification.receivedAt ?? context.time.now).rawValue
        guard parts.count == 2, let time = Int64(parts[0]), let code = Hex.decoded(parts[1], count: 32)
        else {
            throw .unproven(.signature)
        }
        guard (now - 300...now + 300).contains(time) else { throw .unproven(.time) }
        let isGood = HMAC<SHA256>.isValidAuthenticationCode(
            code, authenticating: Data("\(time).".utf8) + notification.body,
            using: SymmetricKey(data: Data(webhookSecret.value.utf8)))
        guard isGood else { throw .unproven(.signature) }
    }
}

struct PiggyEvent: Decodable {
    let event: String
    let type: String
    let payment: String
    let amount: String?
    let currency: String?
    let refund: String?

    /// The event's facts; empty where it is not about a payment of ours.
    var facts: [ProviderFact] {
        get throws(ProviderError) {
            guard let payment = ID<Payment>(payment) else { return [] }
            if type.hasPrefix("payment.") {
                return [.payment(PaymentReport(payment: payment, outcome: try outcome))]
            }
            guard type.hasPrefix("refund."), let refund = refund.flatMap({ ID<Refund>($0) }) else { return [] }
            let outcome: RefundOutcome =
                switch type {
                case "refund.done": .succeeded
                case "refund.failed": .failed(reason: "refund_failed")
                default: .pending
                }
            return [.refund(RefundReport(payment: payment, refund: refund, outcome: outcome, amount: try money))]
        }
    }

    private var outcome: PaymentOutcome {
        get throws(ProviderError) {
            switch type {
            case "payment.paid": .succeeded(try money)
            case "payment.declined": .failed(reason: "declined")
            case "payment.closed": .cancelled
            case "payment.open": .accepted
            default: .pending(status: type)
            }
        }
    }

    private var money: Money {
        get throws(ProviderError) {
            guard let currency = currency.flatMap({ Currency($0) }), let amount,
                let money = Money(decimal: amount, currency: currency)
            else { throw .rejected(reason: "bad_amount") }
            return money
        }
    }
}
