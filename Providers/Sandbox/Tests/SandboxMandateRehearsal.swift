import Domain
import Foundation
import ProviderKit
import ProviderTesting
import SandboxProvider

/// The payers of mandates, their bank, and the notifications about them.
extension SandboxRehearsal {
    func act(_ act: PayerAct, on setup: ID<Setup>, in context: ProviderContext) async throws -> Bool {
        let page = try await sandbox(context, .normal).act(
            setup: setup, form: ["outcome": act == .succeed ? "succeed" : "fail", "terms": "accepted"],
            for: PageVisitor())
        if case .redirect? = page { return true }
        return false
    }

    func setups(of setup: ID<Setup>, in context: ProviderContext) async throws -> Int {
        try await context.book.value(setup.rawValue) == nil ? 0 : 1
    }

    func play(
        _ charging: RehearsedCharging, of subscription: ID<Subscription>, in context: ProviderContext
    ) async throws -> Bool {
        let word =
            switch charging {
            case .succeeds: "succeed"
            case .soft: "soft"
            case .hard: "hard"
            case .actionRequired: "action_required"
            case .pending: "pending"
            }
        return try await sandbox(context, .normal).playOn(subscription, form: ["renewals": word])
    }

    func end(_ mandate: MandateReference, in context: ProviderContext) async throws {
        _ = try await sandbox(context, .normal).playOn(mandate.subscription, form: ["ended": "1"])
    }

    func notification(_ event: RehearsedMandateEvent, in context: ProviderContext) async throws -> RawNotification? {
        var fields: [String: Any] = ["event_id": "of a mandate", "occurred_at": 1_736_860_000]
        switch event {
        case .setupEnded(let setup):
            fields["type"] = "setup.succeeded"
            fields["setup_id"] = setup.rawValue
        case .mandateEnded(let mandate):
            fields["type"] = "mandate.ended"
            fields["subscription_id"] = mandate.subscription.rawValue
        }
        let body = try JSONSerialization.data(withJSONObject: fields, options: .sortedKeys)
        return SandboxProviderTests.notification(body, [signature(body, at: context.time.now.rawValue)])
    }
}
