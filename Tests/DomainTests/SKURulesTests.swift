import Domain
import Testing

struct SKURulesTests {
    private static func text(_ length: Int) -> String { String(repeating: "x", count: length) }
    private static func accents(_ count: Int) -> String { String(repeating: "\u{301}", count: count) }
    private static func list(_ count: Int, _ element: (Int) -> String) -> String {
        (0..<count).map(element).joined(separator: ",")
    }
    private static func option(_ days: Int) -> String { #"{"days":\#(days),"prices":[{"value":1,"currency":"CNY"}]}"# }
    /// Makes a consumable that gives units, unless the patch has its own.
    private func sku(_ patch: String) throws -> SKU {
        guard !patch.contains("\"units\"") else { return try DomainTests.sku(patch) }
        let giving = try decoded(#"{"units":{"coins":1}}"#, as: JSONValue.self).merging(try decoded(patch))
        return try DomainTests.sku(try json(giving))
    }
    private static func period(_ unit: String, _ count: Int) -> String {
        #"{"kind":"subscription","apple_product_ids":["a"],"period":{"unit":"\#(unit)","count":\#(count)}}"#
    }
    private static func options(_ list: String) -> String { #"{"kind":"non_renewing","options":[\#(list)]}"# }

    @Test(
        arguments: [
            ("id", #"{"id":""}"#), ("id", #"{"id":"Vip"}"#), ("id", #"{"id":"vip month"}"#),
            ("id", #"{"id":"\#(text(65))"}"#), ("name", #"{"name":""}"#), ("name", #"{"name":"\#(text(201))"}"#),
            ("name", #"{"name":"\u001b[31mred"}"#), ("name", "{\"name\":\"e\(accents(200))\"}"),
            ("description", #"{"description":"\u001b[31m"}"#), ("plan_code", #"{"plan_code":"a\nb"}"#),
            ("attributes", #"{"attributes":{"a":["\u0000"]}}"#),
            ("localizations", #"{"localizations":{"en":{"name":"a\u0007"}}}"#),
            ("description", #"{"description":"\#(text(4_001))"}"#), ("tier", #"{"tier":"\#(text(65))"}"#),
            ("rank", #"{"rank":-1}"#), ("rank", #"{"rank":1000001}"#), ("plan_code", #"{"plan_code":"\#(text(65))"}"#),
            ("subscribe_id", #"{"subscribe_id":0}"#), ("subscribe_id", #"{"subscribe_id":-1}"#),
            ("stack_group", #"{"stack_group":"\#(text(65))"}"#), ("duration_days", #"{"duration_days":0}"#),
            ("duration_days", #"{"duration_days":-1}"#), ("duration_days", #"{"duration_days":3661}"#),
            ("duration_days", #"{"kind":"non_renewing"}"#),
            ("duration_days", #"{"kind":"non_renewing","apple_product_ids":["vip"]}"#),
            ("duration_days", #"{"kind":"subscription","one_period_elsewhere":true}"#),
            ("period", #"{"period":{"unit":"month","count":1}}"#),
            ("period.count", period("day", 0)), ("period.count", period("day", 367)),
            ("period.count", period("week", 53)), ("period.count", period("month", 25)),
            ("period.count", period("year", 4)), ("period.count", period("year", -1)),
            ("units", #"{"units":{}}"#), ("tier", #"{"kind":"subscription","units":{},"apple_product_ids":["a"]}"#),
            ("apple_product_ids", #"{"kind":"subscription","tier":"Pro"}"#),
        ])
    func `a field beyond its bounds is named`(_ field: String, _ patch: String) throws {
        try expectFault(field, patch)
    }

    @Test(
        arguments: [
            ("prices", #"{"prices":[]}"#), ("prices", #"{"prices":[{"value":-1,"currency":"CNY"}]}"#),
            ("prices", #"{"prices":[{"value":1000000000001,"currency":"CNY"}]}"#),
            ("prices", #"{"prices":[{"value":1,"currency":"CNY"},{"value":2,"currency":"CNY"}]}"#),
            ("options", #"{"options":[\#(option(7))]}"#),
            ("options", #"{"kind":"subscription","options":[\#(option(7))]}"#),
            ("options", #"{"kind":"non_consumable","options":[\#(option(7))]}"#),
            ("options", options(option(0))), ("options", options(option(3_661))), ("options", options(option(-7))),
            ("options", options("\(option(7)),\(option(7))")), ("options", options(#"{"days":7,"prices":[]}"#)),
            ("options", options(#"{"days":7,"prices":[{"value":-1,"currency":"CNY"}]}"#)),
            ("options", options(#"{"days":7,"prices":[{"value":1,"currency":"CNY"},{"value":2,"currency":"CNY"}]}"#)),
            ("options", options(list(101) { option($0 + 1) })),
        ])
    func `prices and options that cannot be sold are named`(_ field: String, _ patch: String) throws {
        try expectFault(field, patch)
    }

    @Test(
        arguments: [
            #"["a","a"]"#, #"["a b"]"#, #"[""]"#, #"["a:"]"#, #"["d${days}${days}"]"#, #"["${days}"]"#,
            #"["a${days}","b${days}"]"#, #"["a${days}","b${quantity}"]"#, "[\(list(101) { "\"a\($0)\"" })]",
        ])
    func `Apple product ids differ, are well formed and have one pattern`(_ ids: String) throws {
        try expectFault("apple_product_ids", #"{"kind":"non_renewing","duration_days":7,"apple_product_ids":\#(ids)}"#)
    }

    @Test(arguments: ["consumable", "subscription", "non_consumable"])
    func `only a pass has a pattern`(_ kind: String) throws {
        try expectFault("apple_product_ids", #"{"kind":"\#(kind)","apple_product_ids":["d${days}"]}"#)
    }

    @Test(
        arguments: [
            ("units", #"{"units":{"coins":0}}"#), ("units", #"{"units":{"coins":-1}}"#),
            ("units", #"{"units":{"":1}}"#),
            ("units", #"{"units":{"Coins":1}}"#), ("units", #"{"units":{"coins":1000000000001}}"#),
            ("units", #"{"units":{\#(list(21) { "\"c\($0)\":1" })}}"#),
            ("attributes", #"{"attributes":{\#(list(51) { "\"a\($0)\":1" })}}"#),
            ("localizations", #"{"localizations":{\#(list(51) { "\"l\($0)\":{\"name\":\"n\"}" })}}"#),
            ("localizations", #"{"localizations":{"en":{"name":""}}}"#),
            ("localizations", #"{"localizations":{"en":{"name":"\#(text(201))"}}}"#),
            ("localizations", #"{"localizations":{"en":{"name":"n","description":"\#(text(4_001))"}}}"#),
        ])
    func `units, attributes and translations beyond their bounds are named`(_ field: String, _ patch: String) throws {
        try expectFault(field, patch)
    }

    @Test(
        arguments: [
            "{}",
            #"{"id":"\#(text(64))","name":"\#(text(200))","description":"\#(text(4_000))","tier":"\#(text(64))"}"#,
            #"{"rank":0}"#,
            #"{"rank":1000000,"plan_code":"\#(text(64))","subscribe_id":1,"stack_group":"\#(text(64))"}"#,
            #"{"prices":[{"value":0,"currency":"CNY"},{"value":1000000000000,"currency":"USD"}]}"#,
            #"{"kind":"non_renewing","duration_days":1}"#, #"{"kind":"non_renewing","duration_days":3660}"#,
            #"{"kind":"non_renewing","apple_product_ids":["a","b:a","d${days}"]}"#,
            #"{"kind":"non_renewing","prices":[],"options":[\#(option(1)),\#(option(3_660))]}"#,
            options(list(100) { option($0 + 1) }), #"{"apple_product_ids":[\#(list(100) { "\"a\($0)\"" })]}"#,
            #"{"kind":"subscription","apple_product_ids":["a"]}"#,
            #"{"kind":"subscription","tier":"Pro","units":{},"one_period_elsewhere":true,"duration_days":30}"#,
            #"{"kind":"non_consumable","one_period_elsewhere":true}"#,
            period("day", 1), period("day", 366), period("week", 52), period("month", 24), period("year", 3),
            #"{"units":{"coins":1,"gems.x":1000000000000}}"#, #"{"units":{\#(list(20) { "\"c\($0)\":1" })}}"#,
            #"{"attributes":{\#(list(50) { "\"a\($0)\":1" })}}"#,
            #"{"localizations":{\#(list(50) { "\"l\($0)\":{\"name\":\"n\"}" })}}"#,
            #"{"localizations":{"en":{"name":"\#(text(200))","description":"\#(text(4_000))"}}}"#, #"{"active":false}"#,
        ])
    func `a SKU within the bounds is itself`(_ patch: String) throws {
        let sku = try sku(patch)
        #expect(try sku.validated() == sku)
    }

    private func expectFault(_ field: String, _ patch: String) throws {
        let sku = try sku(patch)
        let fault = #expect(throws: SKUFault.self) { try sku.validated() }
        #expect(fault?.field == field)
        #expect(fault?.reason.english.isEmpty == false)
    }
}
