import Foundation
import Testing

@testable import Domain

@Suite("Line items that follow from facts")
struct ExternalReportTests {
    private static let day: Int64 = 86_400
    private static let start = Timestamp(1_706_047_472)

    private static func fact(_ kind: ExternalFact.Kind, _ id: String) -> ExternalFact {
        ExternalFact(kind: kind, id: id, lineItemID: "line-\(id)")
    }

    private static func purchase(
        _ returns: [ExternalPurchase.Return] = [], period: ExternalPurchase.Period? = nil, id: String = "pay",
        at time: Timestamp = start
    ) throws -> ExternalPurchase {
        ExternalPurchase(
            fact: fact(.payment, id), product: "pass", quantity: 1, paidAt: time,
            amount: Money(value: 999, currency: try #require(Currency("EUR"))), taxRate: 1_900, taxCountry: "DEU",
            period: period, returns: returns)
    }

    private static func back(
        _ id: String, _ value: Int64, _ kind: ExternalFact.Kind = .refund, after seconds: Int64 = 60
    ) throws -> ExternalPurchase.Return {
        ExternalPurchase.Return(
            fact: fact(kind, id), at: start.adding(seconds: seconds),
            amount: Money(value: value, currency: try #require(Currency("EUR"))))
    }

    /// Reports until nothing is left, and returns the items in their order.
    private static func report(
        _ purchases: [ExternalPurchase], after accepted: [ExternalReportedItem] = [], at now: Timestamp = start
    ) -> [ExternalReportedItem] {
        var known = accepted
        while true {
            let items = ExternalReportRules.nextItems(purchases, accepted: known, at: now)
            guard !items.isEmpty else { return Array(known.dropFirst(accepted.count)) }
            known += items
        }
    }

    private static func nets(_ items: [ExternalReportedItem]) -> [Int64] { items.map(\.item.netAmountTaxExclusive) }

    @Test
    func `a report holds one item of a purchase`() throws {
        let purchase = try Self.purchase([try Self.back("one", 400), try Self.back("two", 599)])
        let first = ExternalReportRules.nextItems([purchase], accepted: [], at: Self.start)
        #expect(first.map(\.factID) == ["pay"])
        let all = Self.report([purchase])
        #expect(all.map(\.factID) == ["pay", "one", "two"])
        #expect(Self.nets(all) == [8_395, 5_034, 0])
        #expect(all.allSatisfy { $0.item.restatement == nil && $0.item.erroneouslySubmitted == nil })
        let other = try Self.purchase(id: "other")
        #expect(ExternalReportRules.nextItems([purchase, other], accepted: [], at: Self.start).count == 2)
    }

    @Test
    func `a refund that bounces is taken back with its fields`() throws {
        let before = Self.report([try Self.purchase([try Self.back("one", 999)])])
        let taken = Self.report([try Self.purchase()], after: before)
        var wanted = try #require(before.last).item
        wanted.netAmountTaxExclusive = 8_395
        wanted.restatement = true
        wanted.erroneouslySubmitted = true
        #expect(taken.map(\.item) == [wanted])
        #expect(taken.map(\.turn) == [1] && taken.map(\.isErroneous) == [true])
    }

    @Test
    func `a dispute comes and goes, each time as a new turn`() throws {
        let lost = try Self.purchase([try Self.back("dsp", 400, .dispute)])
        let won = try Self.purchase()
        var all = Self.report([lost])
        for purchase in [won, lost, won, lost] { all += Self.report([purchase], after: all) }
        #expect(all.dropFirst().map(\.turn) == [1, 1, 2, 2, 3])
        #expect(all.dropFirst().map(\.isErroneous) == [false, true, false, true, false])
        #expect(all.dropFirst().map(\.item.restatement) == [nil, true, true, true, true])
        #expect(Self.nets(Array(all.dropFirst())) == [5_034, 8_395, 5_034, 8_395, 5_034])
        // Apple refuses a restatement of another date.
        #expect(Set(all.dropFirst().map(\.item.creationDate)).count == 1)
    }

    @Test
    func `a dispute of another amount is restated`() throws {
        let before = Self.report([try Self.purchase([try Self.back("dsp", 400, .dispute)])])
        let after = Self.report([try Self.purchase([try Self.back("dsp", 500, .dispute)])], after: before)
        #expect(after.map(\.item.amountTaxInclusive) == [5_000] && after.map(\.item.restatement) == [true])
        #expect(after.map(\.turn) == [2] && after.map(\.isErroneous) == [false])
    }

    @Test
    func `what is too old for Apple is left out`() throws {
        let (year, old) = (365 * Self.day, 3 * 365 * Self.day)
        #expect(Self.report([try Self.purchase()], at: Self.start.adding(seconds: old)).isEmpty)
        let late = try Self.purchase([try Self.back("one", 400, after: year)])
        #expect(Self.report([late], at: Self.start.adding(seconds: year)).map(\.factID) == ["pay"])
        let before = Self.report([try Self.purchase([try Self.back("one", 400)])])
        let gone = Self.report([try Self.purchase()], after: before, at: Self.start.adding(seconds: year + 61))
        #expect(gone.isEmpty)
    }

    @Test
    func `a refused report is mended from what holds now`() throws {
        let refused = ExternalReportRules.nextItems([try Self.purchase()], accepted: [], at: Self.start)
        let mended = ExternalPurchase(
            fact: Self.fact(.payment, "pay"), product: "other", quantity: 1, paidAt: Self.start,
            amount: Money(value: 999, currency: try #require(Currency("EUR"))), taxRate: 1_900, taxCountry: "DEU",
            period: nil, returns: [])
        let again = ExternalReportRules.mended(refused, [mended], accepted: [])
        #expect(again.map(\.item.productIdentifier) == ["other"] && again.map(\.turn) == [1])
        let accepted = Self.report([try Self.purchase()])
        let refund = ExternalReportRules.nextItems(
            [try Self.purchase([try Self.back("one", 400)])], accepted: accepted, at: Self.start)
        #expect(ExternalReportRules.mended(refund, [try Self.purchase()], accepted: accepted).isEmpty)
    }

    /// A row of the table of states: what holds, days after the token was made, and the state.
    struct StateRow: Sendable {
        let facts: Set<String>
        let days: Int64
        let state: ExternalToken.State

        init(_ facts: Set<String>, _ days: Int64, _ state: ExternalToken.State) {
            self.facts = facts
            self.days = days
            self.state = state
        }
    }

    private static let states: [StateRow] = [
        StateRow([], 0, .waiting), StateRow([], 8, .due), StateRow(["awaitsOrder"], 8, .waiting),
        StateRow(["hasAccepted"], 8, .reported), StateRow(["isPending", "hasAccepted"], 0, .due),
        StateRow(["hasItems"], 0, .due), StateRow(["isRefused", "hasAccepted", "hasItems"], 0, .refused),
    ]

    @Test(arguments: states)
    func `the state of a token follows from its facts`(_ row: StateRow) throws {
        let clock = IDSource(time: TimeSource { 0 }, random: RandomSource { Array(repeating: 1, count: $0) })
        let token = ExternalToken(
            id: clock.make(), account: try #require(AccountID("apple-iap")),
            token: ExternalPurchaseToken(
                externalPurchaseID: "SANDBOX_1", appAppleID: 7, bundleID: "com.example.app", createdAt: Self.start),
            user: nil, source: .app, dueAt: Self.start.adding(days: 8), createdAt: Self.start)
        let facts = ExternalTokenFacts(
            isPending: row.facts.contains("isPending"), isRefused: row.facts.contains("isRefused"),
            hasAccepted: row.facts.contains("hasAccepted"), hasItems: row.facts.contains("hasItems"),
            awaitsOrder: row.facts.contains("awaitsOrder"))
        #expect(token.state(facts, at: Self.start.adding(days: row.days)) == row.state)
    }
}

@Suite("Bodies of reports against Apple's published examples")
struct ExternalReportExampleTests {
    /// Apple, External Purchase Server API, "Reporting tokens with transactions"; the refund with the comma that Apple's
    /// page lacks.
    private static let examples = [
        """
        {"requestIdentifier":"1cdc286e-7389-417c-b58f-7a7d196e5bbe",
         "externalPurchaseId":"2924c319-5205-4188-831a-1ca2c00326b4","status":"LINE_ITEM","lineItems":[{
         "lineItemId":"aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa","creationDate":1706047472367,"eventType":"BUY",
         "productType":"ONE_TIME_BUY","productIdentifier":"example.one-time-buy.product","amountTaxInclusive":10000,
         "amountTaxExclusive":8000,"taxAmount":2000,"netAmountTaxExclusive":8000,"reportingCurrency":"EUR",
         "pricingCurrency":"EUR","taxCountry":"ESP","quantity":6}]}
        """,
        """
        {"requestIdentifier":"446fdfd8-2c06-4956-873c-8c449a9d61f5",
         "externalPurchaseId":"59908800-c9d3-40c3-b638-8a9c5a535654","status":"LINE_ITEM","lineItems":[{
         "lineItemId":"dddddddd-dddd-dddd-dddd-dddddddddddd","creationDate":1708639488039,"eventType":"BUY",
         "productType":"SUBSCRIPTION","productIdentifier":"example.subscription.monthly","amountTaxInclusive":10000,
         "amountTaxExclusive":8000,"taxAmount":2000,"netAmountTaxExclusive":8000,"reportingCurrency":"EUR",
         "pricingCurrency":"EUR","taxCountry":"ESP","subscriptionEvent":"RENEWAL",
         "subscriptionStartDate":1708639488039,"subscriptionEndDate":1711231488039,
         "subscriptionDaysOfPaidService":30,"quantity":1,
         "referenceLineItemId":"cccccccc-cccc-cccc-cccc-cccccccccccc"}]}
        """,
        """
        {"requestIdentifier":"b598cbea-c0a8-44cb-bb0e-abb12ed59cb9",
         "externalPurchaseId":"2924c319-5205-4188-831a-1ca2c00326b4","status":"LINE_ITEM","lineItems":[{
         "lineItemId":"bbbbbbbb-bbbb-bbbb-bbbb-bbbbbbbbbbbb","creationDate":1706047491127,"eventType":"REFUND",
         "amountTaxInclusive":2500,"amountTaxExclusive":2000,"taxAmount":500,"netAmountTaxExclusive":6000,
         "reportingCurrency":"EUR","pricingCurrency":"EUR","taxCountry":"ESP",
         "referenceLineItemId":"aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"}]}
        """,
        """
        {"requestIdentifier":"87e7d6d1-b98d-4a8f-b6a4-41ba992a6cad","externalPurchaseId":"id from notification",
         "status":"NO_LINE_ITEM"}
        """,
        """
        {"requestIdentifier":"94d0d7fb-c393-4813-92eb-9614e7540f6d","externalPurchaseId":"id from notification",
         "status":"UNRECOGNIZED_TOKEN"}
        """,
        """
        {"requestIdentifier":"e1db8b5e-cbd2-4fe6-ae2b-d92ba5b12c41","externalPurchaseId":"id from notification",
         "status":"DUPLICATE_TOKEN"}
        """,
    ]

    @Test(arguments: examples)
    func `our body says the same, member by member`(_ example: String) throws {
        let wanted = try JSONDecoder().decode(JSONValue.self, from: Data(example.utf8))
        let read = try JSONDecoder().decode(ExternalReportBody.self, from: Data(example.utf8))
        let written = try JSONDecoder().decode(JSONValue.self, from: try JSONText.encoded(read))
        #expect(written == wanted)
    }

    @Test
    func `a purchase, a renewal and a partial refund are composed as in the examples`() throws {
        let eur = try #require(Currency("EUR"))
        func fact(_ kind: ExternalFact.Kind, _ letter: String) -> ExternalFact {
            let line = [8, 4, 4, 4, 12].map { String(repeating: letter, count: $0) }.joined(separator: "-")
            return ExternalFact(kind: kind, id: letter, lineItemID: line)
        }
        let paidAt = Timestamp(1_706_047_472)
        let refund = ExternalPurchase.Return(
            fact: fact(.refund, "b"), at: Timestamp(1_706_047_491), amount: Money(value: 250, currency: eur))
        let purchase = ExternalPurchase(
            fact: fact(.payment, "a"), product: "example.one-time-buy.product", quantity: 6, paidAt: paidAt,
            amount: Money(value: 1_000, currency: eur), taxRate: 2_500, taxCountry: "ESP", period: nil,
            returns: [refund])
        let bought = ExternalReportRules.nextItems([purchase], accepted: [], at: paidAt)
        let refunded = ExternalReportRules.nextItems([purchase], accepted: bought, at: paidAt)
        let period = ExternalPurchase.Period(
            event: .renewal, start: Timestamp(1_708_639_488), end: Timestamp(1_711_231_488), daysOfPaidService: 30,
            startLineItemID: fact(.payment, "c").lineItemID)
        let renewal = ExternalPurchase(
            fact: fact(.payment, "d"), product: "example.subscription.monthly", quantity: 1,
            paidAt: Timestamp(1_708_639_488), amount: Money(value: 1_000, currency: eur), taxRate: 2_500,
            taxCountry: "ESP", period: period, returns: [])
        let renewed = ExternalReportRules.nextItems([renewal], accepted: [], at: paidAt)
        for (items, index) in [(bought, 0), (renewed, 1), (refunded, 2)] {
            var example = try #require(
                try JSONDecoder().decode(ExternalReportBody.self, from: Data(Self.examples[index].utf8)).lineItems?
                    .first)
            // Apple's dates have milliseconds; Paydesk's times are whole seconds.
            example.creationDate -= example.creationDate % 1_000
            example.subscriptionStartDate = example.subscriptionStartDate.map { $0 - $0 % 1_000 }
            example.subscriptionEndDate = example.subscriptionEndDate.map { $0 - $0 % 1_000 }
            #expect(items.map(\.item) == [example])
        }
    }
}
