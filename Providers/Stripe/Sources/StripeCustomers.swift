import Domain
import ProviderKit

/// The customers at Stripe, one for each subscription, which keep its payer's means of payment.
struct StripeCustomers: Sendable {
    let api: StripeAPI
    let time: TimeSource

    /// Returns the customer of a subscription, made where there is none.
    ///
    /// - Parameters:
    ///   - known: a customer that the subscription has had; another system's is not used, because it is not ours to
    ///     delete.
    ///   - purpose: the id of the payment or set-up that needs it, the same in every repetition.
    func customer(
        of subscription: ID<Subscription>, known: String?, for purpose: String
    ) async throws(StripeFailure) -> String {
        if let known, let found = try await find(known), found.isOf(subscription) { return found.id }
        let isForgotten = time.now > subscription.madeAt.adding(seconds: StripeAPI.keyLife)
        if isForgotten, let found = await searched(subscription) { return found }
        do throws(StripeFailure) {
            let made = try await make(subscription, key: "\(subscription.rawValue)-customer")
            // A repeated answer may be about a customer that was deleted with an earlier mandate.
            if !made.isReplayed { return made.id }
            if try await find(made.id) != nil { return made.id }
        } catch {
            // Stripe repeats its own error for a day.
            guard case .refused(let refusal) = error, refusal.status >= 500 else { throw error }
        }
        return try await make(subscription, key: "\(purpose)-customer").id
    }

    /// Reads a customer; nil where it is unknown or deleted.
    func find(_ reference: String) async throws(StripeFailure) -> StripeObject.Customer? {
        guard let id = StripeText.id(reference) else { return nil }
        do throws(StripeFailure) {
            let customer: StripeObject.Customer = try await api.get("customers/\(id)")
            guard customer.id == id else { throw .foreign }
            return customer.deleted == true ? nil : customer
        } catch {
            if case .refused(let refusal) = error, refusal.isMissing { return nil }
            throw error
        }
    }

    /// Deletes a customer with everything that it keeps.
    ///
    /// - Returns: false for one that was not made for this subscription, which stays.
    func delete(_ reference: String, of subscription: ID<Subscription>) async throws(StripeFailure) -> Bool {
        guard let customer = try await find(reference) else { return true }
        guard customer.isOf(subscription), let id = StripeText.id(customer.id) else { return false }
        do throws(StripeFailure) {
            let _: StripeObject.Customer = try await api.delete("customers/\(id)")
        } catch {
            guard case .refused(let refusal) = error, refusal.isMissing else { throw error }
        }
        return true
    }

    private func make(
        _ subscription: ID<Subscription>, key: String
    ) async throws(StripeFailure) -> (id: String, isReplayed: Bool) {
        let metadata = StripeForm([(StripeMetadata.subscription, .text(subscription.rawValue))])
        let made: (value: StripeObject.Customer, isReplayed: Bool) = try await api.post(
            "customers", StripeForm([("metadata", .map(metadata))]), key: key)
        guard let id = StripeText.id(made.value.id) else { throw .unanswered }
        return (id, made.isReplayed)
    }

    /// Finds the customer by our id; nil also where Stripe does not search, because a second customer harms nobody.
    private func searched(_ subscription: ID<Subscription>) async -> String? {
        let query = StripeForm([
            ("query", .text("metadata['\(StripeMetadata.subscription)']:'\(subscription.rawValue)'"))
        ])
        let found: StripeObject.List<StripeObject.Customer>? = try? await api.get(
            "customers/search", query, isList: true)
        return found?.data.first { $0.isOf(subscription) && $0.deleted != true }.flatMap { StripeText.id($0.id) }
    }
}

extension StripeObject.Customer {
    /// True where it was made for this subscription, and may be deleted with it.
    func isOf(_ subscription: ID<Subscription>) -> Bool {
        metadata?[StripeMetadata.subscription] == subscription.rawValue
    }
}
