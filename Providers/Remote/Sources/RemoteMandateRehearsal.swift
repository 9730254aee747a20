import Domain
import ProviderKit
import ProviderTesting

// The payers of mandates, their bank, and the notifications about them.
extension RemoteRehearsal {
    func act(_ act: PayerAct, on setup: ID<Setup>, in context: ProviderContext) async throws -> Bool {
        var request = RemoteRequest(.act)
        request.setup_id = setup.rawValue
        request.act = act == .succeed ? "succeed" : "fail"
        let acted: RehearsalActed = try await api(context).send(request)
        return acted.taken
    }

    func setups(of setup: ID<Setup>, in context: ProviderContext) async throws -> Int {
        var request = RemoteRequest(.effects)
        request.setup_id = setup.rawValue
        let effects: RehearsalEffects = try await api(context).send(request)
        guard let setups = effects.setups else { throw RehearsalGap("cannot say which set-ups the plugin has") }
        return setups
    }

    func play(
        _ charging: RehearsedCharging, of subscription: ID<Subscription>, in context: ProviderContext
    ) async throws -> Bool {
        var request = RemoteRequest(.playMandates)
        request.subscription_id = subscription.rawValue
        request.charges =
            switch charging {
            case .succeeds: "succeed"
            case .pending: "pending"
            case .soft, .hard, .actionRequired: charging.refusal?.rawValue
            }
        let acted: RehearsalActed = try await api(context).send(request)
        return acted.taken
    }

    func end(_ mandate: MandateReference, in context: ProviderContext) async throws {
        var request = RemoteRequest(.playMandates)
        request.subscription_id = mandate.subscription.rawValue
        request.ended = true
        let acted: RehearsalActed = try await api(context).send(request)
        guard acted.taken else { throw RehearsalGap("cannot end a mandate") }
    }

    func notification(_ event: RehearsedMandateEvent, in context: ProviderContext) async throws -> RawNotification? {
        guard manifest.notifications else { return nil }
        var request = RemoteRequest(.notification)
        request.event =
            switch event {
            case .setupEnded(let setup):
                RemoteEvent(id: "evt_\(setup.rawValue)", type: "setup", status: "succeeded", setup_id: setup.rawValue)
            case .mandateEnded(let mandate):
                RemoteEvent(
                    id: "evt_\(mandate.subscription.rawValue)", type: "mandate", status: "ended",
                    subscription_id: mandate.subscription.rawValue)
            }
        let answer: RehearsalNotification = try await api(context).send(request)
        return answer.notification?.raw
    }
}
