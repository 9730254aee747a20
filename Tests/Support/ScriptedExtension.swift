package import Domain
import Gateway
package import ProviderKit
import Store

extension ScriptedProvider: RenewalExtending {
    /// Extends every subscription to the same time.
    package func extend(_ extension: RenewalExtension) async throws(ProviderError) -> Timestamp? {
        Timestamp(1_900_000_000)
    }
}

extension GatewayFixture {
    /// Stores a subscription of the scripted account that no user has claimed.
    package func scriptedSubscription() async throws -> ID<Subscription> {
        let (ids, now, account) = (gateway.ids, clock.now, try AccountID.test("scripted"))
        return try await store.write { tx in
            try tx.subscriptions.ensure(
                ids.make(), StoreSubject(.production, "scripted"), account: account, user: nil, nextCheckAt: now
            ).id
        }
    }
}
