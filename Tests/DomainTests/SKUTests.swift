import Domain
import Testing

struct SKUTests {
    private static let full = """
        {"active":false,"apple_product_ids":["com.app:vip","vip.day${days}"],\
        "attributes":{"a":[1,null,"x"],"range":2.5},\
        "client_fallback":true,"consumption":"no_preference","description":"d","duration_days":30,"grace_days":5,"id":"vip_month",\
        "kind":"non_renewing","localizations":{"en":{"description":"e","name":"VIP"},"zh-Hans":{"name":"会员"}},\
        "name":"Month","number":0,"offers":[{"audience":"lapsed","id":"back","once":true,"product_id":"vip"}],"on_refund":"keep","once":"running","one_period_elsewhere":true,\
        "options":[{"days":7,"prices":[{"currency":"CNY","value":990}]}],"period":{"count":2,"unit":"month"},"physical":true,"plan_code":"monthly",\
        "prices":[{"currency":"CNY","value":3990},{"currency":"USD","value":599}],"rank":10,"renewal":"one_period","stack_group":"S",\
        "stacking":"none","subscribe_id":1001,"tier":"VIP","trial_days":7,"units":{"coins":100}}
        """
    private static let least = #"{"id":"a","name":"A","kind":"consumable"}"#
    private static let leastWritten = """
        {"active":true,"apple_product_ids":[],"attributes":{},"client_fallback":false,"consumption":"ignore",\
        "description":"","grace_days":3,"id":"a","kind":"consumable","localizations":{},"name":"A","number":0,"offers":[],"on_refund":"revoke","once":"ever",\
        "one_period_elsewhere":false,"options":[],"physical":false,"prices":[],"rank":0,"renewal":"store_only","stack_group":"a","stacking":"none","tier":"",\
        "trial_days":0,"units":{}}
        """

    @Test func `every field is read from its key`() throws {
        let sku = try decoded(Self.full, as: SKU.self)
        #expect(sku.id == "vip_month" && sku.name == "Month" && sku.description == "d" && sku.kind == .nonRenewing)
        #expect(sku.tier == "VIP" && sku.rank == 10 && sku.durationDays == 30 && sku.planCode == "monthly")
        #expect(sku.subscribeID == 1_001)
        #expect(try sku.prices == [money("39.90 CNY"), money("5.99 USD")])
        #expect(sku.appleProductIDs == ["com.app:vip", "vip.day${days}"])
        #expect(sku.offers == [PromotionalOffer(id: "back", productID: "vip", audience: .lapsed, isOnce: true)])
        #expect(sku.options.map(\.days) == [7])
        #expect(try sku.options.first?.prices == [money("9.90 CNY")])
        #expect(sku.units == ["coins": 100])
        #expect(sku.attributes == ["a": .array([.integer(1), .null, .string("x")]), "range": .number(2.5)])
        #expect(sku.clientFallback && sku.renewal == .onePeriod && sku.physical && !sku.active)
        #expect(sku.stacking == .none && sku.stackGroup == "S" && sku.onRefund == .keep)
        #expect(sku.period == BillingPeriod(unit: .month, count: 2))
        #expect(sku.consumption == .noPreference && sku.once == .running)
        #expect(sku.localizations["en"]?.name == "VIP" && sku.localizations["en"]?.description == "e")
        #expect(sku.localizations["zh-Hans"]?.name == "会员" && sku.localizations["zh-Hans"]?.description == nil)
    }

    @Test(arguments: [(full, full), (least, leastWritten)])
    func `a SKU is written under the same keys and read back as itself`(_ text: String, _ written: String) throws {
        let sku = try decoded(text, as: SKU.self)
        #expect(try json(sku) == written)
        #expect(try decoded(written, as: SKU.self) == sku)
    }

