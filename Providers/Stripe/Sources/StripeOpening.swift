import Domain
import ProviderKit

extension StripeProvider {
    func opening(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        if let fault = amountFault(attempt.amount) { throw .unfit(reason: fault.rawValue) }
        let amount = try StripeAmount(attempt.amount)
        let customer = try await customer(of: attempt)
        let form =
            settings.mode == .paymentIntent
            ? intentForm(attempt, amount, customer) : sessionForm(attempt, amount, customer)
        do throws(StripeFailure) {
            // After Stripe has forgotten the key, the call would make a second payment.
            if isBeyondKeys(attempt.payment.madeAt), let known = try await locator.payment(attempt.payment) {
                return try opened(known, attempt)
            }
            return try opened(try await api.make(settings.mode, form, key: attempt.idempotencyKey), attempt)
        } catch {
            guard case .refused(let refusal) = error, refusal.isOtherUseOfKey else {
                throw error.providerError(afterChange: true)
            }
            return try await reopening(attempt)
        }
    }

    /// Makes the customer that keeps the payer's means of payment; nil for a payment that leaves no mandate behind.
    private func customer(of attempt: PaymentAttempt) async throws(ProviderError) -> String? {
        guard let mandate = attempt.mandate else { return nil }
        guard chargesMandates else { throw .unfit(reason: "no_mandates") }
        do throws(StripeFailure) {
            return try await customers.customer(
                of: mandate.subscription, known: nil, for: attempt.payment.rawValue)
        } catch {
            // A customer alone changes nothing, and a repetition finds it.
            throw error.providerError(afterChange: false)
        }
    }

    /// Returns a payment whose key was used with other parameters: it was closed before it was opened, or the settings
    /// changed.
    private func reopening(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        do throws(StripeFailure) {
            guard let known = try await locator.payment(attempt.payment) else {
                throw .refused(
                    StripeRefusal(status: 400, type: "invalid_request_error", code: "payment_id_reused"))
            }
            return try opened(known, attempt)
        } catch {
            throw error.providerError(afterChange: false)
        }
    }

    private func opened(_ known: StripePayment, _ attempt: PaymentAttempt) throws(StripeFailure) -> OpenedPayment {
        try known.check(attempt.payment, isLive: settings.isLive)
        guard known.amount == attempt.amount else { throw .unproven(.badMoney) }
        guard !known.isClosed else {
            throw .refused(StripeRefusal(status: 400, type: "invalid_request_error", code: "payment_closed"))
        }
        guard let token = known.token, !token.isEmpty, token.utf8.count <= WebAddress.lengthLimit else {
            throw .unanswered
        }
        let instruction: PaymentInstruction
        switch known.kind {
        case .intent:
            instruction = payNow(token, methods(of: attempt))
        case .session: instruction = try goTo(token)
        }
        return OpenedPayment(instruction: instruction, reference: known.id, outcome: known.outcome)
    }

    /// The contract with a client secret, of a PaymentIntent or of a SetupIntent.
    func payNow(_ secret: String, _ methods: [String]) -> PaymentInstruction {
        .stripe(
            publishableKey: settings.publishableKey, clientSecret: secret,
            method: methods.count == 1 ? methods.first : nil)
    }

    /// The contract with the address of a session's page.
    func goTo(_ page: String) throws(StripeFailure) -> PaymentInstruction {
        guard let address = WebAddress(page), address.isWeb,
            address.scheme == "https" || settings.base.hasPrefix("http://")
        else { throw .unanswered }
        return .url(checkoutURL: page)
    }

    private func methods(of attempt: PaymentAttempt) -> [String] {
        attempt.mandate == nil ? settings.paymentMethodTypes : settings.recurringTypes
    }

    private func intentForm(_ attempt: PaymentAttempt, _ amount: StripeAmount, _ customer: String?) -> StripeForm {
        var form = intentForm(attempt.payment, amount, methods(of: attempt))
        if let customer {
            form.set("customer", .text(customer))
            form.set("setup_future_usage", .text(Self.offSession))
        }
        form.set("metadata", .map(metadata(attempt)))
        return form
    }

    static var offSession: String { "off_session" }

    /// Returns the parameters of every PaymentIntent of a payment; Stripe captures it when it is confirmed.
    private func intentForm(
        _ payment: ID<Payment>, _ amount: StripeAmount, _ methods: [String]
    ) -> StripeForm {
        let automatic = StripeForm([("enabled", .boolean(true))])
        return StripeForm([
            ("amount", .integer(amount.value)), ("currency", .text(amount.currency)),
            methods.isEmpty
                ? ("automatic_payment_methods", .map(automatic)) : ("payment_method_types", .texts(methods)),
        ])
    }

    private func sessionForm(
        _ attempt: PaymentAttempt, _ amount: StripeAmount, _ customer: String?
    ) -> StripeForm {
        let title = attempt.title.isBlank ? attempt.order.rawValue : attempt.title.cut(scalars: 250)
        var form = sessionForm(
            attempt.payment, amount, title, returnURL: attempt.returnURL ?? context.publicURL, methods(of: attempt))
        let end = Self.sessionEnd(attempt.payment.madeAt, attempt.expiresAt, now: context.time.now)
        form.set("expires_at", .integer(end.rawValue))
        form.set("customer", customer.map { .text($0) })
        form.set("metadata", .map(metadata(attempt)))
        var inner = metadata(attempt)
        inner.set(StripeMetadata.contract, .text(ContractType.url.rawValue))
        form.set(
            "payment_intent_data",
            .map(
                StripeForm([
                    ("metadata", .map(inner)), ("setup_future_usage", customer.map { _ in .text(Self.offSession) }),
                ])))
        return form
    }

