public import Domain
public import ProviderKit

/// Set-ups and mandates: a mandate is a payment method that is attached to the subscription's customer.
///
/// Source: docs.stripe.com/payments/save-and-reuse, docs.stripe.com/api/setup_intents,
/// docs.stripe.com/payments/checkout/save-and-reuse.
extension StripeProvider: MandateCharging {
    public var chargesMandates: Bool { !settings.recurringTypes.isEmpty }

    private var setups: StripeSetupCalls {
        StripeSetupCalls(api: api, mode: settings.mode, time: context.time)
    }

    // MARK: Set-ups

    public func setUp(_ attempt: SetupAttempt) async throws(ProviderError) -> OpenedSetup {
        guard chargesMandates else { throw .unfit(reason: "no_mandates") }
        let customer: String
        let earlier: StripeSetup?
        do throws(StripeFailure) {
            // After Stripe has forgotten the key, the call would make a second set-up.
            earlier = isBeyondKeys(attempt.setup.madeAt) ? try await setups.find(attempt.setup) : nil
            customer = try await customers.customer(
                of: attempt.subscription, known: attempt.customer, for: attempt.setup.rawValue)
        } catch {
            throw error.providerError(afterChange: false)
        }
        do throws(StripeFailure) {
            if let earlier { return try opened(earlier, attempt) }
            let form = form(attempt, customer)
            return try opened(try await setups.make(form, key: attempt.idempotencyKey), attempt)
        } catch {
            guard case .refused(let refusal) = error, refusal.isOtherUseOfKey else {
                throw error.providerError(afterChange: true)
            }
            return try await reopening(attempt)
        }
    }

    /// Returns a set-up whose key was used with other parameters: it was closed before it was opened, or the settings
    /// changed.
    private func reopening(_ attempt: SetupAttempt) async throws(ProviderError) -> OpenedSetup {
        do throws(StripeFailure) {
            guard let known = try await setups.find(attempt.setup) else {
                throw .refused(StripeRefusal(status: 400, type: "invalid_request_error", code: "setup_id_reused"))
            }
            return try opened(known, attempt)
        } catch {
            throw error.providerError(afterChange: false)
        }
    }

    private func opened(_ known: StripeSetup, _ attempt: SetupAttempt) throws(StripeFailure) -> OpenedSetup {
        try known.check(attempt.setup, isLive: settings.isLive)
        guard known.state != .cancelled else {
            throw .refused(StripeRefusal(status: 400, type: "invalid_request_error", code: "setup_closed"))
        }
        guard let token = known.token, !token.isEmpty, token.utf8.count <= WebAddress.lengthLimit else {
            throw .unanswered
        }
        let instruction =
            known.kind == .intent ? payNow(token, settings.recurringTypes) : try goTo(token)
        return OpenedSetup(instruction: instruction, reference: known.id)
    }

    public func query(setup: SetupReference) async throws(ProviderError) -> SetupReport {
        do throws(StripeFailure) {
            // Its opening may be under way, so a set-up that is not found has not ended.
            guard let known = try await find(setup) else {
                return SetupReport(setup: setup.setup, outcome: .pending)
            }
            return try await report(known, setup.setup)
        } catch {
            throw error.providerError(afterChange: false)
        }
    }

    public func cancel(setup: SetupReference) async throws(ProviderError) -> SetupReport {
        do throws(StripeFailure) {
            let known: StripeSetup
            if let found = try await find(setup) {
                known = found
            } else {
                guard let fenced = try await fence(setup.setup) else {
                    return SetupReport(setup: setup.setup, outcome: .cancelled)
                }
                known = fenced
            }
            guard known.state == .waiting else { return try await report(known, setup.setup) }
            return try await report(try await closed(known), setup.setup)
        } catch {
            throw error.providerError(afterChange: true)
        }
    }

    private func closed(_ known: StripeSetup) async throws(StripeFailure) -> StripeSetup {
        do throws(StripeFailure) { return try await setups.close(known) } catch {
            guard case .refused(let refusal) = error, !refusal.isBeforeWork, refusal.status < 500 else { throw error }
            // It ended meanwhile, or cannot be closed at this moment: its current state is the answer.
            return try await setups.setup(known.id)
        }
    }

    /// Makes the set-up that Stripe does not have, so that an opening that comes later finds the key used.
    ///
    /// - Returns: nil where the key's first call has ended without a set-up.
    private func fence(_ setup: ID<Setup>) async throws(StripeFailure) -> StripeSetup? {
        do throws(StripeFailure) {
            let made = try await setups.make(fenceForm(setup), key: "\(setup.rawValue)-setup")
            try made.check(setup, isLive: settings.isLive)
            return made
        } catch {
            guard case .refused(let refusal) = error, refusal.isOtherUseOfKey else { throw error }
            if let known = try await setups.find(setup) { return known }
            // The call may still run.
            guard context.time.now > setup.madeAt.adding(seconds: 600) else { throw .unanswered }
            return nil
        }
    }

    private func find(_ setup: SetupReference) async throws(StripeFailure) -> StripeSetup? {
        guard let reference = setup.reference else { return try await setups.find(setup.setup) }
        return try await setups.setup(reference)
    }

    /// Makes the report of a set-up, with the mandate that a success has made.
    func report(_ known: StripeSetup, _ setup: ID<Setup>) async throws(StripeFailure) -> SetupReport {
        try known.check(setup, isLive: settings.isLive)
        var state = known.state
        if case .complete(let intent) = state { state = try await setups.intent(intent).state }
        let outcome: SetupOutcome
        switch state {
        case .waiting, .complete: outcome = .pending
        case .cancelled: outcome = .cancelled
        case .succeeded(let method, let customer):
            var mandate: ProviderMandate?
            if let method, let customer { mandate = try await methods.mandate(method, of: customer) }
            outcome = mandate.map { .succeeded($0) } ?? .failed(reason: PaymentReport.mandateEnded)
        }
        return SetupReport(setup: setup, outcome: outcome, reference: known.id)
    }

