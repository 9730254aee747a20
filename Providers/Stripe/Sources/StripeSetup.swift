import Domain
import ProviderKit

/// A set-up at Stripe: a SetupIntent, or a Checkout Session with one.
struct StripeSetup: Sendable {
    enum Kind: Sendable { case intent, session }

    enum State: Sendable, Equatable {
        /// Waits for its payer, or for Stripe.
        case waiting
        case succeeded(method: String?, customer: String?)
        /// A session that is complete; its SetupIntent has the outcome.
        case complete(intent: String)
        case cancelled
    }

    let kind: Kind
    let id: String
    let state: State
    /// The value for the client: the client secret, or the page's address while it is open.
    let token: String?
    private let setup: ID<Setup>?
    private let isLive: Bool?

    init(_ intent: StripeObject.SetupIntent) {
        kind = .intent
        id = intent.id
        state = intent.state
        token = intent.client_secret
        setup = StripeMetadata.setup(in: intent.metadata)
        isLive = intent.livemode
    }

    init(_ session: StripeObject.CheckoutSession) {
        kind = .session
        id = session.id
        switch session.status {
        case "expired": state = .cancelled
        case "complete":
            state =
                session.setup_intent.map { $0.object?.state ?? .complete(intent: $0.id) } ?? .waiting
        default: state = .waiting
        }
        token = session.url
        setup = StripeMetadata.setup(in: session.metadata)
        isLive = session.livemode
    }

    /// - Throws: `unproven` for another set-up or another mode.
    func check(_ expected: ID<Setup>, isLive expectedMode: Bool) throws(StripeFailure) {
        guard setup == expected else { throw .foreign }
        guard isLive ?? expectedMode == expectedMode else { throw .unproven(.otherMode) }
    }
}

extension StripeObject.SetupIntent {
    /// The state; a failed try leaves a SetupIntent waiting for another one.
    var state: StripeSetup.State {
        switch status {
        case "succeeded": .succeeded(method: payment_method?.id, customer: customer?.id)
        case "canceled": .cancelled
        default: .waiting
        }
    }
}

/// The calls about set-ups.
struct StripeSetupCalls: Sendable {
    private static let expanding = StripeForm([("expand", .list([.text("setup_intent")]))])
    private static let pageLimit = 10
    /// The seconds by which clocks may differ.
    private static let slack: Int64 = 300

    let api: StripeAPI
    let mode: StripeSettings.Mode
    let time: TimeSource

    /// Reads a set-up by Stripe's id.
    func setup(_ reference: String) async throws(StripeFailure) -> StripeSetup {
        guard let id = StripeText.id(reference) else { throw .foreign }
        let known: StripeSetup
        if id.hasPrefix("seti_") {
            known = StripeSetup(try await intent(id))
        } else if id.hasPrefix("cs_") {
            known = StripeSetup(
                try await api.get("checkout/sessions/\(id)", Self.expanding) as StripeObject.CheckoutSession)
        } else {
            throw .foreign
        }
        guard known.id == id else { throw .foreign }
        return known
    }

    func intent(_ reference: String) async throws(StripeFailure) -> StripeObject.SetupIntent {
        guard let id = StripeText.id(reference) else { throw .foreign }
        let intent: StripeObject.SetupIntent = try await api.get("setup_intents/\(id)")
        guard intent.id == id else { throw .foreign }
        return intent
    }

    /// Makes a set-up, or returns the current state of the one that this key made.
    func make(_ form: StripeForm, key: String) async throws(StripeFailure) -> StripeSetup {
        switch mode {
        case .paymentIntent:
            let made: (value: StripeObject.SetupIntent, isReplayed: Bool) = try await api.post(
                "setup_intents", form, key: key)
            return made.isReplayed ? try await setup(made.value.id) : StripeSetup(made.value)
        case .checkoutSession:
            let made: (value: StripeObject.CheckoutSession, isReplayed: Bool) = try await api.post(
                "checkout/sessions", form, key: key)
            return made.isReplayed ? try await setup(made.value.id) : StripeSetup(made.value)
        }
    }

    /// Cancels a SetupIntent or expires a session, whose SetupIntent cannot be cancelled.
    func close(_ setup: StripeSetup) async throws(StripeFailure) -> StripeSetup {
        guard let id = StripeText.id(setup.id) else { throw .foreign }
        let closed: StripeSetup
        switch setup.kind {
        case .intent:
            let answer: (value: StripeObject.SetupIntent, isReplayed: Bool) = try await api.post(
                "setup_intents/\(id)/cancel", StripeForm(), key: nil)
            closed = StripeSetup(answer.value)
        case .session:
            let answer: (value: StripeObject.CheckoutSession, isReplayed: Bool) = try await api.post(
                "checkout/sessions/\(id)/expire", StripeForm(), key: nil)
            closed = StripeSetup(answer.value)
        }
        guard closed.id == id else { throw .foreign }
        return closed
    }

    /// Finds a set-up by our id, where Stripe's id never arrived.
    ///
    /// Stripe's lists are up to date at once; a set-up is opened soon after its id was made.
    /// - Returns: nil where Stripe has no such set-up now.
    /// - Throws: `unanswered` where that cannot be told.
    func find(_ id: ID<Setup>) async throws(StripeFailure) -> StripeSetup? {
        let created = StripeForm([
            ("gte", .integer(max(0, id.madeAt.rawValue - Self.slack))),
            ("lte", .integer(time.now.rawValue + Self.slack)),
        ])
        var last: String?
        for _ in 0..<Self.pageLimit {
            var query = StripeForm([("created", .map(created)), ("limit", .integer(100))])
            query.set("starting_after", last.map { .text($0) })
            let (found, next) = try await page(query, id)
            if let found { return found }
            guard let next, next != last else { return nil }
            last = next
        }
        throw .unanswered
    }

    /// - Returns: the set-up, and the last id of a page that others follow.
    private func page(
        _ query: StripeForm, _ id: ID<Setup>
    ) async throws(StripeFailure) -> (found: StripeSetup?, next: String?) {
        switch mode {
        case .paymentIntent:
            let list: StripeObject.List<StripeObject.SetupIntent> = try await api.get(
                "setup_intents", query, isList: true)
            let found = list.data.first {
                StripeMetadata.setup(in: $0.metadata) == id && $0.metadata?[StripeMetadata.contract] == nil
            }
            return (found.map { StripeSetup($0) }, list.has_more == true ? list.data.last?.id : nil)
        case .checkoutSession:
            var query = query
            query.set("expand", .list([.text("data.setup_intent")]))
            let list: StripeObject.List<StripeObject.CheckoutSession> = try await api.get(
                "checkout/sessions", query, isList: true)
            let found = list.data.first { StripeMetadata.setup(in: $0.metadata) == id }
            return (found.map { StripeSetup($0) }, list.has_more == true ? list.data.last?.id : nil)
        }
    }
}
