import Testing

@testable import Domain

@Suite("The state of the cashier")
struct CashierStateTests {
    typealias OrderFacts = CashierFacts.OrderFacts

    /// Facts, and the state and reason that follow.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let facts: CashierFacts
        let state: CashierState
        let reason: String?

        init(_ name: String, _ facts: CashierFacts, _ state: CashierState, _ reason: String? = nil) {
            (testDescription, self.facts, self.state, self.reason) = (name, facts, state, reason)
        }

        init(_ name: String, _ order: OrderFacts, _ state: CashierState, _ reason: String? = nil) {
            self.init(name, CashierFacts(order: order), state, reason)
        }
    }

    private static let withOrder: [Row] = [
        // Each row has the facts of the rows below it too, which it overrides.
        Row(
            "money of another amount",
            OrderFacts(status: .paid, hasMismatch: true, dispute: .open, duplicate: (.duplicatePayment, .held)),
            .attention, "amount_mismatch"),
        Row(
            "an open dispute", OrderFacts(status: .refunded, dispute: .open, duplicate: (.duplicatePayment, .held)),
            .attention, "dispute_open"),
        Row("a lost dispute", OrderFacts(status: .refunded, dispute: .lost), .attention, "dispute_lost"),
        Row("a dispute that was won", OrderFacts(status: .paid, dispute: .won), .paid),
        Row(
            "a second payment that is held", OrderFacts(status: .refunded, duplicate: (.duplicatePayment, .held)),
            .attention, "held"),
        Row(
            "a second payment on its way back", OrderFacts(status: .paid, duplicate: (.duplicatePayment, .begun)),
            .attention, "duplicate_payment"),
        Row("a second payment that is back", OrderFacts(status: .paid, duplicate: (.duplicatePayment, .done)), .paid),
        Row(
            "something owned, held", OrderFacts(status: .paid, duplicate: (.duplicateOwnership, .held)), .attention,
            "held"),
        Row(
            "something owned, on its way back", OrderFacts(status: .paid, duplicate: (.duplicateOwnership, .begun)),
            .attention, "duplicate_ownership"),
        Row("refunded", OrderFacts(status: .refunded), .attention, "refunded"),
        Row("partially refunded", OrderFacts(status: .partiallyRefunded), .attention, "partially_refunded"),
        Row("paid after the end, held", OrderFacts(status: .closed, latePayment: .held), .attention, "held"),
        Row(
            "paid after the end, on its way back", OrderFacts(status: .closed, latePayment: .begun), .attention,
            "late_payment"),
        Row(
            "paid after the end, back", OrderFacts(status: .closed, latePayment: .done), .attention, "late_payment"),
        Row("paid", OrderFacts(status: .paid), .paid),
        Row("closed", OrderFacts(status: .closed), .closed, "cancelled"),
        Row("expired", OrderFacts(status: .closed, closing: "expired"), .closed, "expired"),
        Row("no contract", OrderFacts(status: .open, attempt: .none), .methods),
        Row("an attempt that failed", OrderFacts(status: .open, attempt: .ended), .methods),
        Row("an outcome that is awaited", OrderFacts(status: .open, attempt: .awaited), .checking),
        Row("an address", OrderFacts(status: .open, attempt: .open(.url)), .redirect),
        Row("a code", OrderFacts(status: .open, attempt: .open(.qr)), .qr),
        Row("an app's contract", OrderFacts(status: .open, attempt: .open(.alipayApp)), .methods),
        Row("a card", OrderFacts(status: .open, attempt: .open(.stripe)), .stripe),
        Row("Apple Pay", OrderFacts(status: .open, attempt: .open(.applePay)), .applePay),
        Row("the App Store", OrderFacts(status: .open, attempt: .open(.appleIAP)), .appleIAP),
        Row("WeChat's sheet", OrderFacts(status: .open, attempt: .open(.wechatJSAPI)), .wechatJSAPI),
        Row("Alipay in an app", OrderFacts(status: .open, attempt: .open(.alipayApp)), .methods),
        Row("WeChat in an app", OrderFacts(status: .open, attempt: .open(.wechatApp)), .methods),
    ]

    private static let returned: [Row] = [
        Row(
            "back from a card's page",
            CashierFacts(order: OrderFacts(status: .open, attempt: .open(.stripe)), hasReturned: true), .checking),
        Row(
            "back from another page",
            CashierFacts(order: OrderFacts(status: .open, attempt: .open(.url)), hasReturned: true), .redirect),
    ]

    private static let choices: [Row] = [
        Row(
            "the plans again", CashierFacts(order: OrderFacts(status: .open, attempt: .open(.qr)), view: .plans),
            .plans),
        Row(
            "the methods again",
            CashierFacts(order: OrderFacts(status: .open, attempt: .open(.qr)), view: .methods), .methods),
        Row(
            "the methods without a plan",
            CashierFacts(order: OrderFacts(status: .closed), view: .methods, needsPlan: true), .plans),
        Row("the plans of a paid order", CashierFacts(order: OrderFacts(status: .paid), view: .plans), .paid),
        Row(
            "the plans of a refunded order", CashierFacts(order: OrderFacts(status: .refunded), view: .plans),
            .attention, "refunded"),
        Row("the plans of what is owned", CashierFacts(view: .plans, offer: .owned), .owned),
        Row(
            "the methods of nothing", CashierFacts(view: .methods, offer: .nothing(.noAccount)), .unavailable,
            "no_account"),
    ]

    private static let withoutOrder: [Row] = [
        Row("owned", CashierFacts(needsPlan: true, offer: .owned), .owned),
        Row("no price", CashierFacts(offer: .nothing(.currency)), .unavailable, "currency"),
        Row("no platform", CashierFacts(offer: .nothing(.platform)), .unavailable, "platform"),
        Row("had already", CashierFacts(offer: .nothing(.once)), .unavailable, "once"),
        Row("nobody", CashierFacts(needsPlan: true, offer: .nothing(.noAccount)), .unavailable, "no_account"),
        Row("several SKUs", CashierFacts(needsPlan: true), .plans), Row("one SKU", CashierFacts(), .methods),
    ]

    @Test(arguments: withOrder + returned + choices + withoutOrder)
    func `the first row that fits decides`(_ row: Row) {
        #expect(row.facts.standing == CashierStanding(row.state, row.reason))
    }

    @Test func `every state has a row`() {
        let rows = Self.withOrder + Self.returned + Self.choices + Self.withoutOrder
        #expect(Set(rows.map(\.state)) == Set(CashierState.allCases))
    }

    @Test func `a token has one form`() throws {
        let token = SessionToken(Array(repeating: 0xFB, count: 32))
        #expect(token.text.utf8.count == 47 && SessionToken(token.text)?.text == token.text)
        for text in ["", "pds_", token.text + "A", String(token.text.dropLast()), "pdk_" + token.text.dropFirst(4)] {
            #expect(SessionToken(text) == nil, "\(text)")
        }
        #expect(SessionToken("pds_" + String(repeating: "é", count: 43)) == nil)
        #expect(SessionToken("pds_" + String(repeating: "/", count: 43)) == nil)
    }

    @Test(arguments: [
        (Int64(1_000), Int64(0), Int64(86_400)), (100_000, 0, 100_000), (1_000, 5_000, 91_400),
    ])
    func `a session reads until the later end`(_ expiry: Int64, _ orderExpiry: Int64, _ end: Int64) {
        let until = Session.readableUntil(Timestamp(expiry), orderExpiresAt: Timestamp(orderExpiry))
        #expect(until == Timestamp(end))
    }
}