    private func form(_ attempt: SetupAttempt, _ customer: String) -> StripeForm {
        let metadata = StripeForm([
            (StripeMetadata.setup, .text(attempt.setup.rawValue)),
            (StripeMetadata.subscription, .text(attempt.subscription.rawValue)),
        ])
        var form = form(metadata, returnURL: attempt.returnURL ?? context.publicURL)
        form.set("customer", .text(customer))
        if settings.mode == .checkoutSession {
            let end = Self.sessionEnd(attempt.setup.madeAt, attempt.expiresAt, now: context.time.now)
            form.set("expires_at", .integer(end.rawValue))
            form.set("client_reference_id", .text(attempt.setup.rawValue))
        }
        return form
    }

    private func fenceForm(_ setup: ID<Setup>) -> StripeForm {
        form(StripeForm([(StripeMetadata.setup, .text(setup.rawValue))]), returnURL: context.publicURL)
    }

    /// Returns the parameters of every set-up.
    ///
    /// A session in setup mode has no items and no PaymentIntent.
    private func form(_ metadata: StripeForm, returnURL: String) -> StripeForm {
        let methods = settings.recurringTypes.isEmpty ? ["card"] : settings.recurringTypes
        var form = StripeForm([("payment_method_types", .texts(methods)), ("metadata", .map(metadata))])
        switch settings.mode {
        case .paymentIntent: form.set("usage", .text(Self.offSession))
        case .checkoutSession:
            var inner = metadata
            inner.set(StripeMetadata.contract, .text(ContractType.url.rawValue))
            form.set("mode", .text("setup"))
            form.set("setup_intent_data", .map(StripeForm([("metadata", .map(inner))])))
            form.set("success_url", .text(returnURL))
            form.set("cancel_url", .text(returnURL))
        }
        return form
    }

    // MARK: Mandates

    public func verify(_ mandate: MandateReference) async throws(ProviderError) -> ProviderMandate {
        do throws(StripeFailure) {
            guard let method = try await methods.find(mandate.reference), let owner = method.customer?.id,
                owner == mandate.customer ?? owner
            else { throw .refused(StripeRefusal(status: 404, type: "invalid_request_error", code: "unknown_mandate")) }
            guard let type = method.type, settings.recurringTypes.contains(type) else {
                throw .refused(
                    StripeRefusal(status: 400, type: "invalid_request_error", code: "payment_method_type"))
            }
            return method.mandate
        } catch {
            throw error.providerError(afterChange: false)
        }
    }

    public func revoke(_ mandate: MandateReference) async throws(ProviderError) {
        do throws(StripeFailure) {
            if mandate.ownsCustomer, let customer = mandate.customer,
                try await customers.delete(customer, of: mandate.subscription)
            {
                return
            }
            try await methods.detach(mandate.reference, from: mandate.customer)
        } catch {
            throw error.providerError(afterChange: true)
        }
    }

    private static let pageLimit = 20

    /// Lists what Stripe holds of the subscription under its customer, also what its payer paid on session.
    public func charges(
        of mandate: MandateReference, since: Timestamp
    ) async throws(ProviderError) -> [MandateChargeReport]? {
        do throws(StripeFailure) {
            var customer = mandate.customer
            if customer == nil { customer = try await methods.find(mandate.reference)?.customer?.id }
            guard let customer else { return nil }
            var (reports, last): ([MandateChargeReport], String?) = ([], nil)
            for _ in 0..<Self.pageLimit {
                let query = StripeForm([
                    ("customer", .text(customer)),
                    ("created", .map(StripeForm([("gte", .integer(max(0, since.rawValue)))]))),
                    ("limit", .integer(100)), ("starting_after", last.map { .text($0) }),
                ])
                let page: StripeObject.List<StripeObject.PaymentIntent> = try await api.get(
                    "payment_intents", query, isList: true)
                for intent in page.data {
                    if let report = try report(ofCharge: intent, mandate.subscription) { reports.append(report) }
                }
                guard page.has_more == true, let next = page.data.last?.id, next != last else {
                    return reports.reversed()
                }
                last = next
            }
            throw .unanswered
        } catch {
            throw error.providerError(afterChange: false)
        }
    }

    /// - Returns: nil for an intent that was not paid, or not for this subscription.
    private func report(
        ofCharge intent: StripeObject.PaymentIntent, _ subscription: ID<Subscription>
    ) throws(StripeFailure) -> MandateChargeReport? {
        guard StripeMetadata.subscription(in: intent.metadata) == subscription,
            let payment = StripeMetadata.payment(in: intent.metadata),
            let order = intent.metadata?[StripeMetadata.order].flatMap({ ID<Order>($0) }),
            let period = intent.metadata?[StripeMetadata.period].flatMap({ Int64($0) }),
            case .succeeded(let amount) = try intent.outcome()
        else { return nil }
        // A session is its payment's reference, not its PaymentIntent.
        let isOfSession = intent.metadata?[StripeMetadata.contract] == ContractType.url.rawValue
        return MandateChargeReport(
            payment: payment, order: order, periodIndex: period, amount: amount,
            reference: isOfSession ? nil : intent.id, at: Timestamp(intent.created ?? 0))
    }
}
