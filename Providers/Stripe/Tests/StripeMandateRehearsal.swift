import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization

/// The payers of mandates, their bank, and the notifications about them.
extension StripeRehearsal {
    func act(_ act: PayerAct, on setup: ID<Setup>, in context: ProviderContext) async throws -> Bool {
        standIn.give(setup.rawValue, succeeds: act == .succeed)
    }

    func setups(of setup: ID<Setup>, in context: ProviderContext) async throws -> Int {
        standIn.state.withLock { state in
            let sessions = state.sessions.count { $0.metadata["setup_id"] == setup.rawValue }
            return sessions + state.setups.count { $0.metadata["setup_id"] == setup.rawValue && $0.session == nil }
        }
    }

    func play(
        _ charging: RehearsedCharging, of subscription: ID<Subscription>, in context: ProviderContext
    ) async throws -> Bool {
        let customers = standIn.state.withLock { state in
            state.customers.filter { $0.metadata["subscription_id"] == subscription.rawValue }.map(\.id)
        }
        let answer: FakeStripeServer.Charging =
            switch charging {
            case .succeeds: .succeeds
            case .soft: .declines("insufficient_funds")
            case .hard: .declines("lost_card")
            case .actionRequired: .needsPayer
            case .pending: .processes
            }
        for customer in customers { standIn.play(answer, customer: customer) }
        return true
    }

    func end(_ mandate: MandateReference, in context: ProviderContext) async throws {
        standIn.state.withLock { state in
            for index in state.methods.indices where state.methods[index].id == mandate.reference {
                state.methods[index].customer = nil
            }
        }
    }

    func notification(_ event: RehearsedMandateEvent, in context: ProviderContext) async throws -> RawNotification? {
        let body: Data? = standIn.state.withLock { state in
            switch event {
            case .setupEnded(let setup):
                let isOurs = { (metadata: [String: String]) in metadata["setup_id"] == setup.rawValue }
                if let session = state.sessions.first(where: { isOurs($0.metadata) }) {
                    return FakeStripeServer.event("checkout.session.completed", session.json(state, expands: false))
                }
                return state.setups.first { isOurs($0.metadata) }.map {
                    FakeStripeServer.event("setup_intent.succeeded", $0.json)
                }
            case .mandateEnded(let mandate):
                return state.methods.first { $0.id == mandate.reference }.map {
                    FakeStripeServer.event(
                        "payment_method.detached", $0.json, before: ["customer": mandate.customer ?? ""])
                }
            }
        }
        guard let body else { return nil }
        let now = context.time.now.rawValue
        return FakeStripeServer.notification(
            body, [FakeStripeServer.signature(body, at: now, secret: StripeFixture.secret)])
    }
}
