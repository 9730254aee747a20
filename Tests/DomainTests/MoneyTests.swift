import Domain
import Testing

struct MoneyTests {
    private static let cny = Currency("CNY")
    private static let usd = Currency("USD")

    private func yuan(_ value: Int64) throws -> Money { Money(value: value, currency: try #require(Self.cny)) }
    private func dollars(_ value: Int64) throws -> Money { Money(value: value, currency: try #require(Self.usd)) }

    @Test(
        arguments: [
            (0, 0, 0), (3_990, 10, 4_000), (5, -7, -2), (.max, 0, .max), (.max - 1, 1, .max), (.max, .min, -1),
            (.min, 0, .min), (.min + 1, -1, .min),
        ] as [(Int64, Int64, Int64)])
    func `amounts of one currency are added`(_ left: Int64, _ right: Int64, _ sum: Int64) throws {
        #expect(try yuan(left).adding(yuan(right)) == yuan(sum))
        #expect(try yuan(right).adding(yuan(left)) == yuan(sum))
    }

    @Test(
        arguments: [
            (0, 0, 0), (4_000, 10, 3_990), (5, 7, -2), (.max, .max, 0), (.min, .min, 0), (-1, .max, .min),
            (.max, 0, .max), (-1, .min, .max), (.min, 0, .min),
        ] as [(Int64, Int64, Int64)])
    func `amounts of one currency are subtracted`(_ left: Int64, _ right: Int64, _ difference: Int64) throws {
        #expect(try yuan(left).subtracting(yuan(right)) == yuan(difference))
    }

    @Test(
        arguments: [
            (0, .max, 0), (3_990, 3, 11_970), (3_990, 0, 0), (-5, 4, -20), (5, -4, -20), (.max, 1, .max),
            (.min, 1, .min), (.max, -1, .min + 1), (1_000_000_000_000, 1_000, 1_000_000_000_000_000),
        ] as [(Int64, Int64, Int64)])
    func `an amount is multiplied`(_ value: Int64, _ factor: Int64, _ product: Int64) throws {
        #expect(try yuan(value).multiplied(by: factor) == yuan(product))
    }

    @Test(arguments: [(.max, 1), (.min, -1), (.max, .max), (.min, .min)] as [(Int64, Int64)])
    func `a sum beyond the range is an overflow`(_ left: Int64, _ right: Int64) throws {
        let (one, other) = (try yuan(left), try yuan(right))
        #expect(throws: MoneyError.overflow) { try one.adding(other) }
        #expect(throws: MoneyError.overflow) { try other.adding(one) }
    }

    @Test(arguments: [(.min, 1), (.max, -1), (0, .min), (-2, .max), (.min, .max)] as [(Int64, Int64)])
    func `a difference beyond the range is an overflow`(_ left: Int64, _ right: Int64) throws {
        let (one, other) = (try yuan(left), try yuan(right))
        #expect(throws: MoneyError.overflow) { try one.subtracting(other) }
    }

    @Test(
        arguments: [(.max, 2), (.min, -1), (.min, 2), (.max, .max), (4_611_686_018_427_387_904, 2)] as [(Int64, Int64)])
    func `a product beyond the range is an overflow`(_ value: Int64, _ factor: Int64) throws {
        let amount = try yuan(value)
        #expect(throws: MoneyError.overflow) { try amount.multiplied(by: factor) }
    }

    @Test(arguments: [(1, 1), (0, 0), (.max, 1), (.min, .max)] as [(Int64, Int64)])
    func `an amount never mixes currencies`(_ left: Int64, _ right: Int64) throws {
        let (one, other) = (try yuan(left), try dollars(right))
        #expect(throws: MoneyError.currencyMismatch) { try one.adding(other) }
        #expect(throws: MoneyError.currencyMismatch) { try one.subtracting(other) }
        #expect(one != other)
    }

    @Test(
        arguments: [
            ("CNY", 3_990, "39.90"), ("CNY", 0, "0.00"), ("CNY", 5, "0.05"), ("CNY", 50, "0.50"), ("CNY", 100, "1.00"),
            ("CNY", -5, "-0.05"), ("CNY", -3_990, "-39.90"), ("CNY", .max, "92233720368547758.07"),
            ("CNY", .min, "-92233720368547758.08"), ("JPY", 0, "0"), ("JPY", 600, "600"), ("JPY", -600, "-600"),
            ("JPY", .min, "-9223372036854775808"), ("KWD", 0, "0.000"), ("KWD", 5, "0.005"), ("KWD", 1_234, "1.234"),
            ("KWD", -50, "-0.050"), ("KWD", .max, "9223372036854775.807"), ("KWD", .min, "-9223372036854775.808"),
        ] as [(String, Int64, String)])
    func `an amount is exact decimal text and is read back`(_ code: String, _ value: Int64, _ text: String) throws {
        let currency = try #require(Currency(code))
        let amount = Money(value: value, currency: currency)
        #expect(amount.decimal == text)
        #expect(amount.description == "\(text) \(code)")
        #expect(Money(decimal: text, currency: currency) == amount)
    }

    @Test(
        arguments: [
            ("CNY", "10", 1_000), ("CNY", "10.0", 1_000), ("CNY", "10.00", 1_000), ("CNY", "10.000000", 1_000),
            ("CNY", "010", 1_000), ("CNY", "0.5", 50), ("CNY", "-0", 0), ("CNY", "-0.00", 0), ("CNY", "-10.5", -1_050),
            ("JPY", "10", 10), ("JPY", "10.0", 10), ("JPY", "10.000", 10), ("JPY", "-10", -10), ("KWD", "10", 10_000),
            ("KWD", "10.5", 10_500), ("KWD", "10.005", 10_005), ("KWD", "10.0050", 10_005),
        ] as [(String, String, Int64)])
    func `texts of one amount are one amount`(_ code: String, _ text: String, _ value: Int64) throws {
        let currency = try #require(Currency(code))
        #expect(Money(decimal: text, currency: currency)?.value == value)
    }

    @Test(
        arguments: [
            "", "-", ".", "-.", ".5", "5.", "-.5", "-5.", "+5", "--5", "5-", "1.2.3", "1..2", "1,000", "1e3", "0x10",
            " 1", "1 ", "1. 5", "1\n", "NaN", "inf", "¥5", "１", "٣", "1.٣", "1.005", "0.001", "-\u{301}5",
            "1.\u{301}5", "1\u{301}", "92233720368547758.08", "-92233720368547758.09", "99999999999999999999999",
        ])
    func `any other text is no amount`(_ text: String) throws {
        let currency = try #require(Self.cny)
        #expect(Money(decimal: text, currency: currency) == nil)
    }

    @Test(
        arguments: [
            ("JPY", "1.5"), ("JPY", "0.01"), ("JPY", "9223372036854775808"), ("JPY", "-9223372036854775809"),
            ("KWD", "1.0001"), ("KWD", "9223372036854775.808"),
        ])
    func `more than the currency or the range holds is no amount`(_ code: String, _ text: String) throws {
        let currency = try #require(Currency(code))
        #expect(Money(decimal: text, currency: currency) == nil)
    }

    @Test func `only zero is zero`() throws {
        #expect(try yuan(0).isZero)
        #expect(try !yuan(1).isZero)
        #expect(try !yuan(-1).isZero)
    }

    @Test func `an amount is an object of value and currency`() throws {
        #expect(try json(yuan(3_990)) == #"{"currency":"CNY","value":3990}"#)
        #expect(try decoded(#"{"value":3990,"currency":"CNY"}"#, as: Money.self) == yuan(3_990))
    }

    @Test(
        arguments: [
            #"{"value":39.5,"currency":"CNY"}"#, #"{"value":"3990","currency":"CNY"}"#,
            #"{"value":1,"currency":"cny"}"#, #"{"value":1,"currency":"XXX"}"#, #"{"value":1}"#,
            #"{"currency":"CNY"}"#, #"{"value":null,"currency":"CNY"}"#,
            #"{"value":9223372036854775808,"currency":"CNY"}"#, #"3990"#, #"{"value":1,"currency":156}"#,
        ])
    func `any other JSON is no amount`(_ text: String) {
        #expect(throws: DecodingError.self) { try decoded(text, as: Money.self) }
    }
}

struct CurrencyTests {
    @Test(
        arguments: [
            ("CNY", 2), ("USD", 2), ("EUR", 2), ("HKD", 2), ("TWD", 2), ("MGA", 2), ("MRU", 2), ("HUF", 2), ("IDR", 2),
            ("XCG", 2), ("ZWG", 2), ("SLE", 2), ("BIF", 0), ("CLP", 0), ("DJF", 0), ("GNF", 0), ("ISK", 0), ("JPY", 0),
            ("KMF", 0), ("KRW", 0), ("PYG", 0), ("RWF", 0), ("UGX", 0), ("VND", 0), ("VUV", 0), ("XAF", 0), ("XOF", 0),
            ("XPF", 0), ("BHD", 3), ("IQD", 3), ("JOD", 3), ("KWD", 3), ("LYD", 3), ("OMR", 3), ("TND", 3),
        ])
    func `a currency has the minor digits of ISO 4217`(_ code: String, _ digits: Int) throws {
        let currency = try #require(Currency(code))
        #expect(currency.minorDigits == digits)
        #expect(currency.code == code && currency.description == code)
        #expect(try json([currency]) == "[\"\(code)\"]")
    }

    @Test(
        arguments: [
            "", "C", "CN", "cny", "Cny", "CNYY", " CNY", "CNY ", "C\u{301}NY", "ＣＮＹ", "156", "XAU", "XAG", "XPT",
            "XPD", "XTS", "XXX", "XDR", "XSU", "XUA", "XBA", "BOV", "CHE", "CHW", "CLF", "COU", "MXV", "USN", "UYI",
            "UYW", "DEM", "HRK", "ZWL", "RMB", "BTC",
        ])
    func `funds, metals, test codes and other texts are no currency`(_ code: String) {
        #expect(Currency(code) == nil)
        #expect(throws: DecodingError.self) { try decoded("[\"\(code)\"]", as: [Currency].self) }
    }

    @Test func `every code of three letters is known or not, and about 150 are`() {
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".map(String.init)
        let codes = letters.flatMap { a in letters.flatMap { b in letters.map { a + b + $0 } } }
        let known = codes.compactMap { Currency($0) }
        #expect((145...160).contains(known.count))
        #expect(known.allSatisfy { [0, 2, 3].contains($0.minorDigits) })
        #expect(known.count { $0.minorDigits == 0 } == 16)
        #expect(known.count { $0.minorDigits == 3 } == 7)
    }

    @Test(
        arguments: [
            ("CNY", "156"), ("USD", "840"), ("EUR", "978"), ("GBP", "826"), ("JPY", "392"), ("KRW", "410"),
            ("KWD", "414"), ("ALL", "008"), ("AUD", "036"), ("BHD", "048"), ("SLE", "925"), ("XCG", "532"),
            ("ZWG", "924"), ("ISK", "352"), ("TWD", "901"), ("VED", "926"),
        ])
    func `a currency has its number of ISO 4217`(_ code: String, _ number: String) throws {
        #expect(try #require(Currency(code)).number == number)
    }

    @Test func `every currency has a number of its own`() {
        let letters = (UInt8(ascii: "A")...UInt8(ascii: "Z")).map { String(UnicodeScalar($0)) }
        let codes = letters.flatMap { first in letters.flatMap { second in letters.map { first + second + $0 } } }
        let numbers = codes.compactMap { Currency($0)?.number }
        #expect(numbers.count > 150 && Set(numbers).count == numbers.count)
        #expect(numbers.allSatisfy { $0.utf8.count == 3 && Int($0) != nil })
    }
}
