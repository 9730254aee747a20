import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization

/// What is wrong with a fake provider on purpose.
enum Flaw: String, Sendable, CaseIterable {
    case acceptsForgedSignature, acceptsMissingSignature, acceptsAnothersSignature, signsOnlyTheTime
    case ignoresOldTimestamp, ignoresFutureTimestamp
    case unknownStatusIsSuccess, forgetsAmounts, assumesCurrency, randomEventID, oneEventID, statefulReceive,
        rejectsWithForgery
    case twoUpstreamPayments, everyOpeningDiffers, wrongContractType, unpaidIsPaid, amountOffByOne
    case cancelDoesNothing, cancelHidesSuccess, refundRepeats, refundsTooMuch, refundsWithoutMoney
    case lostReplyIsUnavailable, lostReplyIsRejected, unavailableIsSuccess, slowDiffers
    case leaksSecretInError, leaksSecretInDescription
}

/// A payment service in memory with an interface over HTTP: `POST /payments/{id}/{verb}`.
final class FakeService: Sendable {
    struct Payment {
        let amount: Money
        /// How often it was made.
        var copies = 0
        var state = "open"
        var refunds: [(id: String, amount: Money)] = []
    }

    private let payments = Mutex<[String: Payment]>([:])

    func payment(_ id: String) -> Payment? { payments.withLock { $0[id] } }

    @discardableResult
    func change(_ id: String, _ amount: Money, _ body: (inout Payment) -> Void) -> Payment {
        payments.withLock { payments in
            body(&payments[id, default: Payment(amount: amount)])
            return payments[id] ?? Payment(amount: amount)
        }
    }
}

/// A small correct provider of every capability, or one with a single flaw.
///
/// Its signature is no cryptography.
struct FakeProvider: PaymentProvider {
    static let secret = "the-secret-of-the-fake"
    static let manifest = ProviderManifest(
        kind: "fake", displayName: "Fake", contractTypes: [.url], cancel: .definite, refunds: .partial,
        notifications: [.post],
        settings: SettingsSchema([SettingsSchema.Field("secret", .secret, required: true, summary: "Signs.")]))

    let context: ProviderContext
    let flaw: Flaw?
    let counter = Counter()
    let shown: String

    init(account: ProviderAccount, context: ProviderContext) { self.init(context: context, flaw: nil) }

    init(context: ProviderContext, flaw: Flaw?) {
        self.context = context
        self.flaw = flaw
        shown = flaw == .leaksSecretInDescription ? Self.secret : ""
    }

    /// One call to the service; the answer is its state, the amount and the refunds, `paid 3990 CNY`.
    private func call(
        _ id: ID<Payment>, _ verb: String, _ amount: Money, _ key: String = ""
    )
        async throws(ProviderError)
        -> [String]
    {
        let request = OutgoingRequest(
            method: "POST", url: "https://fake.example/payments/\(id)/\(verb)",
            body: Data("\(amount.value) \(amount.currency) \(key)".utf8))
        do {
            let reply = try await context.http.send(request)
            guard reply.status == 200 else { throw ProviderError.rejected(reason: "refused") }
            return String(decoding: reply.body, as: UTF8.self).split(separator: " ").map(String.init)
        } catch HTTPTransportError.outcomeUnknown {
            if flaw == .lostReplyIsUnavailable { throw .unavailable }
            if flaw == .lostReplyIsRejected { throw .rejected(reason: "lost") }
            throw .outcomeUnknown
        } catch HTTPTransportError.notSent {
            if flaw == .leaksSecretInError { throw .rejected(reason: "no answer with \(Self.secret)") }
            if flaw == .unavailableIsSuccess { return ["open"] }
            throw .unavailable
        } catch let error as ProviderError {
            throw error
        } catch {
            throw .unavailable
        }
    }

    private func outcome(_ words: [String]) -> PaymentOutcome {
        switch words.first {
        case "paid":
            let value = Int64(words[1])! + (flaw == .amountOffByOne ? 1 : 0)
            return .succeeded(Money(value: value, currency: Currency(words[2])!))
        case "open":
            return flaw == .unpaidIsPaid ? .succeeded(Money(value: 3990, currency: Currency("CNY")!)) : .accepted
        case "failed": return .failed(reason: "failed")
        default: return .cancelled
        }
    }

