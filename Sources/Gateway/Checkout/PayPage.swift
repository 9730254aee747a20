import Domain
package import ProviderKit
import Store

extension Gateway {
    /// The pay page of a provider that serves its own.
    ///
    /// - Throws: `notFound` for a kind without pages or a payment that is not this kind's.
    package func payPage(kind: String, payment: String) async throws(GatewayError) -> PaymentPage {
        let (id, provider) = try await pageProvider(kind: kind, payment: payment)
        let page: PaymentPage?
        do throws(ProviderError) { page = try await provider.page(id) } catch {
            throw .temporarilyUnavailable(retryAfter: 1)
        }
        guard let page else { throw .notFound }
        return page
    }

    /// The payer's act on such a page.
    package func actOnPayPage(
        kind: String, payment: String, form: [String: String]
    ) async throws(GatewayError) -> PaymentPage {
        let (id, provider) = try await pageProvider(kind: kind, payment: payment)
        let page = await calls.perform { () async -> Result<PaymentPage?, ProviderError> in
            do throws(ProviderError) { return .success(try await provider.act(id, form: form)) } catch {
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
        guard registry.kinds[kind] is any PaymentPageServing.Type, let id = ID<Payment>(payment),
            let found = try await read({ db in try db.payments.find(id).value() }),
            let account = registry[found.payment.account], account.manifest.kind == kind,
            let provider = account.provider as? any PaymentPageServing
        else { throw .notFound }
        return (id, provider)
    }
}
