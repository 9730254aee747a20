import Domain
import ProviderKit

extension StripeProvider {
    func opening(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        if let fault = amountFault(attempt.amount) { throw .unfit(reason: fault.rawValue) }
        let amount = try StripeAmount(attempt.amount)
        let form = settings.mode == .paymentIntent ? intentForm(attempt, amount) : sessionForm(attempt, amount)
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
            let methods = settings.paymentMethodTypes
            instruction = .stripe(
                publishableKey: settings.publishableKey, clientSecret: token,
                method: methods.count == 1 ? methods.first : nil)
        case .session:
            guard let address = WebAddress(token), address.isWeb,
                address.scheme == "https" || settings.base.hasPrefix("http://")
            else { throw .unanswered }
            instruction = .url(checkoutURL: token)
        }
        return OpenedPayment(instruction: instruction, reference: known.id, outcome: known.outcome)
    }

    private func intentForm(_ attempt: PaymentAttempt, _ amount: StripeAmount) -> StripeForm {
        var form = intentForm(attempt.payment, amount)
        form.set("metadata", .map(metadata(attempt)))
        return form
    }

    /// Returns the parameters of every PaymentIntent of a payment; Stripe captures it when it is confirmed.
    private func intentForm(_ payment: ID<Payment>, _ amount: StripeAmount) -> StripeForm {
        let automatic = StripeForm([("enabled", .boolean(true))])
        return StripeForm([
            ("amount", .integer(amount.value)), ("currency", .text(amount.currency)),
            settings.paymentMethodTypes.isEmpty
                ? ("automatic_payment_methods", .map(automatic)) : ("payment_method_types", methodTypes),
        ])
    }

    private func sessionForm(_ attempt: PaymentAttempt, _ amount: StripeAmount) -> StripeForm {
        let title = attempt.title.isBlank ? attempt.order.rawValue : attempt.title.cut(scalars: 250)
        var form = sessionForm(attempt.payment, amount, title, returnURL: attempt.returnURL ?? context.publicURL)
        form.set("expires_at", .integer(Self.sessionEnd(attempt, now: context.time.now).rawValue))
        form.set("metadata", .map(metadata(attempt)))
        var inner = metadata(attempt)
        inner.set(StripeMetadata.contract, .text(ContractType.url.rawValue))
        form.set("payment_intent_data", .map(StripeForm([("metadata", .map(inner))])))
        return form
    }

    private func sessionForm(
        _ payment: ID<Payment>, _ amount: StripeAmount, _ title: String, returnURL: String
    ) -> StripeForm {
        let price = StripeForm([
            ("currency", .text(amount.currency)), ("unit_amount", .integer(amount.value)),
            ("product_data", .map(StripeForm([("name", .text(title))]))),
        ])
        let item = StripeForm([("price_data", .map(price)), ("quantity", .integer(1))])
        return StripeForm([
            ("mode", .text("payment")), ("line_items", .list([.map(item)])), ("success_url", .text(returnURL)),
            ("cancel_url", .text(returnURL)), ("client_reference_id", .text(payment.rawValue)),
            ("payment_method_types", settings.paymentMethodTypes.isEmpty ? nil : methodTypes),
        ])
    }

    private var methodTypes: StripeParameter { .list(settings.paymentMethodTypes.map { .text($0) }) }

    private func metadata(_ attempt: PaymentAttempt) -> StripeForm {
        StripeForm([
            (StripeMetadata.payment, .text(attempt.payment.rawValue)),
            (StripeMetadata.order, .text(attempt.order.rawValue)),
        ])
    }

    /// Returns the time at which Stripe closes a session, which must be between half an hour and a day after its
    /// creation.
    ///
    /// It is computed in steps of five minutes from the payment's id, not from now, so that a call that is repeated
    /// soon has the same parameters; a later one finds the session by our id.
    static func sessionEnd(_ attempt: PaymentAttempt, now: Timestamp) -> Timestamp {
        let made = attempt.payment.madeAt
        let elapsed = max(0, now.rawValue - made.rawValue)
        let step = made.adding(seconds: elapsed - elapsed % 300)
        return min(max(attempt.expiresAt, step.adding(seconds: 40 * 60)), step.adding(seconds: 86_400 - 300))
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
        guard !known.isClosed, !known.isPaid else { return known.report(payment) }
        do throws(StripeFailure) {
            // A cancellation that was refused in one state may succeed in another, so the state is part of the key.
            let word = StripeText.word(known.status) ?? "unknown"
            let closed = try await api.close(known, key: "\(payment.rawValue)-cancel-\(word)")
            try closed.check(payment, isLive: settings.isLive)
            return closed.report(payment)
        } catch {
            let meaning = error.providerError(afterChange: true)
            guard case .rejected = meaning else { throw meaning }
            // It was paid meanwhile, or cannot be closed at this moment: its current state is the answer.
            let now = ProviderReference(payment: payment, reference: known.id, amount: reference.amount)
            guard let present = try await find(now) else { throw .outcomeUnknown }
            return present.report(payment)
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
            return PaymentReport(payment: payment, outcome: isOver ? .cancelled : .pending(status: "not_found"))
        }
        return try await close(made, reference)
    }

    private func fenceForm(_ payment: ID<Payment>, _ amount: StripeAmount) -> StripeForm {
        var form =
            settings.mode == .paymentIntent
            ? intentForm(payment, amount)
            : sessionForm(payment, amount, payment.rawValue, returnURL: context.publicURL)
        form.set("metadata", .map(StripeForm([(StripeMetadata.payment, .text(payment.rawValue))])))
        return form
    }
}
