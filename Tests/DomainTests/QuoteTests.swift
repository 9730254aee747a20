import Domain
import Testing

struct QuoteTests {
    private static let prices = #""prices":[{"value":3990,"currency":"CNY"},{"value":599,"currency":"USD"}]"#
    private static let pass = #"{"kind":"non_renewing","tier":"VIP","rank":10,"duration_days":30,\#(prices)}"#
    private static let options = """
        {"kind":"non_renewing","duration_days":30,"prices":[{"value":1,"currency":"CNY"}],
        "apple_product_ids":["m.day${days}"],"options":[
        {"days":7,"prices":[{"value":990,"currency":"CNY"}]},
        {"days":90,"prices":[{"value":6990,"currency":"CNY"},{"value":999,"currency":"USD"}]}]}
        """

    @Test func `what costs nothing is given one at a time`() throws {
        let free = #"{"kind":"consumable","units":{"coins":1},"prices":[{"value":0,"currency":"CNY"}]}"#
        #expect(try quote(free, quantity: 1).amount.isZero)
        #expect(throws: QuoteFault.quantity) { try quote(free, quantity: 2) }
    }

    private func quote(
        _ patch: String, quantity: Int64 = 1, days: Int64? = nil, _ code: String = "CNY", appleOffersAll: Bool = false
    ) throws -> Quote {
        let currency = try #require(Currency(code))
        return try sku(patch).quote(quantity: quantity, days: days, currency: currency, appleOffersAll: appleOffersAll)
    }

