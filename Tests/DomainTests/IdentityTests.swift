import Domain
import Testing

struct IDTests {
    private static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz")

    private func source(at milliseconds: Int64, byte: UInt8 = 0) -> IDSource {
        IDSource(
            time: TimeSource { milliseconds }, random: RandomSource { [UInt8](repeating: byte, count: $0) })
    }

    /// Reads the 128 bits of an id from its 26 characters.
    private func bits(_ text: String) throws -> UInt128 {
        try text.dropFirst(4).reduce(UInt128(0)) { bits, digit in
            bits << 5 | UInt128(try #require(Self.digits.firstIndex(of: digit)))
        }
    }

    @Test func `an id is its prefix and 26 characters`() throws {
        let source = source(at: 1_736_860_000_123, byte: 0x5A)
        let made = [
            source.make(Order.self).rawValue, source.make(Payment.self).rawValue, source.make(Refund.self).rawValue,
            source.make(Dispute.self).rawValue, source.make(Grant.self).rawValue, source.make(User.self).rawValue,
            source.make(Domain.Notification.self).rawValue, source.make(Event.self).rawValue,
            source.make(APIKey.self).rawValue, source.make(Request.self).rawValue,
        ]
        let prefixes = ["ord_", "pay_", "ref_", "dsp_", "grt_", "usr_", "ntf_", "evt_", "key_", "req_"]
        #expect(made.map { String($0.prefix(4)) } == prefixes)
        #expect(made.allSatisfy { $0.utf8.count == 30 && $0.dropFirst(4).allSatisfy(Self.digits.contains) })
        #expect(Set(made.map { $0.dropFirst(4) }).count == 1)
    }

    @Test(arguments: [0, 1, 1_736_860_000_123, 0xFFFF_FFFF_FFFF] as [Int64], [0x00, 0xFF, 0x5A, 0xA5] as [UInt8])
    func `an id holds a UUID of version 7`(_ milliseconds: Int64, _ byte: UInt8) throws {
        let id = source(at: milliseconds, byte: byte).make(Order.self)
        #expect(id.madeAt == Timestamp(milliseconds / 1_000))
        let bits = try bits(id.rawValue)
        let random = [UInt8](repeating: byte, count: 10).reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        #expect(bits >> 80 == UInt128(milliseconds))
        #expect((bits >> 76) & 0xF == 7)
        #expect((bits >> 62) & 0b11 == 0b10)
        #expect((bits >> 64) & 0xFFF == (random >> 62) & 0xFFF)
        #expect(bits & (1 << 62 - 1) == random & (1 << 62 - 1))
    }

    @Test(
        arguments: [
            ("the low 62 bits are the last of ten bytes", [0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 1),
            ("bit 62 begins the twelve bits before the variant", [0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0], 1 << 64),
            ("bit 73 is the highest that counts", [0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0], 1 << 75),
            ("bits 74 to 79 are not used", [0xFC, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0),
        ] as [(String, [UInt8], UInt128)])
    func `random bits keep their places`(_ name: String, _ bytes: [UInt8], _ expected: UInt128) throws {
        let source = IDSource(time: TimeSource { 0 }, random: RandomSource { _ in bytes })
        let fixed: UInt128 = 7 << 76 | 2 << 62
        #expect(try bits(source.make(Order.self).rawValue) == fixed | expected, "\(name)")
    }

    @Test func `a clock before 1970 counts as its beginning`() {
        #expect(source(at: -1).make(Order.self) == source(at: 0).make(Order.self))
    }

    @Test func `ids sort by the time of their making whatever the random bytes`() {
        let times: [Int64] = [0, 1, 31, 32, 1_023, 1_024, 999_999_999_999, 1_736_860_000_123, 1_736_860_000_124]
        let ids = times.enumerated().map { source(at: $1, byte: $0.isMultiple(of: 2) ? 0xFF : 0).make(Order.self) }
        #expect(ids.sorted() == ids)
        #expect(ids.map(\.rawValue).sorted() == ids.map(\.rawValue))
        #expect(Set(ids).count == times.count)
    }

    @Test func `an id is read back from its text and its JSON`() throws {
        let id = source(at: 1_736_860_000_123, byte: 0x3C).make(Payment.self)
        #expect(ID<Payment>(id.rawValue) == id)
        #expect(id.description == id.rawValue)
        #expect(try json([id]) == "[\"\(id.rawValue)\"]")
        #expect(try decoded("[\"\(id.rawValue)\"]", as: [ID<Payment>].self) == [id])
        #expect(throws: DecodingError.self) { try decoded("[\"\(id.rawValue)\"]", as: [ID<Order>].self) }
        #expect(throws: DecodingError.self) { try decoded("[17]", as: [ID<Payment>].self) }
    }

    @Test(
        arguments: [
            "", "ord_", "ord", "pay_01jhp5yjfv8zzzzzzzzzzzzzzz", "ORD_01jhp5yjfv8zzzzzzzzzzzzzzz",
            "ord_01JHP5YJFV8ZZZZZZZZZZZZZZZ", "ord_01jhp5yjfv8zzzzzzzzzzzzzz", "ord_01jhp5yjfv8zzzzzzzzzzzzzzzz",
            "ord-01jhp5yjfv8zzzzzzzzzzzzzzz", "01jhp5yjfv8zzzzzzzzzzzzzzz", " ord_01jhp5yjfv8zzzzzzzzzzzzzzz",
            "ord_01jhp5yjfv8zzzzzzzzzzzzzz ", "ord_01jhp5yjfv8zzzzzzzzzzzzzzi", "ord_01jhp5yjfv8zzzzzzzzzzzzzzl",
            "ord_01jhp5yjfv8zzzzzzzzzzzzzzo", "ord_01jhp5yjfv8zzzzzzzzzzzzzzu", "ord_01jhp5yjfv8zzzzzzzzzzzzz\u{E9}",
            "ord_01jhp5yj-v8zzzzzzzzzzzzzzz", "ord__1jhp5yjfv8zzzzzzzzzzzzzzz", "ord_ord_jhp5yjfv8zzzzzzzzzzzzz",
        ])
    func `any other text is no id of an order`(_ text: String) {
        #expect(ID<Order>(text) == nil)
    }

    @Test func `the form that the others lack is an id`() {
        #expect(ID<Order>("ord_01jhp5yjfv8zzzzzzzzzzzzzzz")?.rawValue == "ord_01jhp5yjfv8zzzzzzzzzzzzzzz")
    }
}

struct SubjectNameTests {
    private static let longest = String(repeating: "x", count: 64)

    @Test(arguments: ["a", "0", "vip_month", "vip.month", "vip-month", "0.a_b-c", "a.", "a-", longest])
    func `a SKU code starts plain and may hold dots, dashes and underscores`(_ text: String) {
        #expect(SKUCode(text)?.rawValue == text)
    }

    @Test(
        arguments: [
            "", ".a", "_a", "-a", "A", "vIp", "vip month", "vip/month", "vip:month", "vip\n", "é", "vip\u{301}", "会员",
            longest + "x",
        ])
    func `any other text is no SKU code`(_ text: String) {
        #expect(SKUCode(text) == nil)
    }

    @Test(arguments: ["a", "0", "stripe-main", "stripe_main", "9-_", longest])
    func `an account starts plain and may hold dashes and underscores`(_ text: String) {
        #expect(AccountID(text)?.rawValue == text)
        #expect(AccountID(text).map { "\($0)/Production" } == "\(text)/Production")
    }

    @Test(
        arguments: ["", "-a", "_a", ".a", "a.b", "Stripe", "a b", "a:b", "a/b", "a\t", "ü", "a\u{301}", longest + "x"])
    func `any other text is no account`(_ text: String) {
        #expect(AccountID(text) == nil)
    }

    @Test(
        arguments: [
            "u", "U 1", "u@example.org", "a/b?c#d%", "用户", "👩‍👩‍👧‍👦", String(repeating: "x", count: 128),
            String(repeating: "é", count: 128),
        ])
    func `a user is named by 1 to 128 characters`(_ text: String) {
        #expect(ExternalUserID(text)?.rawValue == text)
    }

    @Test(arguments: ["", String(repeating: "x", count: 129), "\u{0}", "a\u{1F}b", "a\nb", "a\r\nb", "\tu", "u\u{7F}"])
    func `too long a name or one with control characters is no user`(_ text: String) {
        #expect(ExternalUserID(text) == nil)
    }

    @Test func `names sort by their text`() throws {
        let codes = try ["b", "a.b", "a", "0"].map { try #require(SKUCode($0)) }
        #expect(codes.sorted().map(\.rawValue) == ["0", "a", "a.b", "b"])
        let accounts = try ["b", "a-b", "a", "0"].map { try #require(AccountID($0)) }
        #expect(accounts.sorted().map(\.rawValue) == ["0", "a", "a-b", "b"])
    }

    @Test func `the audit's label says who acted`() throws {
        let key: ID<APIKey> = try sampleID(7)
        #expect(Actor.user.label == "user")
        #expect(Actor.partner(name: "acme", key: key).label == "partner:acme/key_00000000000000000000000007")
        #expect(Actor.provider(try #require(AccountID("stripe-main"))).label == "provider:stripe-main")
        #expect(Actor.system("expire").label == "system:expire")
    }
}
