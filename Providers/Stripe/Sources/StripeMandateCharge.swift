import Domain
public import ProviderKit

/// Charges mandates: PaymentIntents that are made and confirmed in one call, while no payer is present.
///
/// Source: docs.stripe.com/payments/save-and-reuse, docs.stripe.com/api/payment_intents/create. `setup_future_usage` is
/// refused beside `off_session`. `automatic_payment_methods` is not sent, because it may choose a method with a redirect,
/// which needs a `return_url`; the mandate's own type is named instead. `error_on_requires_action` is not sent either:
/// `off_session` already refuses where the payer would have to act, and the documentation does not say what both give.
extension StripeProvider {
    public func charge(_ charge: MandateCharge) async throws(ProviderError) -> PaymentReport {
        let amount = try StripeAmount(charge.amount)
        let method: StripeObject.PaymentMethod?
        let earlier: StripePayment?
        do throws(StripeFailure) {
            // After Stripe has forgotten the key, the call would charge a second time.
            earlier = isBeyondKeys(charge.payment.madeAt) ? try await locator.payment(charge.payment) : nil
            method = earlier == nil ? try await methods.find(charge.mandate.reference) : nil
        } catch {
            throw error.providerError(afterChange: false)
        }
        // Stripe itself refuses a mandate that is gone, unless an earlier call of this charge was made before that.
        let type = StripeText.word(method?.type) ?? settings.recurringTypes.first ?? "card"
        let form = form(charge, amount, customer: charge.mandate.customer ?? method?.customer?.id, type: type)
        do throws(StripeFailure) {
            if let earlier { return try await ended(earlier, charge.payment) }
            return try await made(charge, form)
        } catch {
            throw error.providerError(afterChange: true)
        }
    }

    private func made(_ charge: MandateCharge, _ form: StripeForm) async throws(StripeFailure) -> PaymentReport {
        do throws(StripeFailure) {
            let answer: (value: StripeObject.PaymentIntent, isReplayed: Bool) = try await api.post(
                "payment_intents", form, key: charge.idempotencyKey)
            let first = try StripePayment(answer.value)
            // A repeated answer has the state of the first call.
            let known = answer.isReplayed ? try await api.payment(first.id) : first
            guard known.amount == charge.amount else { throw .unproven(.badMoney) }
            let waits = first.status == "requires_action" || first.status == "requires_confirmation"
            return try await ended(known, charge.payment, first.decline ?? (waits ? .needsPayer : nil))
        } catch {
            guard case .refused(let refusal) = error else { throw error }
            return try await refused(refusal, charge)
        }
    }

    private func refused(
        _ refusal: StripeRefusal, _ charge: MandateCharge
    ) async throws(StripeFailure) -> PaymentReport {
        if refusal.isOtherUseOfKey {
            // It was withdrawn before it arrived.
            guard let known = try await locator.payment(charge.payment) else { throw .unanswered }
            return try await ended(known, charge.payment)
        }
        if let intent = refusal.intent {
            return try await ended(try await known(intent), charge.payment, StripeDecline(refusal))
        }
        if refusal.isDecline {
            let decline = StripeDecline(refusal)
            if let known = try await found(charge.payment) { return try await ended(known, charge.payment, decline) }
            return PaymentReport(
                payment: charge.payment, outcome: .failed(reason: decline.reason), refusal: decline.refusal)
        }
        if refusal.endsMandate {
            return PaymentReport(
                payment: charge.payment, outcome: .failed(reason: PaymentReport.mandateEnded), refusal: .hard)
        }
        guard refusal.type == "invalid_request_error", !refusal.isBeforeWork, refusal.status < 500,
            refusal.status != 409
        else { throw .refused(refusal) }
        // Neither a refusal by the payer's bank nor a try: an operator has to mend something.
        context.log.write(
            .error, "stripe: a charge of a mandate is not understood, and waits",
            ["payment": charge.payment.rawValue, "code": refusal.code ?? "", "parameter": refusal.parameter ?? ""])
        throw .notSent
    }

