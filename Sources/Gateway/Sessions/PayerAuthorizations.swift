import Crypto
import Domain
import FoundationEssentials
import Logging
import ProviderKit
import Store

/// The step in which WeChat names the payer of a session's page, without which its own contract cannot be made.
///
/// A payer is sent to WeChat once for each session. The state that comes back belongs to the session, is taken once and
/// only for five minutes; of WeChat's answer the openid alone is kept, sealed.
package struct PayerAuthorizations: Sendable {
    let store: StoreAccess
    let accounts: Accounts
    let keyRing: KeyRing
    let random: RandomSource
    let publicURL: String
    /// The real clock.
    let time: TimeSource
    let logger: Logger

    private static let stateBytes = 16

    /// Begins the step, where the page is inside WeChat.
    ///
    /// - Returns: the address of WeChat's to which the payer is sent; nil where the payer was sent before, the session
    ///   can no longer buy, or no account takes the step.
    package func begin(_ caller: AuthenticatedSession) async throws(GatewayError) -> String? {
        let session = caller.session
        guard session.authorization == .none, session.purpose == .checkout, session.mayBuy(at: time.now),
            session.sale.possible.contains(.wechatJSAPI)
        else { return nil }
        let (overrides, isPaid) = try await store.read { db in
            let newest = try db.sessions.findOrder(of: session.id).flatMap { try db.orders.find($0.order) }
            return (try db.accounts.listOverrides().value(), newest?.state == .paid)
        }
        guard !isPaid, let (account, step) = Self.step(for: session.sale, accounts.configured(with: overrides)) else {
            return nil
        }
        let state = Hex.encoded(random.bytes(Self.stateBytes))
        let end = time.now.adding(seconds: Session.authorizationSeconds)
        let isFirst = try await store.write { tx in
            try tx.sessions.askForAuthorization(session.id, at: account, digest: Self.digest(state), until: end)
        }
        guard isFirst else { return nil }
        return step.authorizeURL(state: state, redirect: "\(publicURL)/pay/s/\(session.id)/wechat")
    }

    /// Takes WeChat's answer, and keeps the payer's openid; without one the page goes on without it.
    ///
    /// - Parameter code: nil where the payer refused.
    /// - Throws: `forbidden` for a state that is not the session's, was used, or is too old; nothing is exchanged then.
    package func complete(
        _ caller: AuthenticatedSession, state: String, code: String?
    ) async throws(GatewayError) {
        let (id, now) = (caller.id, time.now)
        guard state.isWord(1...128) else { throw .forbidden }
        let account = try await store.write { tx in
            try tx.sessions.takeAuthorization(id, digest: Self.digest(state), at: now)
        }
        guard let account else { throw .forbidden }
        guard let code, code.hasBytes(1...512, where: \.isVisible),
            let provider = accounts.providers.registry[account]?.provider as? any PayerAuthorizing,
            let step = provider.authorization
        else { return }
        let openID: String
        do throws(ProviderError) { openID = try await exchange(code, by: step) } catch { return }
        guard WalletPayer.isOpenID(openID) else {
            logger.warning("wechat named a payer in an unknown form", metadata: ["account": "\(account.rawValue)"])
            return
        }
        let place = PayerOpenID.place(session: id.rawValue)
        guard let sealed = try? PayerOpenID.seal(openID, at: place, by: keyRing) else { throw .internalError }
        try await store.write { tx in try tx.sessions.setPayer(sealed, appID: step.appID, of: id) }
    }

    /// Exchanges a code in a task of its own, because the code is used up even where the payer leaves meanwhile.
    private func exchange(_ code: String, by step: any PayerAuthorization) async throws(ProviderError) -> String {
        let result = await accounts.providers.perform { () async -> Result<String, ProviderError> in
            do throws(ProviderError) { return .success(try await step.exchange(code: code)) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Finds the first account that takes the step for a sale.
    private static func step(
        for sale: SessionSale, _ configured: [ConfiguredAccount]
    ) -> (AccountID, any PayerAuthorization)? {
        let able = configured.filter { account in
            let routing = account.routing
            let isNamed = sale.provider.map { $0 == account.id.rawValue || $0 == account.manifest.kind } ?? true
            let takesCurrency = sale.currency.map { currency in
                [routing.currencies, account.manifest.currencies].allSatisfy { $0.isEmpty || $0.contains(currency) }
            }
            return isNamed && account.enabled && routing.weight > 0 && takesCurrency ?? false
                && (routing.platforms.isEmpty || routing.platforms.contains(sale.platform))
                && ContractType.wechatJSAPI.fits(sale.platform)
                && account.provider.contractTypes.contains(.wechatJSAPI)
        }
        .sorted { ($1.routing.priority, $0.id) < ($0.routing.priority, $1.id) }
        for account in able {
            if let step = (account.provider as? any PayerAuthorizing)?.authorization { return (account.id, step) }
        }
        return nil
    }

    private static func digest(_ state: String) -> Data { Data(SHA256.hash(data: Data(state.utf8))) }
}
