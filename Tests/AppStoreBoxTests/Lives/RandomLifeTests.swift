import Domain
import Testing

@testable import AppStoreBox

/// The App Store in a box over months: random lives, many subscriptions, lazy and eager time.
@Suite struct RandomLifeTests {
    /// 2025-01-31 10:00:00.345 UTC.
    private static let start: Int64 = 1_738_317_600_345
    private static let day = BoxWorld.day

    @Test func aYearOfAMonthlySubscriptionWithAFailureAndRecovery() throws {
        let box = BoxWorld(now: Self.start)
        let bought = try box.purchase(#"{"product_id":"pro.P1M"}"#)
        let original = bought.transaction.originalTransactionID
        try box.advance(to: Self.start + 100 * Self.day)
        try box.act("fail_renewal", on: original, #"{"grace":16}"#)
        let end = try #require(box.subscriptions[original]?.expiresAt)
        try box.advance(to: end + 2 * Self.day)
        #expect(box.subscriptions[original]?.state == .grace)
        try box.act("recover", on: original)
        try box.advance(to: Self.start + 364 * Self.day)
        let ends = box.transactions.values.sorted { $0.transactionID < $1.transactionID }.compactMap(\.expiresAt)
        // 2025: the last day of February, then the 31st or the last day of the month; 345 ms stay.
        let days: [Int64] = [28, 59, 89, 120, 150, 181, 212, 242, 273, 303, 334, 365]
        #expect(ends == days.map { Self.start + $0 * Self.day })
        let types = box.notifications.values.sorted { $0.number < $1.number }.map {
            "\($0.type.rawValue) \($0.subtype?.rawValue ?? "")"
        }
        #expect(types.filter { $0 == "DID_RENEW " }.count == 10)
        #expect(types.filter { $0 == "DID_FAIL_TO_RENEW GRACE_PERIOD" }.count == 1)
        #expect(types.filter { $0 == "DID_RENEW BILLING_RECOVERY" }.count == 1)
    }

    @Test(arguments: 1...60) func randomLivesKeepEveryRule(seed: UInt64) throws {
        let box = BoxWorld(now: Self.start, seed: seed)
        let dice = SeededBytes(seed &* 7919)
        var refused = 0
        for _ in 0..<250 {
            do {
                try Self.randomAct(box, dice)
            } catch is BoxError {
                refused += 1
            }
        }
        #expect(refused < 230)
        try box.advance(to: box.now + 800 * Self.day)
        let unsent = box.notifications.values.filter { $0.dueAt != nil && $0.dueAt ?? 0 <= box.now }
        #expect(unsent.isEmpty)
    }

    private static func randomAct(_ box: BoxWorld, _ dice: SeededBytes) throws {
        var generator = dice
        let customer = ["default", "ann", "bob"].randomElement(using: &generator) ?? "default"
        let product = box.products.randomElement(using: &generator)?.productID ?? ""
        let original = box.subscriptions.keys.sorted().randomElement(using: &generator) ?? "900000000000000000"
        let transaction = box.transactions.keys.sorted().randomElement(using: &generator) ?? "900000000000000000"
        switch Int.random(in: 0..<24, using: &generator) {
        case 0...2: try box.purchase(#"{"product_id":"\#(product)","customer":"\#(customer)"}"#)
        case 3:
            try box.purchase(
                #"{"product_id":"\#(product)","customer":"\#(customer)","offer":{"type":"promotional","identifier":"x"}}"#
            )
        case 4...6: try box.advance(to: box.now + Int64.random(in: 1...20 * day, using: &generator))
        case 7: box.now += Int64.random(in: 1...40 * day, using: &generator)
        case 8: try box.act("renew", on: original)
        case 9:
            let grace = [0, 3, 16, 28].randomElement(using: &generator) ?? 0
            try box.act("fail_renewal", on: original, #"{"grace":\#(grace)}"#)
        case 10: try box.act("recover", on: original)
        case 11: try box.act("turn_off", on: original)
        case 12: try box.act("turn_on", on: original)
        case 13: try box.act("upgrade", on: original, #"{"product_id":"\#(product)"}"#)
        case 14: try box.act("downgrade", on: original, #"{"product_id":"\#(product)"}"#)
        case 15:
            try box.act(
                "price_increase", on: original, #"{"price":\#(Int64.random(in: 1...60_000, using: &generator))}"#)
        case 16: try box.act("accept_price", on: original)
        case 17: try box.act("expire", on: original)
        case 18: try box.act("extend", on: original, #"{"days":5}"#)
        case 19: try box.act("share", on: original, #"{"customer":"\#(customer)"}"#)
        case 20: try box.act("unshare", on: original)
        case 21:
            try box.act(
                "refund", onTransaction: transaction,
                #"{"percentage":\#([50, 100].randomElement(using: &generator) ?? 50)}"#)
        case 22: try box.act("refund_reversed", onTransaction: transaction)
        default:
            let mode = BoxMeta.Delivery.Mode.allCases.randomElement(using: &generator) ?? .normal
            try box.deliver(.init(mode: mode, seconds: 3_600))
        }
    }

    @Test func anActFindsTheRowsThatTimeWouldHaveMade() throws {
        func life(_ isEager: Bool) throws -> [String] {
            let box = BoxWorld(now: Self.start)
            let original = try box.purchase(#"{"product_id":"pro.P1M"}"#).transaction.originalTransactionID
            try box.act("share", on: original, #"{"customer":"child"}"#)
            try box.act("fail_renewal", on: original, #"{"grace":3}"#)
            if isEager { try box.advance(to: Self.start + 40 * Self.day) } else { box.now += 40 * Self.day }
            try box.act("recover", on: original)
            return box.subscriptions.values.sorted { $0.originalTransactionID < $1.originalTransactionID }.map {
                "\($0.originalTransactionID) \($0.state) \($0.expiresAt) \($0.currentTransactionID)"
            } + box.notifications.values.sorted { $0.number < $1.number }.map { "\($0.type) \($0.signedAt)" }
        }
        #expect(try life(true) == life(false))
    }

    @Test func aThousandSubscriptionsOverThreeMonthsStayCheap() throws {
        let box = BoxWorld(now: Self.start)
        for number in 0..<1_000 { try box.purchase(#"{"product_id":"pro.P1M","customer":"c\#(number)"}"#) }
        try box.advance(to: Self.start + 95 * Self.day)
        #expect(box.transactions.count == 4_000 && box.notifications.count == 4_000)
        #expect(box.largestScope <= 305 && box.largestChange <= 305)
    }

    @Test func runningWhatIsDueEndsOnlyWhenNothingIsDue() throws {
        let box = BoxWorld(now: Self.start)
        for number in 0..<250 { try box.purchase(#"{"product_id":"pro.P1M","customer":"c\#(number)"}"#) }
        box.now += 29 * Self.day
        try box.runDue()
        #expect(box.nextDue.map { $0 > box.now } == true)
    }

    @Test func idsGoOnAfterAReset() throws {
        let box = BoxWorld(now: Self.start)
        let first = try box.purchase(#"{"product_id":"coins"}"#).transaction.transactionID
        box.reset()
        let second = try box.purchase(#"{"product_id":"coins"}"#).transaction.transactionID
        #expect(second > first && box.transactions.count == 1)
    }
}
