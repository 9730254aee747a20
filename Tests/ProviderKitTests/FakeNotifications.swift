import Domain
import Foundation
import ProviderKit

/// The fake's notifications: `{event} {payment} {word} {value} {currency} {refund or -}`, then any `name=value`.
extension FakeProvider {
    func receive(_ notification: RawNotification) async throws(ProviderError) -> ReceivedNotification {
        try verify(notification)
        let all = String(decoding: notification.body, as: UTF8.self).split(separator: " ").map(String.init)
        let (words, fields) = (all.filter { !$0.contains("=") }, all.filter { $0.contains("=") })
        if flaw == .refusesUnknownWords, !fields.isEmpty { throw .rejected(reason: "unknown_field") }
        let stranger = flaw == .adoptsStrangers ? ID<Payment>("pay_01jhgx0000000000000000000a") : nil
        guard words.count == 6, let value = Int64(words[3]), let currency = Currency(words[4]),
            let payment = ID<Payment>(words[1]) ?? stranger
        else { throw flaw == .rejectsWithForgery ? .unproven(.signature) : .rejected(reason: "unreadable") }
        let amount = Money(
            value: flaw == .forgetsAmounts ? 3990 : value,
            currency: flaw == .assumesCurrency ? Currency("CNY")! : currency)
        let isOurs = flaw == .ignoresAccounts || !fields.contains("account=another")
        let facts = isOurs ? self.facts(payment, words[2], amount, ID<Refund>(words[5])) : []
        let id = flaw == .randomEventID ? "\(context.random.bytes(8))" : flaw == .oneEventID ? "event" : words[0]
        return ReceivedNotification(
            eventID: id, type: words[2], facts: facts, acknowledgement: Acknowledgement(body: "ok"))
    }

    private func facts(
        _ payment: ID<Payment>, _ word: String, _ amount: Money, _ refund: ID<Refund>?
    ) -> [ProviderFact] {
        if let refund, word.hasPrefix("refund") {
            if flaw == .disputeHidesRefunds, counter.next() > 1 { return [] }
            let outcome: RefundOutcome =
                switch word {
                case "refund-succeeded": .succeeded
                case "refund-failed": .failed(reason: "failed")
                default: .pending
                }
            return [.refund(RefundReport(payment: payment, refund: refund, outcome: outcome, amount: amount))]
        }
        if word.hasPrefix("dispute") {
            if flaw == .disputeHidesRefunds { _ = counter.next() }
            let outcome: DisputeOutcome =
                switch word {
                case "dispute-won": .won
                case "dispute-lost": .lost
                default: .opened
                }
            return [.dispute(DisputeReport(payment: payment, reference: nil, outcome: outcome, amount: amount))]
        }
        let isSuccess = word == "paid" || (flaw == .unknownStatusIsSuccess && word == "teleported")
        let isRepeated = flaw == .statefulReceive && counter.next() > 1
        return [
            .payment(
                PaymentReport(
                    payment: payment, outcome: isSuccess && !isRepeated ? .succeeded(amount) : .pending(status: word)))
        ]
    }

    private func verify(_ notification: RawNotification) throws(ProviderError) {
        guard let header = notification.header("x-signature") else {
            if flaw == .acceptsMissingSignature { return }
            throw .unproven(.signature)
        }
        let parts = header.split(separator: ",").map(String.init)
        let now = context.time.now.rawValue
        guard parts.count == 2, let time = Int64(parts[0]) else { throw .unproven(.signature) }
        if time < now - 300 && flaw != .ignoresOldTimestamp { throw .unproven(.time) }
        if time > now + 300 && flaw != .ignoresFutureTimestamp { throw .unproven(.time) }
        let body = flaw == .signsOnlyTheTime ? Data() : notification.body
        let accepted: Bool =
            switch flaw {
            case .acceptsForgedSignature: true
            case .acceptsAnothersSignature:
                parts[1] == Self.sign(body, time) || parts[1] == Self.sign(body, time, "another")
            default: parts[1] == Self.sign(body, time)
            }
        guard accepted else { throw .unproven(.signature) }
    }

    /// Computes a keyed FNV-1a, which is enough for a fake and no cryptography.
    static func sign(_ body: Data, _ time: Int64, _ secret: String = secret) -> String {
        let text = Data("\(secret)|\(time)|".utf8) + body
        return String(text.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }, radix: 16)
    }
}
