import Domain
import ProviderKit

/// The payers' means of payment at Stripe, which are the mandates.
struct StripeMethods: Sendable {
    let api: StripeAPI
    let isLive: Bool

    /// Reads a means of payment; nil where it is unknown.
    func find(_ reference: String) async throws(StripeFailure) -> StripeObject.PaymentMethod? {
        guard let id = StripeText.id(reference) else { return nil }
        do throws(StripeFailure) {
            let method: StripeObject.PaymentMethod = try await api.get("payment_methods/\(id)")
            guard method.id == id else { throw .foreign }
            guard method.livemode ?? isLive == isLive else { throw .unproven(.otherMode) }
            return method
        } catch {
            if case .refused(let refusal) = error, refusal.isMissing { return nil }
            throw error
        }
    }

    /// Reads the mandate of a customer; nil where it has ended, or is another customer's.
    func mandate(_ reference: String, of customer: String?) async throws(StripeFailure) -> ProviderMandate? {
        guard let method = try await find(reference), let owner = method.customer?.id, owner == customer ?? owner
        else { return nil }
        return method.mandate
    }

    /// Reads the mandate that a paid payment has left behind; nil where none was asked for.
    func mandate(leftBy known: StripePayment) async throws(StripeFailure) -> ProviderMandate? {
        guard known.isPaid, !known.chargesMandate, known.subscription != nil else { return nil }
        let intent: StripeObject.PaymentIntent
        if let object = known.intentObject {
            intent = object
        } else {
            guard let id = known.intent.flatMap(StripeText.id) else { return nil }
            intent = try await api.get("payment_intents/\(id)")
            guard intent.id == id else { throw .foreign }
        }
        guard let method = intent.payment_method?.id, let customer = intent.customer?.id else { return nil }
        return try await mandate(method, of: customer)
    }

    /// Takes a means of payment from its customer; succeeds for one that has none.
    func detach(_ reference: String, from customer: String?) async throws(StripeFailure) {
        guard let method = try await find(reference), let id = StripeText.id(method.id),
            let owner = method.customer?.id, owner == customer ?? owner
        else { return }
        do throws(StripeFailure) {
            let _: (value: StripeObject.PaymentMethod, isReplayed: Bool) = try await api.post(
                "payment_methods/\(id)/detach", StripeForm(), key: nil)
        } catch {
            guard case .refused = error, try await find(reference)?.customer == nil else { throw error }
        }
    }
}

extension StripeObject.PaymentMethod {
    var mandate: ProviderMandate {
        ProviderMandate(
            reference: id, customer: customer?.id, fingerprint: StripeText.word(card?.fingerprint), label: label,
            brand: StripeText.word(card?.brand), last4: last4, expMonth: card?.exp_month, expYear: card?.exp_year)
    }

    private var last4: String? { card?.last4.flatMap { $0.utf8.count == 4 && $0.isDigits(4...4) ? $0 : nil } }

    /// The words by which a payer recognizes it, `Visa •••• 4242`.
    private var label: String {
        let name: String =
            switch StripeText.word(card?.brand ?? type) ?? "card" {
            case "amex": "American Express"
            case "diners": "Diners Club"
            case "jcb": "JCB"
            case "unionpay": "UnionPay"
            case "eftpos_au": "eftpos"
            case let word:
                word.split(separator: "_").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: " ")
            }
        return last4.map { "\(name) •••• \($0)" } ?? name
    }
}
