import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Consumption requests")
struct ConsumptionTests {
    static let catalogue = """
        [
        {"id": "c_units", "name": "Units", "kind": "consumable", "prices": [{"currency": "CNY", "value": 600}],
         "units": {"chips": 10}, "consumption": "decline", "apple_product_ids": ["com.example.c.units"]},
        {"id": "c_pass", "name": "Pass", "kind": "non_renewing", "tier": "C", "rank": 1, "duration_days": 30,
         "prices": [{"currency": "CNY", "value": 600}], "consumption": "grant_full",
         "apple_product_ids": ["com.example.c.pass"]},
        {"id": "c_auto", "name": "Auto", "kind": "subscription", "tier": "C", "rank": 1, "duration_days": 30,
         "prices": [{"currency": "CNY", "value": 600}], "consumption": "no_preference",
         "apple_product_ids": ["com.example.c.auto"]},
        {"id": "c_ever", "name": "For ever", "kind": "non_consumable", "prices": [{"currency": "CNY", "value": 600}],
         "consumption": "decline", "apple_product_ids": ["com.example.c.ever"]},
        {"id": "c_quiet", "name": "Quiet", "kind": "consumable", "prices": [{"currency": "CNY", "value": 600}],
         "units": {"chips": 10}, "apple_product_ids": ["com.example.c.quiet"]}
        ]
        """

    /// A purchase whose refund is asked for, and what Apple is told then.
    struct Case: Sendable, CustomTestStringConvertible {
        let product: String
        let kind: String
        /// What the customer says with each attach.
        var words: [Bool?] = [true]
        var spent: Int64 = 0
        var days: Int64 = 0
        var environment = "Production"
        /// The members beside the two that are always the same; nil: nothing is sent.
        var told: String?
        let line: String

        var testDescription: String { "\(product) \(words) \(spent) \(days) \(environment)" }
    }

    static let cases = [
        Case(
            product: "units", kind: AppleSale.consumable, spent: 4,
            told: #""consumptionPercentage":40000,"deliveryStatus":"DELIVERED","refundPreference":"DECLINE""#,
            line: "delivered, 40 % used"),
        Case(
            product: "units", kind: AppleSale.consumable,
            told: #""consumptionPercentage":0,"deliveryStatus":"DELIVERED","refundPreference":"DECLINE""#,
            line: "delivered, 0 % used"),
        Case(
            product: "pass", kind: AppleSale.pass, days: 15,
            told: #""consumptionPercentage":50000,"deliveryStatus":"DELIVERED","refundPreference":"GRANT_FULL""#,
            line: "delivered, 50 % used"),
        Case(
            product: "pass", kind: AppleSale.pass, days: 60,
            told: #""consumptionPercentage":100000,"deliveryStatus":"DELIVERED","refundPreference":"GRANT_FULL""#,
            line: "delivered, 100 % used"),
        Case(
            product: "auto", kind: AppleSale.subscription, days: 3,
            told: #""consumptionPercentage":10000,"deliveryStatus":"DELIVERED""#,
            line: "delivered, 10 % used"),
        Case(
            product: "ever", kind: AppleSale.nonConsumable, days: 3,
            told: #""deliveryStatus":"DELIVERED","refundPreference":"DECLINE""#,
            line: "delivered, use not known"),
        Case(
            product: "pass", kind: AppleSale.pass, environment: "Sandbox",
            told: #""consumptionPercentage":0,"deliveryStatus":"UNDELIVERED_OTHER","refundPreference":"GRANT_FULL""#,
            line: "not delivered, 0 % used"),
        Case(
            product: "units", kind: AppleSale.consumable, words: [true, nil],
            told: #""consumptionPercentage":0,"deliveryStatus":"DELIVERED","refundPreference":"DECLINE""#,
            line: "delivered, 0 % used"),
        Case(
            product: "units", kind: AppleSale.consumable, words: [true, false], line: "the customer has not consented"),
        Case(product: "units", kind: AppleSale.consumable, words: [nil], line: "the customer has not consented"),
        Case(product: "quiet", kind: AppleSale.consumable, line: "the SKU's consumption is ignore"),
    ]

