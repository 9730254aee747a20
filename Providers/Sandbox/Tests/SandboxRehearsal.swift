import Domain
import Foundation
import ProviderKit
import ProviderTesting
import SandboxProvider

/// The sandbox's rehearsal for the conformance kit: its payer uses the pay page, its payment service is the account's
/// book.
struct SandboxRehearsal: Rehearsal {
    let contract: String
    private struct Entry: Decodable {
        struct Refund: Decodable {
            let amount: Money
            let succeeded: Bool
        }
        let refunds: [String: Refund]
    }

    var secrets: [String] { [SandboxFixture.secret] }
    var signatureWindow: Int64? { 300 }

    func makeProvider(_ context: ProviderContext, upstream: UpstreamBehaviour) throws -> any PaymentProvider {
        try sandbox(context, upstream)
    }

    func sandbox(_ context: ProviderContext, _ upstream: UpstreamBehaviour) throws -> SandboxProvider {
        let reply =
            switch upstream {
            case .normal: "normal"
            case .lostReplies: "lost"
            case .unavailable: "error"
            case .slow: "slow"
            }
        let account = SandboxFixture.account(["contract": .text(contract), "reply": .text(reply)])
        return try SandboxProvider(account: account, context: context, sleep: { _ in await Task.yield() })
    }

    func act(_ act: PayerAct, on payment: ID<Payment>, in context: ProviderContext) async throws -> Bool {
        let page = try await sandbox(context, .normal).act(
            payment, form: ["outcome": act == .succeed ? "succeed" : "fail", "terms": "accepted"])
        if case .redirect? = page { return true }
        return false
    }

    func effects(of payment: ID<Payment>, in context: ProviderContext) async throws -> UpstreamEffects {
        guard let data = try await context.book.value(payment.rawValue) else { return UpstreamEffects(payments: 0) }
        let entry = try JSONDecoder().decode(Entry.self, from: data)
        return UpstreamEffects(payments: 1, refunds: entry.refunds.values.filter(\.succeeded).map(\.amount))
    }

    func notification(
        _ event: RehearsedEvent, _ signing: RehearsedSignature, in context: ProviderContext
    ) async throws -> RawNotification? {
        guard var body = try body(event) else { return nil }
        if event.hasUnknownFields { body = UnknownFields.adding(to: body) ?? body }
        let now = context.time.now.rawValue
        return switch signing {
        case .genuine: SandboxProviderTests.notification(body, [signature(body, at: now)])
        case .forged: SandboxProviderTests.notification(body, ["t=\(now),v1=" + String(repeating: "0a", count: 32)])
        case .missing: SandboxProviderTests.notification(body, [])
        case .anothers: SandboxProviderTests.notification(body, [signature(body, at: now, secret: "another secret")])
        }
    }

    /// Returns false, because the payment service has only the adapter's own statuses.
    func useUnknownStatus(of payment: ID<Payment>, in context: ProviderContext) async throws -> Bool { false }

    private func body(_ event: RehearsedEvent) throws -> Data? {
        var fields: [String: Any] = [
            "event_id": event.id, "payment_id": event.payment.payment.rawValue, "occurred_at": 1_736_860_000,
        ]
        func put(_ type: String, _ amount: Money? = nil, _ refund: ID<Refund>? = nil) {
            fields["type"] = type
            fields["amount"] = amount.map { ["value": $0.value, "currency": $0.currency.code] as [String: Any] }
            fields["refund_id"] = refund?.rawValue
        }
        switch event.what {
        case .paymentSucceeded(let amount): put("payment.succeeded", amount)
        case .paymentFailed: put("payment.failed")
        case .paymentCancelled: put("payment.cancelled")
        case .paymentPending: put("payment.pending")
        case .refundCreated, .anothersPaymentSucceeded: return nil
        case .foreignPaymentSucceeded(let amount):
            put("payment.succeeded", amount)
            fields["payment_id"] = "invoice-77"
        case .refundSucceeded(let id, let amount): put("refund.succeeded", amount, id)
        case .refundFailed(let id, let amount): put("refund.failed", amount, id)
        case .disputeOpened(let amount): put("dispute.opened", amount)
        case .disputeWon(let amount): put("dispute.won", amount)
        case .disputeLost(let amount): put("dispute.lost", amount)
        case .unknownStatus: put("payment.teleported", event.payment.amount)
        case .unreadable: return Data("[1, 2".utf8)
        }
        return try JSONSerialization.data(withJSONObject: fields, options: .sortedKeys)
    }
}
