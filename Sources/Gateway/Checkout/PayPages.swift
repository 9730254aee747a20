import Domain
package import ProviderKit
import Store

/// The pay pages of providers that have their own.
package struct PayPages: Sendable {
    let store: StoreAccess
    let providers: ProviderCalling

    /// The pay page of a payment.
    ///
    /// - Throws: `notFound` for a kind without pages or a payment that is not this kind's.
    package func page(
        kind: String, payment: String, for visitor: PageVisitor = PageVisitor()
    ) async throws(GatewayError) -> PaymentPage {
        let (id, provider) = try await pageProvider(kind: kind, payment: payment)
        let page: PaymentPage?
        do throws(ProviderError) { page = try await provider.page(id, for: visitor) } catch {
            throw .temporarilyUnavailable(retryAfter: 1)
        }
        guard let page else { throw .notFound }
        return page
    }

    /// Performs the payer's action on a pay page.
    ///
    /// - Throws: `notFound` as ``page(kind:payment:for:)``.
    package func act(
        kind: String, payment: String, form: [String: String], for visitor: PageVisitor = PageVisitor()
    ) async throws(GatewayError) -> PaymentPage {
        let (id, provider) = try await pageProvider(kind: kind, payment: payment)
        let page = await providers.perform { () async -> Result<PaymentPage?, ProviderError> in
            do throws(ProviderError) { return .success(try await provider.act(id, form: form, for: visitor)) } catch {
                return .failure(error)
            }
        }
        switch page {
        case .success(let page?): return page
        case .success(nil): throw .notFound
        case .failure: throw .temporarilyUnavailable(retryAfter: 1)
        }
    }

    private func pageProvider(
        kind: String, payment: String
    ) async throws(GatewayError) -> (ID<Payment>, any PaymentPageServing) {
        guard providers.registry.kinds[kind] is any PaymentPageServing.Type, let id = ID<Payment>(payment),
            let found = try await store.read({ db in try db.payments.find(id).value() }),
            let account = providers.registry[found.payment.account], account.manifest.kind == kind,
            let provider = account.provider as? any PaymentPageServing
        else { throw .notFound }
        return (id, provider)
    }
}