    func open(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        let key = flaw == .twoUpstreamPayments ? "\(counter.next())" : "same"
        let before = context.time.now
        let words = try await call(attempt.payment, "open", attempt.amount, key)
        let url = "https://fake.example/\(attempt.payment)" + (flaw == .everyOpeningDiffers ? "?\(counter.next())" : "")
        let isSlow = flaw == .slowDiffers && context.time.now > before
        return OpenedPayment(
            instruction: flaw == .wrongContractType ? .qr(text: url) : .url(checkoutURL: url + (isSlow ? "/slow" : "")),
            reference: "fake-\(attempt.payment)", outcome: outcome(words))
    }

    func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        let words = try await call(payment.payment, "query", payment.amount)
        return PaymentReport(payment: payment.payment, outcome: outcome(words))
    }

    func cancel(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        let words = try await call(payment.payment, flaw == .cancelDoesNothing ? "query" : "cancel", payment.amount)
        let isHidden = flaw == .cancelHidesSuccess || flaw == .cancelDoesNothing
        return PaymentReport(payment: payment.payment, outcome: isHidden ? .cancelled : outcome(words))
    }

    func refund(_ refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        if flaw == .refundsWithoutMoney { return report(refund, .succeeded) }
        let key = flaw == .refundRepeats ? "\(counter.next())" : refund.refund.rawValue
        let verb = flaw == .refundsTooMuch ? "refund-anything" : "refund"
        _ = try await call(refund.payment.payment, verb, refund.amount, key)
        return report(refund, .succeeded)
    }

    func query(refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        let words = try await call(refund.payment.payment, "query", refund.payment.amount)
        let isKnown = flaw == .refundRepeats || words.contains(refund.refund.rawValue)
        return report(refund, isKnown ? .succeeded : .pending)
    }

    private func report(_ refund: RefundAttempt, _ outcome: RefundOutcome) -> RefundReport {
        RefundReport(payment: refund.payment.payment, refund: refund.refund, outcome: outcome, amount: refund.amount)
    }

    func receive(_ notification: RawNotification) async throws(ProviderError) -> ReceivedNotification {
        try verify(notification)
        let words = String(decoding: notification.body, as: UTF8.self).split(separator: " ").map(String.init)
        guard words.count == 5, let payment = ID<Payment>(words[1]), let value = Int64(words[3]),
            let currency = Currency(words[4])
        else { throw flaw == .rejectsWithForgery ? .invalidSignature : .rejected(reason: "unreadable") }
        let amount = Money(
            value: flaw == .forgetsAmounts ? 3990 : value,
            currency: flaw == .assumesCurrency ? Currency("CNY")! : currency)
        let isSuccess = words[2] == "paid" || (flaw == .unknownStatusIsSuccess && words[2] == "teleported")
        let isRepeated = flaw == .statefulReceive && counter.next() > 1
        let outcome: PaymentOutcome = isSuccess && !isRepeated ? .succeeded(amount) : .pending(status: words[2])
        let id = flaw == .randomEventID ? "\(context.random.bytes(8))" : flaw == .oneEventID ? "event" : words[0]
        return ReceivedNotification(
            eventID: id, type: words[2], facts: [.payment(PaymentReport(payment: payment, outcome: outcome))],
            acknowledgement: Acknowledgement(body: "ok"))
    }

    private func verify(_ notification: RawNotification) throws(ProviderError) {
        guard let header = notification.header("x-signature") else {
            if flaw == .acceptsMissingSignature { return }
            throw .invalidSignature
        }
        let parts = header.split(separator: ",").map(String.init)
        let now = context.time.now.rawValue
        guard parts.count == 2, let time = Int64(parts[0]) else { throw .invalidSignature }
        if time < now - 300 && flaw != .ignoresOldTimestamp { throw .invalidSignature }
        if time > now + 300 && flaw != .ignoresFutureTimestamp { throw .invalidSignature }
        let body = flaw == .signsOnlyTheTime ? Data() : notification.body
        let accepted: Bool =
            switch flaw {
            case .acceptsForgedSignature: true
            case .acceptsAnothersSignature:
                parts[1] == Self.sign(body, time) || parts[1] == Self.sign(body, time, "another")
            default: parts[1] == Self.sign(body, time)
            }
        guard accepted else { throw .invalidSignature }
    }

    /// A keyed FNV-1a: enough for a fake, and for nothing else.
    static func sign(_ body: Data, _ time: Int64, _ secret: String = secret) -> String {
        let text = Data("\(secret)|\(time)|".utf8) + body
        return String(text.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }, radix: 16)
    }
}

final class Counter: Sendable {
    private let value = Mutex(0)
    func next() -> Int {
        value.withLock { value in
            value += 1
            return value
        }
    }
}
