import Domain
import ProviderKit
import ProviderTesting
import Testing

struct SelectionTests {
    private static func need(
        sku: String = "vip_month", kind: SKU.Kind = .nonRenewing, sellsOnePeriod: Bool = false,
        hasAppleProducts: Bool = true, quantity: Int64 = 1, value: Int64 = 3990, currency: String = "CNY",
        platform: Platform = .web, accepts: Set<ContractType> = ContractType.base, provider: String? = nil,
        user: String = "u1"
    ) -> SelectionNeed {
        SelectionNeed(
            sku: sku, kind: kind, sellsOnePeriod: sellsOnePeriod, hasAppleProducts: hasAppleProducts,
            quantity: quantity, amount: Money(value: value, currency: Currency(currency)!), platform: platform,
            accepts: accepts, provider: provider, user: user)
    }

    private static func chosen(_ accounts: [ConfiguredAccount], _ need: SelectionNeed = need()) -> [String] {
        Selection.candidates(accounts, for: need).map(\.id.rawValue)
    }

    @Test func `the highest priority is tried first`() {
        let accounts = [
            account("low", AccountRouting(priority: -5)), account("high", AccountRouting(priority: 100, weight: 1)),
            account("middle", AccountRouting(priority: 50, weight: 1_000)),
        ]
        #expect(Self.chosen(accounts) == ["high", "middle", "low"])
        #expect(Self.chosen(accounts.reversed()) == ["high", "middle", "low"])
    }

    @Test(arguments: [
        (AccountRouting(platforms: [.web]), need(), true), (AccountRouting(platforms: [.ios]), need(), false),
        (AccountRouting(platforms: [.ios, .web]), need(platform: .ios), true),
        (AccountRouting(currencies: [Currency("CNY")!]), need(), true),
        (AccountRouting(currencies: [Currency("USD")!]), need(), false),
        (AccountRouting(weight: 0), need(), false), (AccountRouting(weight: 0), need(provider: "box"), false),
        (AccountRouting(weight: -1), need(), false),
        (AccountRouting(min: 3990), need(), true), (AccountRouting(min: 3991), need(), false),
        (AccountRouting(max: 3990), need(), true), (AccountRouting(max: 3989), need(), false),
        (AccountRouting(min: 1, max: 1), need(value: 1), true), (AccountRouting(), need(value: .max), true),
        (AccountRouting(skus: ["vip_month"]), need(), true), (AccountRouting(skus: ["other"]), need(), false),
        (AccountRouting(), need(accepts: [.url]), true), (AccountRouting(), need(accepts: [.qr]), false),
        (AccountRouting(), need(accepts: []), false),
        (AccountRouting(), need(provider: "box"), true), (AccountRouting(), need(provider: "open_kind"), true),
        (AccountRouting(), need(provider: "other"), false), (AccountRouting(), need(provider: ""), false),
        (AccountRouting(), need(kind: .subscription), false),
        (AccountRouting(), need(kind: .subscription, sellsOnePeriod: true), true),
        (AccountRouting(), need(kind: .consumable, hasAppleProducts: false, quantity: 1_000), true),
    ])
    func `an account is able by its routing and its manifest`(
        routing: AccountRouting, need: SelectionNeed, isAble: Bool
    ) {
        #expect(Self.chosen([account("box", routing)], need) == (isAble ? ["box"] : []))
    }

    @Test(
        arguments: [
            (Platform.web, [.qr, .wechatJSAPI, .wechatApp], false, [.qr, .wechatJSAPI], nil),
            (.web, [.wechatApp], false, [], .platform), (.desktop, [.wechatJSAPI, .wechatApp], true, [], .platform),
            (.android, [.wechatJSAPI, .wechatApp], false, [.wechatApp], nil),
            (.ios, [.wechatJSAPI, .wechatApp], false, [], .sku), (.ios, [.wechatApp], true, [.wechatApp], nil),
            (.ios, [.qr, .wechatApp], false, [.qr], nil), (.web, [.url], false, [], .accept),
        ] as [(Platform, Set<ContractType>, Bool, [ContractType], SelectionRefusal?)])
    func `platform and SKU strike contract types before accounts are chosen`(
        platform: Platform, accepts: Set<ContractType>, mayLeaveStore: Bool, left: [ContractType],
        refusal: SelectionRefusal?
    ) {
        var need = Self.need(platform: platform, accepts: accepts)
        need.mayLeaveStore = mayLeaveStore
        let account = walletAccount()
        #expect(Selection.contractTypes(of: account, for: need) == left)
        #expect(Selection.refusal(of: account, need, among: [account]) == refusal)
    }

