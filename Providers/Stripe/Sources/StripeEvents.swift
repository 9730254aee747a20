import Domain
import FoundationEssentials
import ProviderKit

/// Reads the facts of a notification once its signature is verified.
struct StripeEvents: Sendable {
    let provider: StripeProvider
    private let settings: StripeSettings
    private let context: ProviderContext
    let api: StripeAPI

    init(_ provider: StripeProvider) {
        self.provider = provider
        settings = provider.settings
        context = provider.context
        api = provider.api
    }

    private struct Event: Decodable {
        let id: String
        let type: String
        let livemode: Bool
        /// The API version of the event, which is that of the webhook endpoint.
        let api_version: String?
        /// The time of the event in seconds since 1970.
        let created: Int64?
        /// The connected account of the event; such events are not ours.
        let account: String?
    }

    private struct Content<Object: Decodable>: Decodable {
        struct Envelope: Decodable {
            let object: Object
        }
        let data: Envelope
    }

    /// - Throws: `rejected` for a genuine event that cannot be decoded, `unavailable` where Stripe must be queried for
    ///   its payment and does not answer.
    func reading(_ body: Data) async throws(ProviderError) -> ReceivedNotification {
        guard let event = try? UnambiguousJSON.decode(Event.self, from: body) else {
            throw .rejected(reason: "malformed_body")
        }
        try ReceivedNotification.check(eventID: event.id, type: event.type)
        guard event.livemode == settings.isLive else { throw .unproven(.otherMode) }
        warnOnce(of: event.api_version)
        var facts: [ProviderFact] = []
        if event.account == nil {
            do throws(StripeFailure) { facts = try await self.facts(event, body) } catch {
                if case .unsayable(let reason) = error, reason != "bad_amount" { throw .rejected(reason: reason) }
                throw error.providerError(afterChange: false)
            }
        }
        return ReceivedNotification(
            eventID: event.id, type: event.type, facts: facts, acknowledgement: Acknowledgement(body: "ok"))
    }

    /// Logs once in a process that events have another API version than this adapter.
    private func warnOnce(of version: String?) {
        guard let version, version != StripeAPI.version else { return }
        let name = "other_version \(version.cut(bytes: 64))"
        guard context.cache.value(name) == nil else { return }
        context.cache.keep(name, ProviderCache.Entry(Data(), until: Timestamp(Int64(Int32.max) << 8)))
        context.log.write(
            .warning, "stripe: events come in another API version; make the webhook endpoint with this adapter's",
            ["version": StripeText.version(version) ?? "unreadable", "expected": StripeAPI.version])
    }

    /// Reads the facts from the object's state, and from the event's name only where nothing else shows them; other
    /// types have no facts.
    private func facts(_ event: Event, _ body: Data) async throws(StripeFailure) -> [ProviderFact] {
        let type = event.type
        if type.hasPrefix("payment_intent.") { return try await intentFacts(type, try read(body)) }
        if type.hasPrefix("checkout.session.") { return try await sessionFacts(type, try read(body)) }
        if type.hasPrefix("setup_intent.") { return try await setupFacts(try read(body)) }
        if type == "payment_method.detached" { return try await detachedFacts(try read(body), try earlier(body)) }
        if type == "customer.deleted" { return Self.deletedFacts(try read(body)) }
        if type.hasPrefix("charge.dispute.") { return try await disputeFacts(try read(body), event) }
        if type.hasPrefix("refund.") || type == "charge.refund.updated" { return try await refundFacts(try read(body)) }
        if type == "charge.refunded" { return try await chargeFacts(try read(body)) }
        return []
    }

    /// The customer of an object before the event; nil where the event does not state it.
    private func earlier(_ body: Data) throws(StripeFailure) -> String? {
        struct Envelope: Decodable {
            struct Content: Decodable {
                let previous_attributes: Attributes?
            }
            struct Attributes: Decodable {
                let customer: StripeObject.Expandable<StripeObject.Named>?
            }
            let data: Content
        }
        guard let content = try? UnambiguousJSON.decode(Envelope.self, from: body) else {
            throw .unsayable("malformed_object")
        }
        return content.data.previous_attributes?.customer?.id
    }

    private func read<Object: Decodable>(_ body: Data) throws(StripeFailure) -> Object {
        guard let content = try? UnambiguousJSON.decode(Content<Object>.self, from: body) else {
            throw .unsayable("malformed_object")
        }
        return content.data.object
    }

