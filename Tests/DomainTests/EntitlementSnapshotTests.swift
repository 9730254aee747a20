import Domain
import Testing

struct EntitlementSnapshotTests {
    private func snapshot(
        _ grants: [Grant], now: Int64, balances: [String: Int64] = [:], sandbox: [String: Int64] = [:]
    ) -> EntitlementSnapshot {
        EntitlementSnapshot(
            userID: "u/1", version: 17, fold: EntitlementRules.fold(grants, now: day(now)), balances: balances,
            sandboxBalances: sandbox)
    }

    @Test func `who owns nothing gets every field`() throws {
        let empty = EntitlementSnapshot(
            userID: "u1", version: 0, fold: EntitlementRules.fold([], now: day(0)), balances: [:], sandboxBalances: [:])
        #expect(
            try json(empty) == """
                {"active":false,"balances":{},"entitlements":[],"expires_at":null,"next_change_at":null,\
                "perpetual":false,"sandbox_balances":{},"tier":"","tier_expires_at":null,"tiers":[],\
                "user_id":"u1","version":0}
                """)
    }

    @Test func `a membership is told with its tiers, grants and balances`() throws {
        let pass = try GrantSample.make(
            1, sku: "vip_month", bought: 10, .days(30), source: .init(kind: .appleTransaction, id: "2000000"), order: 3)
        let device = try GrantSample.make(
            2, sku: "radio", kind: .nonConsumable, tier: "", rank: 0, bought: 5, .perpetual, group: nil,
            source: .init(kind: .admin, id: "gift"), environment: .sandbox, attributes: ["range_km": .integer(30)])
        #expect(
            try json(snapshot([device, pass], now: 20, balances: ["coins": 100], sandbox: ["coins": -5])) == """
                {"active":true,"balances":{"coins":100},"entitlements":[\
                {"attributes":{},"environment":"Production","expires_at":3456000,\
                "id":"grt_00000000000000000000000001","kind":"non_renewing","perpetual":false,"sku":"vip_month",\
                "source":{"id":"2000000","order_id":"ord_00000000000000000000000003","type":"apple_transaction"},\
                "starts_at":864000,"status":"active","tier":"VIP","will_renew":false},\
                {"attributes":{"range_km":30},"environment":"Sandbox","expires_at":null,\
                "id":"grt_00000000000000000000000002","kind":"non_consumable","perpetual":true,"sku":"radio",\
                "source":{"id":"gift","order_id":null,"type":"admin"},\
                "starts_at":432000,"status":"active","tier":"","will_renew":false}],\
                "expires_at":3456000,"next_change_at":3456000,"perpetual":false,"sandbox_balances":{"coins":-5},\
                "tier":"VIP","tier_expires_at":3456000,"tiers":[{"expires_at":3456000,"perpetual":false,"rank":20,"tier":"VIP"}],\
                "user_id":"u/1","version":17}
                """)
    }

    @Test func `a membership without an end is perpetual and its end null`() throws {
        let life = try GrantSample.make(1, sku: "life", kind: .nonConsumable, bought: 0, .perpetual, group: nil)
        let snapshot = snapshot([life], now: 1)
        #expect(snapshot.active && snapshot.perpetual && snapshot.tier == "VIP")
        #expect(snapshot.expires_at == nil && snapshot.next_change_at == nil)
        #expect(try json(snapshot.tiers) == #"[{"expires_at":null,"perpetual":true,"rank":20,"tier":"VIP"}]"#)
    }

    @Test func `a membership that ended is not active and has no end`() throws {
        let snapshot = snapshot([try GrantSample.make(1, bought: 0, .days(30))], now: 30)
        #expect(!snapshot.active && !snapshot.perpetual && snapshot.tier.isEmpty)
        #expect(snapshot.expires_at == nil && snapshot.next_change_at == nil && snapshot.tiers.isEmpty)
        #expect(snapshot.entitlements.map(\.status) == [.expired])
    }

    @Test(
        arguments: [
            (.active, "active"), (.expired, "expired"), (.revoked, "revoked"), (.suspended, "suspended"),
            (.scheduled, "scheduled"), (.upgraded, "upgraded"), (.inGracePeriod, "in_grace_period"),
            (.inBillingRetry, "in_billing_retry"),
        ] as [(Entitlement.Status, String)])
    func `a status is written as the API names it`(_ status: Entitlement.Status, _ name: String) throws {
        #expect(try json([status]) == "[\"\(name)\"]")
    }

    @Test func `equal facts make equal snapshots and equal bytes`() throws {
        let grants = try GrantSample.mixture()
        let (one, other) = (snapshot(grants, now: 25), snapshot(grants.reversed(), now: 25))
        #expect(one == other)
        #expect(try json(one) == json(other))
    }
}