    @Test func `an account that is switched off is never chosen`() {
        #expect(Self.chosen([account("box", enabled: false)], Self.need(provider: "box")).isEmpty)
    }

    @Test func `a manifest's currencies bound its accounts`() {
        #expect(Self.chosen([yenAccount()]).isEmpty)
        #expect(Self.chosen([yenAccount()], Self.need(currency: "JPY")) == ["yen"])
    }

    @Test(arguments: [
        (need(kind: .subscription, accepts: [.appleIAP]), true), (need(accepts: [.appleIAP]), true),
        (need(hasAppleProducts: false, accepts: [.appleIAP]), false), (need(accepts: [.url]), false),
        (need(kind: .consumable, quantity: 10), true), (need(kind: .consumable, quantity: 11), false),
        (need(kind: .nonRenewing, quantity: 2), false), (need(kind: .nonConsumable, quantity: 2), false),
        (need(kind: .subscription, quantity: 2), false),
    ])
    func `apple sells its own products, ten consumables at most`(need: SelectionNeed, isAble: Bool) {
        #expect(Self.chosen([appleAccount()], need) == (isAble ? ["apple"] : []))
    }

    @Test(
        arguments: [
            ([], ["a", "b", "c"]), (["a"], ["b", "c"]), (["b"], ["a", "c"]), (["c", "a"], ["b"]),
            (["other"], ["a", "b", "c"]),
            // The health of accounts refuses no sale; a disabled account is never selected.
            (["a", "b", "c"], ["a", "b", "c"]), (["a", "b", "c", "off"], ["a", "b", "c"]),
        ] as [([String], [String])])
    func `an account that is unwell is left out while another one is able`(unwell: [String], expected: [String]) {
        let accounts = zip(["a", "b", "c"], [3, 2, 1]).map { account($0, AccountRouting(priority: $1)) }
        let chosen = Selection.candidates(
            accounts + [account("off", enabled: false)], for: Self.need(),
            avoiding: Set(unwell.compactMap(AccountID.init)))
        #expect(chosen.map(\.id.rawValue) == expected)
    }

    @Test func `one user always sees the same order whatever the order of the files`() {
        let accounts = (0..<8).map { account("box-\($0)") }
        let first = Self.chosen(accounts)
        for _ in 0..<5 { #expect(Self.chosen(accounts.shuffled()) == first) }
        #expect(Set(first).count == 8)
    }

    @Test(
        arguments: [
            ["a": 1, "b": 1], ["a": 1, "b": 3], ["a": 1, "b": 1, "c": 2], ["a": 90, "b": 9, "c": 1],
            ["box-1": 5, "box-2": 3, "box-3": 2],
        ] as [[String: Int64]])
    func `equal priorities share the users by weight`(weights: [String: Int64]) {
        let accounts = weights.map { account($0.key, AccountRouting(weight: $0.value)) }
        let users = 20_000
        var first: [String: Int] = [:]
        for user in 0..<users {
            first[Self.chosen(accounts, Self.need(user: "usr_\(user)"))[0], default: 0] += 1
        }
        let total = weights.values.reduce(0, +)
        for (id, weight) in weights {
            let share = Double(weight) / Double(total)
            // Four standard deviations of a fair choice.
            let tolerance = 4 * (share * (1 - share) / Double(users)).squareRoot()
            let seen = Double(first[id] ?? 0) / Double(users)
            #expect(abs(seen - share) < tolerance, "\(id): \(seen) of \(share)")
        }
    }

    @Test func `whoever loses the first account goes to the others by their weights`() {
        let accounts = ["a": 1, "b": 1, "c": 1].map { account($0.key, AccountRouting(weight: $0.value)) }
        var second: [String: Int] = [:]
        for user in 0..<9_000 {
            let order = Self.chosen(accounts, Self.need(user: "usr_\(user)"))
            if order[0] == "a" { second[order[1], default: 0] += 1 }
        }
        let both = Double((second["b"] ?? 0) + (second["c"] ?? 0))
        #expect(abs(Double(second["b"] ?? 0) / both - 0.5) < 0.04)
    }
}