    @Test(
        arguments: [
            (#"{\#(prices)}"#, 1, "CNY", "39.90 CNY", nil), (#"{\#(prices)}"#, 3, "USD", "17.97 USD", nil),
            (#"{\#(prices)}"#, 1_000, "CNY", "39900.00 CNY", nil), (pass, 1, "CNY", "39.90 CNY", 30),
            (pass, 3, "CNY", "119.70 CNY", 90), (pass, 1_000, "USD", "5990.00 USD", 30_000),
            (#"{"kind":"non_consumable",\#(prices)}"#, 1, "USD", "5.99 USD", nil),
            (#"{"kind":"non_consumable","duration_days":30,\#(prices)}"#, 1, "USD", "5.99 USD", nil),
            (#"{"kind":"subscription",\#(prices)}"#, 1, "CNY", "39.90 CNY", nil),
            (#"{"kind":"subscription","duration_days":30,\#(prices)}"#, 1, "CNY", "39.90 CNY", 30),
            (#"{"prices":[{"value":0,"currency":"CNY"}]}"#, 1, "CNY", "0.00 CNY", nil),
        ] as [(String, Int64, String, String, Int64?)])
    func `a checkout costs the price times the quantity`(
        _ patch: String, _ quantity: Int64, _ code: String, _ amount: String, _ termDays: Int64?
    ) throws {
        let quote = try quote(patch, quantity: quantity, code)
        #expect(quote.amount == (try money(amount)))
        #expect(quote.terms.days == termDays)
        #expect(quote.days == nil)
    }

    @Test(
        arguments: [
            (7, 1, "CNY", false, "9.90 CNY", 7), (90, 1, "CNY", false, "69.90 CNY", 90),
            (90, 1, "USD", false, "9.99 USD", 90), (7, 3, "CNY", false, "29.70 CNY", 21),
            (90, 2, "USD", false, "19.98 USD", 180), (90, 1, "CNY", true, "69.90 CNY", 90),
            (nil, 1, "CNY", true, "9.90 CNY", 7),
        ] as [(Int64?, Int64, String, Bool, String, Int64)])
    func `an option has its own price and days, and Apple offers all at the first one's`(
        _ days: Int64?, _ quantity: Int64, _ code: String, _ appleOffersAll: Bool, _ amount: String, _ termDays: Int64
    ) throws {
        let quote = try quote(Self.options, quantity: quantity, days: days, code, appleOffersAll: appleOffersAll)
        #expect(quote.amount == (try money(amount)))
        #expect(quote.terms.days == termDays)
        #expect(quote.days == days)
    }

    @Test(
        arguments: [
            (options, nil, "CNY", false, .days), (options, 30, "CNY", false, .days), (options, 0, "CNY", false, .days),
            (options, -7, "CNY", false, .days), (options, 30, "CNY", true, .days),
            (options, 7, "USD", false, .currency), (options, nil, "USD", true, .currency),
            (options, 7, "JPY", false, .currency), (pass, 30, "CNY", false, .days), (pass, 7, "CNY", true, .days),
            (pass, nil, "JPY", false, .currency), (pass, nil, "EUR", true, .currency),
            (#"{"prices":[]}"#, nil, "CNY", false, .currency),
        ] as [(String, Int64?, String, Bool, QuoteFault)])
    func `days without an option and a currency without a price are named`(
        _ patch: String, _ days: Int64?, _ code: String, _ appleOffersAll: Bool, _ fault: QuoteFault
    ) throws {
        #expect(throws: fault) { try quote(patch, days: days, code, appleOffersAll: appleOffersAll) }
    }

    @Test func `a pass without days or options is sold by Apple's pattern alone`() throws {
        let patch = #"{"kind":"non_renewing","apple_product_ids":["vip","m.day${days}"]}"#
        #expect(throws: QuoteFault.days) { try quote(patch) }
        #expect(throws: QuoteFault.days) { try quote(patch, days: 7) }
        #expect(try quote(patch, appleOffersAll: true).terms.days == nil)
    }

    @Test(
        arguments: [
            ("consumable", 0, false), ("consumable", -1, false), ("consumable", 1, true), ("consumable", 2, true),
            ("consumable", 1_000, true), ("consumable", 1_001, false), ("consumable", .max, false),
            ("non_renewing", 0, false), ("non_renewing", 1, true), ("non_renewing", 2, true),
            ("non_renewing", 1_000, true), ("non_renewing", 1_001, false), ("non_consumable", 0, false),
            ("non_consumable", 1, true), ("non_consumable", 2, false), ("subscription", 1, true),
            ("subscription", 2, false), ("subscription", .min, false),
        ] as [(String, Int64, Bool)])
    func `only consumables and passes are sold in numbers, at most 1,000`(
        _ kind: String, _ quantity: Int64, _ sold: Bool
    ) throws {
        let patch = #"{"kind":"\#(kind)","duration_days":3660}"#
        if sold {
            #expect(try quote(patch, quantity: quantity).amount.value == 1_000 * quantity)
        } else {
            #expect(throws: QuoteFault.quantity) { try quote(patch, quantity: quantity) }
        }
    }

    @Test(arguments: [(9_223_372_036_854_775, 1_000, true), (9_223_372_036_854_776, 1_000, false), (.max, 2, false)])
    func `a price times a quantity beyond the range is a quantity too many`(
        _ price: Int64, _ quantity: Int64, _ fits: Bool
    ) throws {
        let patch = #"{"prices":[{"value":\#(price),"currency":"CNY"}]}"#
        if fits {
            #expect(try quote(patch, quantity: quantity).amount.value == price * quantity)
        } else {
            #expect(throws: QuoteFault.quantity) { try quote(patch, quantity: quantity) }
        }
    }

    @Test func `a length beyond the range is a quantity too many`() throws {
        let patch = #"{"kind":"non_renewing","duration_days":9223372036854775807}"#
        #expect(throws: QuoteFault.quantity) { try quote(patch, quantity: 2) }
    }

    @Test func `the fault's name is the request's field`() {
        #expect([QuoteFault.quantity, .days, .currency].map(\.rawValue) == ["quantity", "days", "currency"])
        #expect(SKU.quantityRange == 1...1_000)
    }
}

struct AppleOfferTests {
    private static let days = #","duration_days":5"#
    private static let options = """
        ,"options":[{"days":7,"prices":[{"value":1,"currency":"CNY"}]},
        {"days":30,"prices":[{"value":2,"currency":"CNY"}]}]
        """

    @Test(
        arguments: [
            (#"["vip"]"#, days, nil, ["vip"]), (#"["vip","b:vip2"]"#, days, nil, ["vip", "vip2"]),
            (#"[]"#, "", nil, []),
            (#"["vip"]"#, "", nil, []), (#"["vip","d${days}"]"#, options, nil, ["d7", "d30"]),
            (#"["d${days}"]"#, #","duration_days":30"#, nil, ["d30"]), (#"["d${days}"]"#, "", nil, []),
            (#"["d${days}"]"#, options, nil, ["d7", "d30"]), (#"["d${days}"]"#, options, 30, ["d30"]),
            (#"["d${quantity}.x"]"#, options, 7, ["d7.x"]),
            (#"["vip","d${days}"]"#, days + options, nil, ["vip", "d7", "d30"]),
            (#"["vip","d${days}"]"#, days + options, 7, ["d7"]), (#"["vip"]"#, days + options, 7, []),
            (#"["vip","d${days}"]"#, #","duration_days":90"#, nil, ["vip", "d90"]),
            (#"["d${days}"]"#, #","duration_days":90"# + options, nil, ["d7", "d30"]), (#"["vip"]"#, days, 7, ["vip"]),
        ] as [(String, String, Int64?, [String])])
    func `literals, and the pattern's ids for the chosen, all or the only days are offered`(
        _ ids: String, _ more: String, _ days: Int64?, _ offer: [String]
    ) throws {
        let sku = try sku(#"{"kind":"non_renewing","apple_product_ids":\#(ids)\#(more)}"#)
        #expect(sku.appleOffer(days: days) == offer)
    }

    @Test(
        arguments: [
            (nil, ["any", "one", "two"]), ([], ["any"]), (["com.one"], ["any", "one"]), (["com.two"], ["any", "two"]),
            (["com.one", "com.two"], ["any", "one", "two"]), (["com.three"], ["any"]),
        ] as [(Set<String>?, [String])])
    func `an entry bound to another app is not offered`(_ bundles: Set<String>?, _ offer: [String]) throws {
        let sku = try sku(#"{"apple_product_ids":["any","com.one:one","com.two:two"]}"#)
        #expect(sku.appleOffer(days: nil, bundles: bundles) == offer)
    }
}