    @Test(
        arguments: [
            ("{}", .storeOnly), (#"{"one_period_elsewhere":false}"#, .storeOnly),
            (#"{"one_period_elsewhere":true}"#, .onePeriod), (#"{"renewal":"one_period"}"#, .onePeriod),
            (#"{"renewal":"one_period","one_period_elsewhere":true}"#, .onePeriod),
            (#"{"renewal":"store_only","one_period_elsewhere":false}"#, .storeOnly),
            (#"{"renewal":"one_period","one_period_elsewhere":false}"#, nil),
            (#"{"renewal":"store_only","one_period_elsewhere":true}"#, nil),
        ] as [(String, SKU.Renewal?)])
    func `the older name says the same as renewal, or the SKU is refused`(
        _ patch: String, _ renewal: SKU.Renewal?
    ) throws {
        guard let renewal else {
            #expect(throws: DecodingError.self) { try sku(patch) }
            return
        }
        #expect(try sku(patch).renewal == renewal)
    }

    @Test(
        arguments: [
            (#"{}"#, .none, "vip"), (#"{"kind":"non_renewing"}"#, .extend, "vip"),
            (#"{"kind":"subscription"}"#, .none, "vip"), (#"{"kind":"non_consumable"}"#, .none, "vip"),
            (#"{"kind":"non_renewing","tier":"T"}"#, .extend, "T"), (#"{"tier":"T"}"#, .none, "T"),
            (#"{"tier":"T","stack_group":"G"}"#, .none, "G"),
            (#"{"kind":"non_renewing","stacking":"none"}"#, .none, "vip"), (#"{"stacking":"extend"}"#, .extend, "vip"),
            (#"{"stack_group":""}"#, .none, ""),
        ] as [(String, SKU.Stacking, String)])
    func `a pass stacks by default, in the group of its tier or else its own`(
        _ patch: String, _ stacking: SKU.Stacking, _ group: String
    ) throws {
        let sku = try sku(patch)
        #expect(sku.stacking == stacking && sku.stackGroup == group)
    }

    @Test func `the number is the database's and null is the default`() throws {
        let text =
            #"{"id":"a","name":"A","kind":"consumable","number":7,"tier":null,"prices":null,"duration_days":null}"#
        let sku = try decoded(text, as: SKU.self)
        #expect(sku.number == 0)
        #expect(sku == (try decoded(Self.least, as: SKU.self)))
        var numbered = sku
        numbered.number = 7
        #expect(try json(numbered).contains(#""number":7,"#))
    }

    @Test(
        arguments: [
            #"{"name":"A","kind":"consumable"}"#, #"{"id":"a","kind":"consumable"}"#, #"{"id":"a","name":"A"}"#,
            #"{"id":"a","name":"A","kind":"rental"}"#, #"{"id":"a","name":"A","kind":"nonRenewing"}"#,
            #"{"id":1,"name":"A","kind":"consumable"}"#, #"{"id":"a","name":"A","kind":"consumable","rank":"1"}"#,
            #"{"id":"a","name":"A","kind":"consumable","rank":1.5}"#,
            #"{"id":"a","name":"A","kind":"consumable","active":1}"#,
            #"{"id":"a","name":"A","kind":"consumable","stacking":"always"}"#,
            #"{"id":"a","name":"A","kind":"consumable","on_refund":"ask"}"#,
            #"{"id":"a","name":"A","kind":"consumable","consumption":"full"}"#,
            #"{"id":"a","name":"A","kind":"consumable","units":{"coins":0.5}}"#,
            #"{"id":"a","name":"A","kind":"consumable","options":[{"days":7}]}"#,
            #"{"id":"a","name":"A","kind":"consumable","localizations":{"en":{}}}"#,
            #"{"id":"a","name":"A","kind":"consumable","prices":[{"value":1.5,"currency":"CNY"}]}"#,
        ])
    func `a missing or ill-typed field is refused`(_ text: String) {
        #expect(throws: DecodingError.self) { try decoded(text, as: SKU.self) }
    }

    @Test func `the code and the Apple entries are read from their texts`() throws {
        let sku = try decoded(Self.full, as: SKU.self)
        #expect(sku.code == SKUCode("vip_month"))
        #expect(sku.appleProducts == ["com.app:vip", "vip.day${days}"].compactMap { AppleProduct($0) })
        #expect(sku.pattern?.text == "vip.day${days}")
        #expect(try decoded(Self.least, as: SKU.self).pattern == nil)
    }

    @Test(
        arguments: [
            (["en"], "English", "words"), (["en-US"], "American", "d"), (["en-AU"], "English", "words"),
            (["zh-Hans"], "简体", "d"), (["zh-Hant-TW"], "简体", "d"), (["zh"], "简体", "d"), (["pt-PT"], "Brasil", "d"),
            (["fr"], "Name", "d"), (["fr", "en"], "English", "words"), (["fr", "de"], "Name", "d"),
            (["zh-Hans", "en"], "简体", "d"), ([], "Name", "d"), ([""], "Name", "d"), (["*"], "Name", "d"),
            (["z"], "Name", "d"), (["e"], "Name", "d"),
        ] as [([String], String, String)])
    func `the first language that is there names a SKU`(
        _ languages: [String], _ name: String, _ description: String
    ) throws {
        let sku = try sku(
            """
            {"name":"Name","description":"d","localizations":{"en":{"name":"English","description":"words"},
            "en-US":{"name":"American"},"zh-Hans":{"name":"简体"},"zh-Hant":{"name":"繁體"},"pt-BR":{"name":"Brasil"}}}
            """)
        let shown = sku.localized(for: languages)
        #expect(shown.name == name && shown.description == description)
    }
}
