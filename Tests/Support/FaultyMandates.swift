package import Domain
package import ProviderKit
import SandboxProvider

/// The mandates of the sandbox, whose calls a ``SandboxFaults`` can disturb.
extension FaultySandbox: MandateCharging, MandatePlaying, PaymentPlaying, SetupPageServing {
    package var chargesMandates: Bool { sandbox.chargesMandates }

    package func setUp(_ attempt: SetupAttempt) async throws(ProviderError) -> OpenedSetup {
        try await line.call(.setUp, account) { () async throws(ProviderError) in try await sandbox.setUp(attempt) }
    }

    package func query(setup: SetupReference) async throws(ProviderError) -> SetupReport {
        try await sandbox.query(setup: setup)
    }

    package func cancel(setup: SetupReference) async throws(ProviderError) -> SetupReport {
        try await sandbox.cancel(setup: setup)
    }

    package func charge(_ charge: MandateCharge) async throws(ProviderError) -> PaymentReport {
        try await line.call(.chargeMandate, account) { () async throws(ProviderError) in
            try await sandbox.charge(charge)
        }
    }

    package func verify(_ mandate: MandateReference) async throws(ProviderError) -> ProviderMandate {
        try await sandbox.verify(mandate)
    }

    package func charges(
        of mandate: MandateReference, since: Timestamp
    ) async throws(ProviderError) -> [MandateChargeReport]? {
        try await sandbox.charges(of: mandate, since: since)
    }

    package func revoke(_ mandate: MandateReference) async throws(ProviderError) {
        try await line.call(.revoke, account) { () async throws(ProviderError) in try await sandbox.revoke(mandate) }
    }

    package func playOn(
        _ subscription: ID<Subscription>, form: [String: String]
    ) async throws(ProviderError) -> Bool {
        try await sandbox.playOn(subscription, form: form)
    }

    package func playedBook(of subscription: ID<Subscription>) async throws(ProviderError) -> PlayedBook {
        try await sandbox.playedBook(of: subscription)
    }

    package func announce(
        _ event: PlayedPaymentEvent, of payment: ID<Payment>, amount: Money
    ) async throws(ProviderError) {
        try await sandbox.announce(event, of: payment, amount: amount)
    }

    package func page(setup: ID<Setup>, for visitor: PageVisitor) async throws(ProviderError) -> PaymentPage? {
        try await sandbox.page(setup: setup, for: visitor)
    }

    package func act(
        setup: ID<Setup>, form: [String: String], for visitor: PageVisitor
    ) async throws(ProviderError) -> PaymentPage? {
        try await sandbox.act(setup: setup, form: form, for: visitor)
    }
}