    @Test(arguments: TestEngine.allCases, cases)
    func `a store is told what the SKU and the customer allow, and the order says what it was told`(
        _ engine: TestEngine, _ row: Case
    ) async throws {
        try await withAppleDesk(on: engine) { desk in
            let appStore = ScriptedAppStore(.reply("", status: 202))
            let apple = try await Self.desk(desk, appStore, entitles: row.environment == "Production")
            let sale = apple.sale("com.example.c.\(row.product)", row.kind) {
                $0.environment = row.environment
                if row.kind == AppleSale.subscription { $0.expires = $0.purchased + 30 * 86_400_000 }
            }
            var order = ""
            for word in row.words { order = try await apple.attach(sale, consent: word).order_id }
            if row.spent > 0 {
                _ = try await apple.gateway.wallets.debit(
                    row.spent, of: "chips", from: GatewayFixture.user("alice"), reason: "", context: .test)
            }
            let notice = AppleNotice("CONSUMPTION_REQUEST", nil, sale, at: apple.now)
            for _ in 0..<2 { try await apple.notify(notice) }
            let left = sale.purchasedAt.adding(days: row.days).rawValue - apple.now.rawValue
            if left > 0 { apple.desk.clock.advance(seconds: left) }
            try await apple.answer()
            let always = [#""customerConsented":true"#, #""sampleContentProvided":false"#]
            let path =
                "PUT \(row.environment == "Sandbox" ? "sand" : "prod").example/inApps/v2/transactions/consumption/"
            #expect(appStore.paths == (row.told == nil ? [] : [path + sale.id]))
            for body in appStore.bodies {
                let members = body.dropFirst().dropLast().split(separator: ",").map(String.init)
                let told = try #require(row.told).split(separator: ",").map(String.init)
                #expect(Set(members) == Set(told + always))
            }
            #expect(try await apple.lines(order) == [row.line])
            #expect(try await apple.desk.count("audit WHERE action = 'consumption.answered'") == appStore.sent.count)
            #expect(try await apple.desk.count("jobs WHERE kind = 'answer_consumption'") == 0)
            // What the merchant would like is not for the customer to read.
            let history = try await apple.gateway.orders.find(order).timeline
            #expect(!history.contains { $0.detail.contains("grant_full") || $0.detail.contains("decline") })
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what was said of one transaction holds for the later ones, and for nobody else`(
        _ engine: TestEngine
    ) async throws {
        try await withAppleDesk(on: engine) { desk in
            let appStore = ScriptedAppStore(.reply("", status: 202))
            let apple = try await Self.desk(desk, appStore)
            func period(_ number: Int64) -> AppleSale {
                apple.period("said", from: number * 30, days: 30, "com.example.c.auto") { $0.isRenewal = number > 0 }
            }
            let (first, second) = (period(0), period(1))
            try await apple.attach(first, consent: true)
            await #expect(throws: GatewayError.purchaseBelongsToAnotherUser) {
                try await apple.attach(first, user: "bob", consent: false)
            }
            try await apple.notify(AppleNotice("DID_RENEW", nil, second, at: apple.now))
            try await apple.notify(AppleNotice("CONSUMPTION_REQUEST", nil, second, at: apple.now))
            try await apple.answer()
            #expect(appStore.paths.map { $0.suffix(second.id.count) } == [second.id.suffix(second.id.count)])
            // A user whom Apple's token names takes the purchase over, and has said nothing.
            let token = try await apple.token("bob")
            let third = period(2).with { $0.token = token }
            try await apple.notify(AppleNotice("DID_RENEW", nil, third, at: apple.now))
            try await apple.notify(AppleNotice("CONSUMPTION_REQUEST", nil, third, at: apple.now))
            try await apple.answer()
            #expect(appStore.sent.count == 1)
            try await apple.attach(third, user: "bob", consent: true)
            try await apple.notify(AppleNotice("CONSUMPTION_REQUEST", nil, third, at: apple.now))
            try await apple.answer()
            #expect(appStore.sent.count == 2)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a consent that is taken back before the answer counts, and so does an erasure`(
        _ engine: TestEngine
    ) async throws {
        try await withAppleDesk(on: engine) { desk in
            let appStore = ScriptedAppStore(.reply("", status: 202))
            let apple = try await Self.desk(desk, appStore)
            let (one, other) = (apple.units(), apple.units())
            let order = try await apple.attach(one, consent: true).order_id
            let erased = try await apple.attach(other, user: "bob", consent: true).order_id
            for sale in [one, other] {
                try await apple.notify(AppleNotice("CONSUMPTION_REQUEST", nil, sale, at: apple.now))
            }
            try await apple.attach(one, consent: false)
            _ = try await apple.gateway.users.erase(GatewayFixture.user("bob"), context: .test)
            try await apple.answer()
            #expect(appStore.sent.isEmpty)
            #expect(try await apple.lines(order) == ["the customer has not consented"])
            #expect(try await apple.lines(erased) == ["the customer has not consented"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `without a key nothing is sent, and the order says so`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            _ = try await apple.gateway.catalogue.merge(try Self.skus(), context: .test)
            let sale = apple.units()
            let order = try await apple.attach(sale, consent: true).order_id
            try await apple.notify(AppleNotice("CONSUMPTION_REQUEST", nil, sale, at: apple.now))
            try await apple.answer()
            #expect(try await apple.lines(order) == ["the account has no key to answer with"])
            #expect(apple.desk.transport.sent.isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what apple refuses for good is not sent again`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { desk in
            let appStore = ScriptedAppStore(.refusal(4_000_047))
            let apple = try await Self.desk(desk, appStore)
            let sale = apple.units()
            let order = try await apple.attach(sale, consent: true).order_id
            try await apple.notify(AppleNotice("CONSUMPTION_REQUEST", nil, sale, at: apple.now))
            try await apple.answer()
            try await apple.desk.pass(seconds: 86_400)
            try await apple.answer()
            #expect(appStore.sent.count == 1)
            #expect(try await apple.lines(order).first?.contains("takes no consumption information") == true)
            #expect(try await apple.desk.count("audit WHERE action = 'consumption.refused'") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an answer is tried again for the twelve hours that apple waits, and not after them`(
        _ engine: TestEngine
    ) async throws {
        try await withAppleDesk(on: engine) { desk in
            let appStore = ScriptedAppStore(.failure(.notSent))
            let apple = try await Self.desk(desk, appStore)
            let sale = apple.units()
            let order = try await apple.attach(sale, consent: true).order_id
            try await apple.notify(AppleNotice("CONSUMPTION_REQUEST", nil, sale, at: apple.now))
            for _ in 0..<13 {
                try await apple.answer()
                #expect(try await apple.lines(order).isEmpty)
                #expect(try await apple.desk.count("jobs WHERE kind = 'answer_consumption'") == 1)
                try await apple.desk.pass(seconds: 3_300)
                try await apple.desk.store.write { tx in
                    try tx.execute("UPDATE jobs SET run_at = 0 WHERE kind = 'answer_consumption'")
                }
            }
            try await apple.desk.pass(seconds: 3_600)
            try await apple.answer()
            // Each run tries four times.
            #expect(appStore.sent.count == 14 * 4)
            #expect(try await apple.lines(order) == ["the store could not be reached in time"])
            #expect(try await apple.desk.count("jobs WHERE kind = 'answer_consumption'") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a question under a further id of a purchase is answered under that id`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { desk in
            let appStore = ScriptedAppStore(.reply("", status: 202))
            let apple = try await Self.desk(desk, appStore)
            let month = apple.sale("com.example.c.auto", AppleSale.subscription) {
                ($0.id, $0.expires) = ("1000", $0.purchased + 30 * 86_400_000)
            }
            let again = month.with { ($0.id, $0.original) = ("1001", "1000") }
            let order = try await apple.attach(month, consent: true).order_id
            try await apple.attach(again, consent: true)
            try await apple.notify(AppleNotice("CONSUMPTION_REQUEST", nil, again, at: apple.now))
            apple.desk.clock.advance(days: 3)
            try await apple.answer()
            #expect(appStore.paths.map { $0.suffix(17) } == ["consumption/1001"].map { "/\($0)".suffix(17) })
            #expect(appStore.bodies.allSatisfy { $0.contains(#""deliveryStatus":"DELIVERED""#) })
            #expect(try await apple.lines(order) == ["delivered, 10 % used"])
        }
    }

    @Test
    func `the tries reach into the twelve hours, and not beyond them`() {
        let kind = JobKind.answerConsumption
        #expect((11 * 3_600...12 * 3_600).contains(kind.backOff.reduce(0, +)) && !kind.isEndless)
        #expect(JobRunner.Lane.all.flatMap(\.kinds).contains(kind))
    }

    private static func skus() throws -> [SKU] {
        try JSONDecoder().decode([SKU].self, from: Data(catalogue.utf8))
    }

    private static func desk(
        _ apple: AppStoreGatewayFixture, _ appStore: ScriptedAppStore, entitles: Bool = true
    ) async throws -> AppStoreGatewayFixture {
        _ = try await apple.gateway.catalogue.merge(try skus(), context: .test)
        return try apple.asking(appStore, entitles: entitles ? "all" : "none")
    }
}

extension AppStoreGatewayFixture {
    fileprivate func units() -> AppleSale { sale("com.example.c.units", AppleSale.consumable) }

    @discardableResult
    fileprivate func attach(_ sale: AppleSale, user: String = "alice", consent: Bool?) async throws -> AttachedPurchase
    {
        desk.clock.tick()
        return try await gateway.purchases.attach(
            .signedTransaction(sale.jws), fallback: nil, consent: consent, user: GatewayFixture.user(user),
            context: .test)
    }

    /// Runs the notifications' jobs and the answers that are due.
    fileprivate func answer() async throws {
        for kind in [JobKind.processNotification, .answerConsumption] {
            for job in try await gateway.jobQueue.claim([kind], limit: 50) { await gateway.worker.perform(job) }
        }
    }

    /// What an order's history says of consumption.
    fileprivate func lines(_ order: String) async throws -> [String] {
        try await gateway.orders.find(order).timeline.filter { $0.type.hasPrefix("consumption.") }.map(\.detail)
    }
}