    private func intentFacts(
        _ type: String, _ intent: StripeObject.PaymentIntent
    ) async throws(StripeFailure) -> [ProviderFact] {
        guard let payment = StripeMetadata.payment(in: intent.metadata) else { return [] }
        if intent.chargesMandate { return try await chargeFacts(type, try StripePayment(intent), payment) }
        var outcome = try intent.outcome()
        if type == "payment_intent.payment_failed", outcome == .accepted {
            outcome = intent.isCharge ? .failed(reason: "payment_failed") : .tryFailed(reason: "payment_failed")
        }
        let isOfSession = intent.metadata?[StripeMetadata.contract] == ContractType.url.rawValue
        if isOfSession {
            // The session is the payment: it reports the end, and its id is the reference.
            switch outcome {
            case .succeeded, .tryFailed: break
            case .accepted, .pending, .failed, .cancelled: return []
            }
        }
        return [
            .payment(
                PaymentReport(
                    payment: payment, outcome: outcome, reference: isOfSession ? nil : intent.id,
                    mandate: try await provider.methods.mandate(leftBy: try StripePayment(intent))))
        ]
    }

    private func sessionFacts(
        _ type: String, _ session: StripeObject.CheckoutSession
    ) async throws(StripeFailure) -> [ProviderFact] {
        if let setup = StripeMetadata.setup(in: session.metadata) {
            return [.setup(try await provider.report(StripeSetup(session), setup))]
        }
        guard let payment = StripeMetadata.payment(in: session.metadata) else { return [] }
        var outcome = try session.outcome()
        if type == "checkout.session.async_payment_failed", outcome == .accepted {
            outcome = .failed(reason: "async_payment_failed")
        }
        return [
            .payment(
                PaymentReport(
                    payment: payment, outcome: outcome, reference: session.id,
                    mandate: try await provider.methods.mandate(leftBy: try StripePayment(session))))
        ]
    }

    private func refundFacts(_ refund: StripeObject.Refund) async throws(StripeFailure) -> [ProviderFact] {
        guard let payment = try await payment(refund.metadata, refund.payment_intent?.id) else { return [] }
        return [.refund(try Self.report(refund, payment))]
    }

    /// Returns the facts of a refunded charge from its refunds, which the event lacks in the pinned version.
    private func chargeFacts(_ charge: StripeObject.Charge) async throws(StripeFailure) -> [ProviderFact] {
        guard let intent = charge.payment_intent?.id, let payment = try await payment(nil, intent) else { return [] }
        return try await StripeRefundCalls(api: api).all(of: intent).map { refund throws(StripeFailure) in
            .refund(try Self.report(refund, payment))
        }
    }

    private func disputeFacts(
        _ dispute: StripeObject.Dispute, _ event: Event
    ) async throws(StripeFailure) -> [ProviderFact] {
        let intent = dispute.payment_intent?.id
        guard let outcome = dispute.outcome, let payment = try await payment(nil, intent) else { return [] }
        guard let amount = StripeAmount.money(dispute.amount, dispute.currency) else { throw .unsayable("bad_amount") }
        return [
            .dispute(
                DisputeReport(
                    payment: payment, reference: dispute.id, outcome: outcome, amount: amount,
                    at: event.created.map { Timestamp($0) }, paymentReference: intent))
        ]
    }

    private static func report(
        _ refund: StripeObject.Refund, _ payment: ID<Payment>
    ) throws(StripeFailure) -> RefundReport {
        guard let amount = StripeAmount.money(refund.amount, refund.currency) else { throw .unsayable("bad_amount") }
        return RefundReport(
            payment: payment, refund: refund.metadata?[StripeMetadata.refund].flatMap { ID<Refund>($0) },
            outcome: refund.outcome, amount: amount, reference: refund.id,
            paymentReference: refund.payment_intent?.id)
    }

    /// Finds the payment of an object by its own metadata, or else by its PaymentIntent's; nil for an object that is
    /// not ours.
    private func payment(
        _ metadata: [String: String]?, _ intent: String?
    ) async throws(StripeFailure) -> ID<Payment>? {
        if let payment = StripeMetadata.payment(in: metadata) { return payment }
        guard let intent, let id = StripeText.id(intent) else { return nil }
        do throws(StripeFailure) {
            let known: StripeObject.PaymentIntent = try await api.get("payment_intents/\(id)")
            guard known.id == id else { throw .foreign }
            guard known.livemode ?? settings.isLive == settings.isLive else { throw .unproven(.otherMode) }
            return StripeMetadata.payment(in: known.metadata)
        } catch {
            if case .refused(let refusal) = error, refusal.isMissing { return nil }
            // Stripe repeats the notification, and the object is queried again.
            throw .unanswered
        }
    }
}

extension StripeObject.Dispute {
    /// The outcome; nil for an inquiry, which takes no money, and for unknown values.
    var outcome: DisputeOutcome? {
        switch status {
        case "needs_response", "under_review", "appeal_needs_response", "appeal_under_review": .opened
        // A refund that prevented the dispute is reported separately.
        case "won", "prevented": .won
        case "lost": .lost
        default: nil
        }
    }
}
