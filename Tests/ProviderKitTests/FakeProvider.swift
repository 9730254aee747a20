import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization

/// A small correct provider with every capability, or with a single flaw.
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

    private func outcome(_ answer: FakeAnswer) throws(ProviderError) -> PaymentOutcome {
        switch answer.state {
        case "paid":
            if flaw == .refundedIsCancelled, !answer.refunds.isEmpty { return .cancelled }
            guard let currency = Currency(answer.currency) else { throw .unavailable }
            return .succeeded(Money(value: answer.value + (flaw == .amountOffByOne ? 1 : 0), currency: currency))
        case "open":
            return flaw == .unpaidIsPaid ? .succeeded(Money(value: 3990, currency: Currency("CNY")!)) : .accepted
        case "failed": return .failed(reason: "failed")
        case "cancelled": return .cancelled
        default: return flaw == .unknownStatusIsEnd ? .cancelled : .pending(status: answer.state)
        }
    }

    func open(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        let key = flaw == .twoUpstreamPayments ? "\(counter.next())" : "same"
        let before = context.time.now
        let answer: FakeAnswer
        if flaw == .opensBeforeItNotes {
            answer = try await noting(attempt.payment, "opened", "open", attempt.amount)
        } else {
            answer = try await call(attempt.payment, "open", attempt.amount, key)
        }
        let url = "https://fake.example/\(attempt.payment)" + (flaw == .everyOpeningDiffers ? "?\(counter.next())" : "")
        let isSlow = flaw == .slowDiffers && context.time.now > before
        return OpenedPayment(
            instruction: flaw == .wrongContractType ? .qr(text: url) : .url(checkoutURL: url + (isSlow ? "/slow" : "")),
            reference: "fake-\(attempt.payment)", outcome: try outcome(answer))
    }

    func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        let named = payment.reference.flatMap { ID<Payment>(String($0.dropFirst("fake-".count))) }
        let asked = flaw == .believesReferences ? named ?? payment.payment : payment.payment
        let answer = try await call(asked, "query", payment.amount)
        return PaymentReport(payment: payment.payment, outcome: try outcome(answer))
    }

    func cancel(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        if flaw == .cancelsByHalves { _ = try await call(payment.payment, "hold", payment.amount) }
        let verb = flaw == .cancelDoesNothing ? "query" : flaw == .cancelsByHalves ? "cancel-held" : "cancel"
        let answer = try await call(payment.payment, verb, payment.amount)
        let isHidden = flaw == .cancelHidesSuccess || flaw == .cancelDoesNothing
        return PaymentReport(payment: payment.payment, outcome: isHidden ? .cancelled : try outcome(answer))
    }

    func refund(_ refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        if flaw == .refundsWithoutMoney { return report(refund, .succeeded) }
        let payment = refund.payment.payment
        if flaw == .refundsBeforeItNotes {
            _ = try await noting(payment, refund.refund.rawValue, "refund", refund.amount)
            return report(refund, .succeeded)
        }
        let key = flaw == .refundRepeats ? "\(counter.next())" : refund.refund.rawValue
        let verb = flaw == .refundsTooMuch ? "refund-anything" : "refund"
        _ = try await call(payment, verb, refund.amount, key)
        return report(refund, .succeeded)
    }

    /// Acts without the attempt's key and with two calls too many: looks for a note, acts, and stores the note.
    private func noting(
        _ payment: ID<Payment>, _ note: String, _ verb: String, _ amount: Money
    ) async throws(ProviderError) -> FakeAnswer {
        let before = try await call(payment, "look", amount)
        if before.notes.contains(note) { return before }
        _ = try await call(payment, verb, amount, "\(context.random.bytes(8).map(String.init).joined())")
        return try await call(payment, "note", amount, note)
    }

    func query(refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        let answer = try await call(refund.payment.payment, "query", refund.payment.amount)
        let isKnown =
            [.refundRepeats, .refundsBeforeItNotes].contains(flaw) || answer.refunds.contains(refund.refund.rawValue)
        if flaw == .countsFromTheID, !isKnown, context.time.now > refund.refund.madeAt.adding(days: 1) {
            return report(refund, .failed(reason: "never_arrived"))
        }
        return report(refund, isKnown ? .succeeded : .pending)
    }

    private func report(_ refund: RefundAttempt, _ outcome: RefundOutcome) -> RefundReport {
        RefundReport(payment: refund.payment.payment, refund: refund.refund, outcome: outcome, amount: refund.amount)
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
