import Domain
import Testing

struct OrderTermsTests {
    @Test(
        arguments: [
            ("consumable", nil, nil), ("consumable", 30, nil), ("non_consumable", nil, .perpetual),
            ("non_consumable", 30, .perpetual), ("non_renewing", 30, .days(30)), ("non_renewing", nil, nil),
            ("subscription", 30, .days(30)), ("subscription", nil, nil),
        ] as [(String, Int64?, Grant.Term?)])
    func `what is sold lasts by its kind`(_ kind: String, _ days: Int64?, _ term: Grant.Term?) throws {
        #expect(try sku(#"{"kind":"\#(kind)"}"#).terms(days: days, quantity: 1).term == term)
    }

    @Test(
        arguments: [
            (#"{"kind":"non_renewing"}"#, "vip"), (#"{"kind":"non_renewing","tier":"T"}"#, "T"),
            (#"{"kind":"non_renewing","tier":"T","stack_group":"G"}"#, "G"),
            (#"{"kind":"non_renewing","stacking":"none"}"#, nil),
            (#"{"kind":"subscription","stacking":"extend"}"#, nil),
            (#"{"kind":"consumable","stacking":"extend"}"#, nil),
            (#"{"kind":"non_consumable","stacking":"extend"}"#, nil),
        ] as [(String, String?)])
    func `only a pass that extends has a stack group`(_ patch: String, _ group: String?) throws {
        #expect(try sku(patch).terms(days: 30, quantity: 1).stackGroup == group)
    }

    @Test(arguments: [(1, 100, 5), (3, 300, 15), (1_000, 100_000, 5_000)] as [(Int64, Int64, Int64)])
    func `units are credited for every piece`(_ quantity: Int64, _ coins: Int64, _ gems: Int64) throws {
        let terms = try sku(#"{"units":{"coins":100,"gems":5}}"#).terms(days: nil, quantity: quantity)
        #expect(terms.units == ["coins": coins, "gems": gems])
    }

    @Test func `an order keeps the terms of its moment`() throws {
        let patch = """
            {"name":"Month","kind":"non_renewing","tier":"VIP","rank":10,"on_refund":"keep","units":{"coins":5},
            "attributes":{"range_km":30}}
            """
        let terms = try sku(patch).terms(days: 60, quantity: 2)
        let written = """
            {"attributes":{"range_km":30},"days":60,"kind":"non_renewing","name":"Month","on_refund":"keep","rank":10,\
            "stack_group":"VIP","tier":"VIP","units":{"coins":10}}
            """
        #expect(try json(terms) == written)
        #expect(try decoded(written, as: OrderTerms.self) == terms)
    }

    @Test func `terms without days and group leave them out`() throws {
        let terms = try sku().terms(days: nil, quantity: 1)
        let written = """
            {"attributes":{},"kind":"consumable","name":"VIP","on_refund":"revoke","rank":0,"tier":"","units":{}}
            """
        #expect(try json(terms) == written)
        #expect(try decoded(written, as: OrderTerms.self) == terms)
    }
}
