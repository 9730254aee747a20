package import Domain
package import FoundationEssentials
import ProviderKit
import Store

extension Gateway {
    /// Asks Apple for the merchant session that the sheet of an open order's contract needs.
    ///
    /// - Returns: Apple's JSON object, byte for byte; it is neither kept nor logged.
    /// - Throws: `invalidRequest` naming a validation URL that is not Apple's, `orderNotFound`, `orderNotOpen`, `conflict`
    ///   for an order without such a contract, `providerRejected`, `providerUnavailable`.
    package func issueMerchantSession(
        _ order: String, validationURL: String?, user: ExternalUserID
    ) async throws(GatewayError) -> Data {
        let found = try await ownOrder(order, user: user)
        let now = time.now
        guard found.state == .open, try await !read({ db in try db.orders.hasExpired(found.id, at: now) }) else {
            throw .orderNotOpen
        }
        guard let wallet = try await walletPayments(found.id).first(where: { !$0.payment.state.isFinal }),
            let provider = wallet.provider as? any MerchantSessionIssuing
        else { throw .conflict(reason: Self.noWalletContract) }
        if let validationURL, !provider.isKnown(validationURL: validationURL) {
            throw .invalidRequest(field: "validation_url", reason: "is not an address of Apple's payment gateways")
        }
        do throws(ProviderError) {
            guard let session = try await line(wallet.account).merchantSession(provider) else {
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

    /// The file that proves a domain to Apple: the one of the account with this domain, else of the first that has one.
    ///
    /// - Throws: `notFound`.
    package func domainAssociation(host: String?) throws(GatewayError) -> Data {
        let known = registry.accounts.filter(\.enabled).compactMap { $0.provider as? any MerchantSessionIssuing }
            .filter { $0.domainAssociation != nil }
        let ofHost = known.first { $0.domain == host?.lowercased() }
        guard let file = (ofHost ?? known.first)?.domainAssociation else { throw .notFound }
        return file
    }

    static let noWalletContract: LocalizedText =
        "the order has no Apple Pay contract that is open; make one by checkout"
}