    private func sessionForm(
        _ payment: ID<Payment>, _ amount: StripeAmount, _ title: String, returnURL: String, _ methods: [String]
    ) -> StripeForm {
        let price = StripeForm([
            ("currency", .text(amount.currency)), ("unit_amount", .integer(amount.value)),
            ("product_data", .map(StripeForm([("name", .text(title))]))),
        ])
        let item = StripeForm([("price_data", .map(price)), ("quantity", .integer(1))])
        return StripeForm([
            ("mode", .text("payment")), ("line_items", .list([.map(item)])), ("success_url", .text(returnURL)),
            ("cancel_url", .text(returnURL)), ("client_reference_id", .text(payment.rawValue)),
            ("payment_method_types", methods.isEmpty ? nil : .texts(methods)),
        ])
    }

    private func metadata(_ attempt: PaymentAttempt) -> StripeForm {
        StripeForm([
            (StripeMetadata.payment, .text(attempt.payment.rawValue)),
            (StripeMetadata.order, .text(attempt.order.rawValue)),
            (StripeMetadata.subscription, attempt.mandate.map { .text($0.subscription.rawValue) }),
            (StripeMetadata.period, attempt.mandate.map { .integer($0.periodIndex) }),
        ])
    }

    /// Returns the time at which Stripe closes a session, which must be between half an hour and a day after its
    /// creation.
    ///
    /// It is computed in steps of five minutes from the time of our id, not from now, so that a call that is repeated
    /// soon has the same parameters; a later one finds the session by our id.
    static func sessionEnd(_ made: Timestamp, _ expiresAt: Timestamp, now: Timestamp) -> Timestamp {
        let elapsed = max(0, now.rawValue - made.rawValue)
        let step = made.adding(seconds: elapsed - elapsed % 300)
        return min(max(expiresAt, step.adding(seconds: 40 * 60)), step.adding(seconds: 86_400 - 300))
    }
}

/// Cancels payments.
extension StripeProvider {
    func cancelling(_ reference: ProviderReference) async throws(ProviderError) -> PaymentReport {
        guard let known = try await find(reference) else { return try await fence(reference) }
        return try await close(known, reference)
    }

    private func close(
        _ known: StripePayment, _ reference: ProviderReference
    ) async throws(ProviderError) -> PaymentReport {
        let payment = reference.payment
        guard !known.isClosed, !known.isPaid else { return try await report(known, payment) }
        do throws(StripeFailure) {
            if known.chargesMandate { return try await ended(known, payment) }
            let closed = try await api.close(known)
            try closed.check(payment, isLive: settings.isLive)
            return closed.report(payment)
        } catch {
            let meaning = error.providerError(afterChange: true)
            guard case .rejected = meaning else { throw meaning }
            // It was paid meanwhile, or cannot be closed at this moment: its current state is the answer.
            let now = ProviderReference(payment: payment, reference: known.id, amount: reference.amount)
            guard let present = try await find(now) else { throw .outcomeUnknown }
            return try await report(present, payment)
        }
    }

    /// Closes a payment that Stripe does not have: makes one with its key and closes it at once.
    ///
    /// An opening that is still under way, or comes later, then finds the key used with other parameters. An opening
    /// without an answer has given the payer nothing to pay with.
    private func fence(_ reference: ProviderReference) async throws(ProviderError) -> PaymentReport {
        let payment = reference.payment
        // A payment that cannot be charged was never opened.
        guard let amount = try? StripeAmount(reference.amount) else {
            return PaymentReport(payment: payment, outcome: .cancelled)
        }
        let made: StripePayment
        do throws(StripeFailure) {
            made = try await api.make(settings.mode, fenceForm(payment, amount), key: "\(payment.rawValue)-open")
            try made.check(payment, isLive: settings.isLive)
        } catch {
            guard case .refused(let refusal) = error, refusal.isOtherUseOfKey else {
                throw error.providerError(afterChange: true)
            }
            if let known = try await find(reference) { return try await close(known, reference) }
            // The key's first call has ended without a payment, unless it is so recent that it may still run.
            let isOver = context.time.now > payment.madeAt.adding(seconds: 600)
            return PaymentReport(payment: payment, outcome: isOver ? .cancelled : .notFound)
        }
        return try await close(made, reference)
    }

    private func fenceForm(_ payment: ID<Payment>, _ amount: StripeAmount) -> StripeForm {
        var form =
            settings.mode == .paymentIntent
            ? intentForm(payment, amount, settings.paymentMethodTypes)
            : sessionForm(
                payment, amount, payment.rawValue, returnURL: context.publicURL, settings.paymentMethodTypes)
        form.set("metadata", .map(StripeForm([(StripeMetadata.payment, .text(payment.rawValue))])))
        return form
    }
}
