import Domain
import Testing

struct AppleProductTests {
    private static let longest = String(repeating: "x", count: 255)

    @Test(
        arguments: [
            ("com.qinghe.vip", nil, "com.qinghe.vip", false), ("A-Z_0.9", nil, "A-Z_0.9", false),
            ("7", nil, "7", false), ("com.app:vip", "com.app", "vip", false), ("day${days}", nil, "day${days}", true),
            ("day${quantity}", nil, "day${quantity}", true), ("${days}day", nil, "${days}day", true),
            ("m.${days}.pass", nil, "m.${days}.pass", true), ("com.app:day${days}", "com.app", "day${days}", true),
            (longest, nil, longest, false),
        ] as [(String, String?, String, Bool)])
    func `an entry is a literal or a pattern, perhaps of one app`(
        _ text: String, _ bundle: String?, _ product: String, _ isPattern: Bool
    ) throws {
        let entry = try #require(AppleProduct(text))
        #expect(entry.bundle == bundle)
        #expect(entry.product == product)
        #expect(entry.isPattern == isPattern)
        #expect(entry.text == text)
        #expect(AppleProduct(entry.text) == entry)
    }

    @Test(
        arguments: [
            "", ":", "a:", ":a", "a:b:c", "a b", "a/b", "a,b", "é", "a\u{301}", "会员", "a\n", "${days}", "${quantity}",
            "a:${days}", "d${days}${days}", "d${days}.${days}", "d${days}${quantity}", "d${quantity}.${days}",
            "d${quantity}x${quantity}", "day${DAYS}", "day$days", "day{days}", "day${days", "day${}", "day${month}",
            "d${da${days}ys}", "d${da${quantity}ys}", "$day${days}", "${days}:vip", "com.a b:vip", "a:b${days}:c",
            longest + "x",
        ])
    func `any other text is no entry`(_ text: String) {
        #expect(AppleProduct(text) == nil)
    }

    @Test(
        arguments: [
            ("merchant.day${days}", "merchant.day1", 1), ("merchant.day${days}", "merchant.day30", 30),
            ("merchant.day${days}", "merchant.day3660", 3_660), ("merchant.day${quantity}", "merchant.day90", 90),
            ("${days}day", "7day", 7), ("m${days}.pass", "m365.pass", 365), ("com.app:day${days}", "day30", 30),
            ("v2.${days}", "v2.2", 2), ("1${days}", "111", 11), ("${days}0", "100", 10),
        ] as [(String, String, Int64)])
    func `a pattern reads and writes the days`(_ text: String, _ productID: String, _ days: Int64) throws {
        let entry = try #require(AppleProduct(text))
        #expect(entry.days(in: productID) == days)
        #expect(entry.productID(days: days) == productID)
    }

    @Test(
        arguments: [
            "", "day", "day0", "day00", "day07", "day007", "day3661", "day9999", "day99999999999999999999", "day-7",
            "day+7", "day7.0", "day7 ", "day 7", " day7", "Day7", "DAY7", "dayseven", "day7x", "xday7", "day٧", "day７",
            "day7\u{301}", "day9223372036854775808", "day${days}", "com.app:day7",
        ])
    func `a product that does not fit the pattern has no days`(_ productID: String) throws {
        let entry = try #require(AppleProduct("day${days}"))
        #expect(entry.days(in: productID) == nil)
    }

    @Test(
        arguments: [
            ("m${days}m", "m"), ("m${days}m", "mm"), ("ab${days}ba", "aba"), ("ab${days}ba", "abba"),
            ("m7${days}", "m7"),
        ])
    func `the parts around the days do not overlap`(_ text: String, _ productID: String) throws {
        #expect(try #require(AppleProduct(text)).days(in: productID) == nil)
    }

    @Test(arguments: ["day30", "com.app:day30"])
    func `a literal has no days and means itself`(_ text: String) throws {
        let entry = try #require(AppleProduct(text))
        #expect(entry.days(in: "day30") == nil)
        #expect(entry.productID(days: 7) == "day30")
    }

    @Test(arguments: ["day${days}", "${quantity}.v1", "com.app:a${days}b", "v0${days}"])
    func `every number of days goes through the pattern and back`(_ text: String) throws {
        let entry = try #require(AppleProduct(text))
        #expect(AppleProduct.dayRange == 1...3_660)
        #expect(AppleProduct.dayRange.allSatisfy { entry.days(in: entry.productID(days: $0)) == $0 })
        #expect([0, -1, 3_661, .max, .min].allSatisfy { entry.days(in: entry.productID(days: $0)) == nil })
    }
}
