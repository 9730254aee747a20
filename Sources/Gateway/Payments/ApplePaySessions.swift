package import Domain
package import FoundationEssentials
import ProviderKit
import Store

/// Merchant sessions for Apple Pay on the web.
package struct ApplePaySessions: Sendable {
    let store: StoreAccess
    let providers: ProviderCalling
    let orders: Orders
    let wallets: WalletPayments
    let time: BusinessTime

    /// Requests the merchant session from Apple that the payment sheet of an open order needs.
    ///
    /// - Returns: Apple's JSON object, byte for byte; it is neither stored nor logged.
    /// - Throws: `invalidRequest` for a validation URL that is not Apple's, `orderNotFound`, `orderNotOpen`, `conflict`
    ///   for an order without an Apple Pay contract, `providerRejected`, `providerUnavailable`.
    package func issue(
        _ order: String, validationURL: String?, user: ExternalUserID
    ) async throws(GatewayError) -> Data {
        let found = try await orders.own(order, user: user)
        let now = time.now
        guard found.state == .open, try await !store.read({ db in try db.orders.hasExpired(found.id, at: now) }) else {
            throw .orderNotOpen
        }
        guard let wallet = try await wallets.payments(of: found.id).first(where: { !$0.payment.state.isFinal }),
            let provider = wallet.provider as? any MerchantSessionIssuing
        else { throw .conflict(reason: WalletPayments.noContract) }
        if let validationURL, !provider.isKnown(validationURL: validationURL) {
            throw .invalidRequest(field: "validation_url", reason: "is not an address of Apple's payment gateways")
        }
        do throws(ProviderError) {
            guard let session = try await providers.client(of: wallet.account).merchantSession(provider) else {
                throw .unavailable
            }
            return session
        } catch {
            switch error {
            case .rejected(let reason), .unfit(let reason): throw .providerRejected(reason: reason)
            case .unavailable, .outcomeUnknown, .unproven, .unsupported: throw .providerUnavailable
            }
        }
    }

    /// Returns the file that proves a domain to Apple: that of the account with this domain, else of the first account
    /// that has one.
    ///
    /// - Throws: `notFound`.
    package func domainAssociation(host: String?) throws(GatewayError) -> Data {
        let known = providers.registry.accounts.filter(\.enabled).compactMap {
            $0.provider as? any MerchantSessionIssuing
        }
        .filter { $0.domainAssociation != nil }
        let ofHost = known.first { $0.domain == host?.lowercased() }
        guard let file = (ofHost ?? known.first)?.domainAssociation else { throw .notFound }
        return file
    }
}