    /// Reads a PaymentIntent after a change, so that a lost answer leaves its state unknown.
    private func known(_ intent: String) async throws(StripeFailure) -> StripePayment {
        do throws(StripeFailure) { return try await api.payment(intent) } catch { throw error.afterCharge }
    }

    private func found(_ payment: ID<Payment>) async throws(StripeFailure) -> StripePayment? {
        do throws(StripeFailure) { return try await locator.payment(payment) } catch { throw error.afterCharge }
    }

    private func form(
        _ charge: MandateCharge, _ amount: StripeAmount, customer: String?, type: String
    ) -> StripeForm {
        let metadata = StripeForm([
            (StripeMetadata.payment, .text(charge.payment.rawValue)),
            (StripeMetadata.order, .text(charge.order.rawValue)),
            (StripeMetadata.subscription, .text(charge.mandate.subscription.rawValue)),
            (StripeMetadata.period, .integer(charge.periodIndex)),
            (StripeMetadata.charge, .text(StripeMetadata.chargesMandate)),
        ])
        return StripeForm([
            ("amount", .integer(amount.value)), ("currency", .text(amount.currency)),
            ("customer", customer.map { .text($0) }), ("payment_method", .text(charge.mandate.reference)),
            ("payment_method_types", .texts([type])), ("off_session", .boolean(true)), ("confirm", .boolean(true)),
            ("metadata", .map(metadata)),
        ])
    }

    // MARK: The end of a charge

    /// The seconds after which a charge that waits is no longer in the middle of its own call.
    private static let callLimit: Int64 = 600

    /// Reports a charge that is read, and ends it where its bank has refused it.
    func settled(_ known: StripePayment, _ payment: ID<Payment>) async throws(StripeFailure) -> PaymentReport {
        let isOld = known.intentObject?.created.map { Timestamp($0).adding(seconds: Self.callLimit) < context.time.now }
        // Without a failure it may be in the middle of its own call.
        guard known.status == "requires_action" || known.decline != nil || isOld ?? false else {
            try known.check(payment, isLive: settings.isLive)
            return known.report(payment)
        }
        return try await ended(known, payment)
    }

    /// Reports a charge, and cancels one that waits, so that nobody can confirm it afterwards.
    ///
    /// - Parameter decline: why it was refused, as far as the answer to its call says so.
    func ended(
        _ known: StripePayment, _ payment: ID<Payment>, _ decline: StripeDecline? = nil
    ) async throws(StripeFailure) -> PaymentReport {
        try known.check(payment, isLive: settings.isLive)
        guard known.status.hasPrefix("requires_"), known.kind == .intent else {
            return known.report(payment, after: decline)
        }
        let cause = decline ?? known.decline ?? (known.status == "requires_action" ? .needsPayer : nil)
        var present: StripePayment
        do throws(StripeFailure) { present = try await api.close(known) } catch {
            // It was ended by another call, or was paid after all.
            guard case .refused(let refusal) = error, !refusal.isBeforeWork, refusal.status < 500 else {
                throw error.afterCharge
            }
            present = try await self.known(known.id)
        }
        try present.check(payment, isLive: settings.isLive)
        return present.report(payment, after: cause)
    }
}

extension StripeFailure {
    /// This failure of a call that follows a charge: the charge itself was made.
    fileprivate var afterCharge: StripeFailure {
        switch self {
        case .unproven: self
        case .notSent, .unanswered, .refused, .unsayable: .unanswered
        }
    }
}

extension StripePayment {
    /// Makes the report of a charge that was refused for this reason; an answer's own reason is the more precise one.
    fileprivate func report(_ payment: ID<Payment>, after decline: StripeDecline?) -> PaymentReport {
        guard chargesMandate, case .failed = outcome, let decline else { return report(payment) }
        return PaymentReport(
            payment: payment, outcome: .failed(reason: decline.reason), reference: id, refusal: decline.refusal)
    }
}
