import Domain
package import ProviderKit
import Store

/// The pay pages of providers that have their own.
package struct PayPages: Sendable {
    let store: StoreAccess
    let providers: ProviderCalling

    /// The pay page of a payment or a set-up.
    ///
    /// - Parameter subject: the id of either.
    /// - Throws: `notFound` for a kind without pages or a payment that is not this kind's.
    package func page(
        kind: String, payment subject: String, for visitor: PageVisitor = PageVisitor()
    ) async throws(GatewayError) -> PaymentPage {
        let served = try await page(kind: kind, of: subject)
        let page: PaymentPage?
        do throws(ProviderError) {
            page =
                switch served {
                case .payment(let id, let provider): try await provider.page(id, for: visitor)
                case .setup(let id, let provider): try await provider.page(setup: id, for: visitor)
                }
        } catch {
            throw .temporarilyUnavailable(retryAfter: 1)
        }
        guard let page else { throw .notFound }
        return page
    }

    /// Performs the payer's action on a pay page.
    ///
    /// - Throws: `notFound` as ``page(kind:payment:for:)``.
    package func act(
        kind: String, payment subject: String, form: [String: String], for visitor: PageVisitor = PageVisitor()
    ) async throws(GatewayError) -> PaymentPage {
        let served = try await page(kind: kind, of: subject)
        let page = await providers.perform { () async -> Result<PaymentPage?, ProviderError> in
            do throws(ProviderError) {
                switch served {
                case .payment(let id, let provider):
                    return .success(try await provider.act(id, form: form, for: visitor))
                case .setup(let id, let provider):
                    return .success(try await provider.act(setup: id, form: form, for: visitor))
                }
            } catch {
                return .failure(error)
            }
        }
        switch page {
        case .success(let page?): return page
        case .success(nil): throw .notFound
        case .failure: throw .temporarilyUnavailable(retryAfter: 1)
        }
    }

    private enum Served: Sendable {
        case payment(ID<Payment>, any PaymentPageServing)
        case setup(ID<Setup>, any SetupPageServing)
    }

    private func page(kind: String, of subject: String) async throws(GatewayError) -> Served {
        guard providers.registry.kinds[kind] is any PaymentPageServing.Type else { throw .notFound }
        if let id = ID<Payment>(subject) {
            guard let found = try await store.read({ db in try db.payments.find(id).value() }),
                let account = account(found.payment.account, kind: kind),
                let provider = account.provider as? any PaymentPageServing
            else { throw .notFound }
            return .payment(id, provider)
        }
        guard let id = ID<Setup>(subject), let found = try await store.read({ db in try db.setups.find(id) }),
            let account = account(found.account, kind: kind), let provider = account.provider as? any SetupPageServing
        else { throw .notFound }
        return .setup(id, provider)
    }

    private func account(_ id: AccountID, kind: String) -> ConfiguredAccount? {
        providers.registry[id].flatMap { $0.manifest.kind == kind ? $0 : nil }
    }

    // MARK: Played services

    /// Plays the payer or the bank of a subscription's mandates.
    ///
    /// - Throws: `notFound` for a subscription that no account of this kind plays, `invalidRequest`.
    package func playOn(
        kind: String, subscription: String, form: [String: String]
    ) async throws(GatewayError) {
        let (id, provider) = try await played(kind: kind, subscription)
        let isDone = await providers.perform { () async -> Bool? in try? await provider.playOn(id, form: form) }
        guard let isDone else { throw .temporarilyUnavailable(retryAfter: 1) }
        guard isDone else {
            throw .invalidRequest(field: "renewals", reason: "the form needs a known word in renewals, or ended=1")
        }
    }

    /// Returns the book of a played service about a subscription.
    ///
    /// - Throws: `notFound`.
    package func playedBook(kind: String, subscription: String) async throws(GatewayError) -> PlayedBook {
        let (id, provider) = try await played(kind: kind, subscription)
        do throws(ProviderError) { return try await provider.playedBook(of: id) } catch {
            throw .temporarilyUnavailable(retryAfter: 1)
        }
    }

    private func played(
        kind: String, _ subscription: String
    ) async throws(GatewayError) -> (ID<Subscription>, any MandatePlaying) {
        guard let id = ID<Subscription>(subscription),
            let found = try await store.read({ db in try db.managedSubscriptions.find(id) }),
            let account = account(found.subscription.account, kind: kind),
            let provider = account.provider as? any MandatePlaying
        else { throw .unknown(.subscription, subscription) }
        return (id, provider)
    }
}
