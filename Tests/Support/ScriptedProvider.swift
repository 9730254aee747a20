package import Domain
import Foundation
package import ProviderKit
import Synchronization

/// A provider whose every answer a test sets.
///
/// Its scripts can do what the sandbox never does: payments that cannot be cancelled, refunds that were made at the
/// provider, and several disputes.
package final class ScriptedProvider: PaymentProvider {
    package static let manifest = ProviderManifest(
        kind: "scripted", displayName: "Scripted", contractTypes: [.url], cancel: .none, refunds: .partial,
        notifications: [.post], settings: SettingsSchema([]))

    /// The answers that a test has set; `notifications` holds facts by the body of the notification.
    private struct Script {
        var notifications: [String: [ProviderFact]] = [:]
        var payments: [ID<Payment>: PaymentOutcome] = [:]
        var refunds: RefundOutcome = .succeeded
        /// The amount that a refund states: the requested one where it is nil, none where it is `.some(nil)`.
        var refundAmount: Money??
        var attempts: [PaymentAttempt] = []
        var openings: ProviderError?
        var otherwise = PaymentOutcome.accepted
        var hold: (@Sendable () async -> Void)?
    }

    private let script = Mutex(Script())

    package init(account: ProviderAccount, context: ProviderContext) throws(ProviderSetupError) {}

    package init() {}

    /// The payments that the provider was asked to open, in the order of the calls.
    package var opened: [ID<Payment>] { attempts.map(\.payment) }

    /// The attempts that the provider was asked to open, in the order of the calls.
    package var attempts: [PaymentAttempt] { script.withLock { $0.attempts } }

    /// Sets the answer to a query of this payment; the default is `accepted`.
    package func say(_ payment: ID<Payment>, _ outcome: PaymentOutcome) {
        script.withLock { $0.payments[payment] = outcome }
    }

    /// Sets the error of openings; nil opens the payment.
    package func openings(_ error: ProviderError?) { script.withLock { $0.openings = error } }

    /// Sets the answer to a query of every payment without an answer of its own.
    package func say(otherwise outcome: PaymentOutcome) { script.withLock { $0.otherwise = outcome } }

    /// Sets a closure that every query runs before it answers; nil lets queries answer at once.
    package func hold(_ hold: (@Sendable () async -> Void)?) { script.withLock { $0.hold = hold } }

    /// Sets the outcome of refunds.
    package func refunds(_ outcome: RefundOutcome) { script.withLock { $0.refunds = outcome } }

    /// Sets the outcome of refunds and their stated amount; nil states none.
    package func refunds(_ outcome: RefundOutcome, amount: Money?) {
        script.withLock {
            $0.refunds = outcome
            $0.refundAmount = .some(amount)
        }
    }

    /// Makes a notification that states facts; its body is the event's id.
    package func notification(_ eventID: String, _ facts: [ProviderFact]) -> RawNotification {
        script.withLock { $0.notifications[eventID] = facts }
        return RawNotification(method: .post, headers: [], body: Data(eventID.utf8))
    }

    package func open(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        let error = script.withLock { script in
            script.attempts.append(attempt)
            return script.openings
        }
        if let error { throw error }
        return OpenedPayment(
            instruction: .url(checkoutURL: "https://scripted.example/\(attempt.payment)"),
            reference: "scripted-\(attempt.payment)")
    }

    package func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        if let hold = script.withLock({ $0.hold }) { await hold() }
        let outcome = script.withLock { $0.payments[payment.payment] ?? $0.otherwise }
        return PaymentReport(payment: payment.payment, outcome: outcome)
    }

    package func cancel(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        throw .unsupported
    }

    package func refund(_ refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        RefundReport(
            payment: refund.payment.payment, refund: refund.refund, outcome: script.withLock { $0.refunds },
            amount: script.withLock { $0.refundAmount } ?? refund.amount, reference: "scripted-\(refund.refund)")
    }

    package func query(refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        if let hold = script.withLock({ $0.hold }) { await hold() }
        return try await self.refund(refund)
    }

    package func receive(_ notification: RawNotification) async throws(ProviderError) -> ReceivedNotification {
        let eventID = String(decoding: notification.body, as: UTF8.self)
        guard let facts = script.withLock({ $0.notifications[eventID] }) else { throw .unproven(.signature) }
        return ReceivedNotification(
            eventID: eventID, type: "scripted", facts: facts, acknowledgement: Acknowledgement(body: "taken"))
    }
}
