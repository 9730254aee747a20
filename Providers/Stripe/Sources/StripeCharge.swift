import Domain
import FoundationEssentials
public import ProviderKit

/// Charges encrypted Apple Pay tokens; the certificate request of the processing key must come from Stripe.
///
/// The token becomes a `tok_…`, and a PaymentIntent is made with it and confirmed at once. It has the idempotency key
/// of the payment's opening, so that the cancellation of a payment whose charge never arrived uses up that key. Source:
/// docs.stripe.com/apple-pay, docs.stripe.com/api/payment_intents/create.
extension StripeProvider: InstrumentCharging {
    public func charge(_ charge: InstrumentCharge) async throws(ProviderError) -> PaymentReport {
        guard case .applePayEncrypted(let token) = charge.instrument else { throw .unsupported }
        let amount = try StripeAmount(charge.amount)
        do throws(StripeFailure) {
            if isBeyondKeys(charge.payment.madeAt), let known = try await locator.payment(charge.payment) {
                return try charged(known, charge)
            }
        } catch {
            throw error.providerError(afterChange: false)
        }
        let source: StripeObject.Token
        do throws(StripeFailure) {
            source = try await api.post("tokens", Self.form(token), key: "\(charge.payment.rawValue)-token").value
        } catch {
            // The creation of a token charges nothing.
            throw error.providerError(afterChange: false)
        }
        guard let id = StripeText.id(source.id), id.hasPrefix("tok_") else { throw .unavailable }
        do throws(StripeFailure) {
            let made = try await api.make(.paymentIntent, form(charge, amount, id), key: charge.idempotencyKey)
            return try charged(made, charge)
        } catch {
            throw error.providerError(afterChange: true)
        }
    }

    private func charged(_ known: StripePayment, _ charge: InstrumentCharge) throws(StripeFailure) -> PaymentReport {
        try known.check(charge.payment, isLive: settings.isLive)
        guard known.amount == charge.amount else { throw .unproven(.badMoney) }
        return known.report(charge.payment)
    }

    private static func form(_ token: EncryptedToken) -> StripeForm {
        StripeForm([
            ("pk_token", .text(String(decoding: token.paymentData, as: UTF8.self))),
            ("pk_token_instrument_name", token.displayName.map { .text($0) }),
            ("pk_token_payment_network", token.network.map { .text($0) }),
            ("pk_token_transaction_id", .text(token.transactionID.uppercased())),
        ])
    }

    private func form(_ charge: InstrumentCharge, _ amount: StripeAmount, _ source: String) -> StripeForm {
        let card = StripeForm([("type", .text("card")), ("card", .map(StripeForm([("token", .text(source))])))])
        let metadata = StripeForm([
            (StripeMetadata.payment, .text(charge.payment.rawValue)),
            (StripeMetadata.order, .text(charge.order.rawValue)),
            (StripeMetadata.instrument, .text(ContractType.applePay.rawValue)),
        ])
        return StripeForm([
            ("amount", .integer(amount.value)), ("currency", .text(amount.currency)),
            ("payment_method_types", .list([.text("card")])), ("payment_method_data", .map(card)),
            ("confirm", .boolean(true)),
            // The payer is no longer present for a further step.
            ("error_on_requires_action", .boolean(true)), ("metadata", .map(metadata)),
        ])
    }
}
