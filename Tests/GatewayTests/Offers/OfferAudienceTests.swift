import Foundation
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Offers: who gets one")
struct OfferAudienceTests {
    /// The story of a reader, and the audiences that the reader is in.
    struct Story: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let offers: Set<String>
        let tell: @Sendable (NewsFixture) async throws -> Void

        init(_ description: String, _ offer: String, _ tell: @escaping @Sendable (NewsFixture) async throws -> Void) {
            testDescription = description
            offers = ["spring", offer]
            self.tell = tell
        }
    }

    private static func fail(_ desk: NewsFixture, _ sale: AppleSale, graceDays: Int64?) async throws {
        let renewal = AppleRenewal(sale, signed: desk.apple.now.rawValue * 1_000) {
            $0.isInRetry = true
            $0.graceEnds = graceDays.map { sale.purchased + (30 + $0) * 86_400_000 }
        }
        try await desk.apple.notify(AppleNotice("DID_FAIL_TO_RENEW", nil, sale, renewal, at: desk.apple.now))
    }

    static let stories = [
        Story("nothing", "welcome") { _ in },
        Story("a pass", "welcome") { try await $0.apple.attach($0.apple.sale()) },
        Story("a subscription of another group", "welcome") { try await $0.subscribe("com.example.pro.auto") },
        Story("one that runs", "thanks") { try await $0.subscribe() },
        Story("another SKU's that runs", "thanks") { try await $0.subscribe(NewsFixture.plus) },
        Story("one in its grace period", "thanks") {
            try await fail($0, try await $0.subscribe(days: 31), graceDays: 6)
        },
        Story("one in billing retry", "back") { try await fail($0, try await $0.subscribe(days: 31), graceDays: nil) },
        Story("one that has ended", "back") { try await $0.subscribe(days: 31) },
        Story("one that was refunded", "back") { desk in
            let sale = try await desk.subscribe()
            let gone = sale.signedAgain(after: 60) { $0.revoked = $0.signed }
            try await desk.apple.notify(AppleNotice("REFUND", nil, gone, at: desk.apple.now))
        },
        Story("one that moved to somebody else", "back") { desk in
            let sale = try await desk.subscribe()
            _ = try await desk.apple.gateway.purchases.transfer(
                sale.id, to: GatewayFixture.user("bob"), environment: nil, context: .test)
        },
        Story("one that Paydesk renews", "thanks") { desk in
            let contract = try await desk.apple.desk.checkout("news_here", user: "alice")
            _ = try await desk.apple.desk.gateway.payPages.act(
                kind: "sandbox", payment: contract.payment?.rawValue ?? "",
                form: ["outcome": "succeed", "terms": "accepted"])
            try await desk.apple.desk.notify("payment.succeeded", contract)
        },
        Story("a period that was bought elsewhere", "thanks") { try await $0.apple.desk.buy("news") },
        Story("a period that was bought elsewhere and has ended", "back") { desk in
            try await desk.apple.desk.buy("news")
            try await desk.apple.desk.pass(seconds: 31 * 86_400)
        },
    ]

    @Test(arguments: TestEngine.allCases, stories)
    func `an offer is signed for its audience alone`(_ engine: TestEngine, _ story: Story) async throws {
        try await withNews(on: engine) { desk in
            try await story.tell(desk)
            for id in ["spring", "welcome", "back", "thanks"] {
                let refusal = try await desk.refusal(id)
                #expect(refusal == (story.offers.contains(id) ? nil : .notEligible), "\(id)")
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `facts of the named transaction's environment count alone`(_ engine: TestEngine) async throws {
        try await withNews(on: engine) { desk in
            let real = try await desk.subscribe(days: 100)
            let played = desk.apple.sale { $0.environment = "Sandbox" }
            try await desk.apple.attach(played)
            #expect(try await desk.refusal("welcome", transaction: played.id) == nil)
            #expect(try await desk.refusal("welcome", transaction: real.id) == .notEligible)
            #expect(try await desk.refusal("welcome") == .notEligible)
            #expect(try await desk.refusal("back", transaction: played.id) == .notEligible)
            #expect(try await desk.mayHaveIntroductory(played.id))
            #expect(try await !desk.mayHaveIntroductory(real.id))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an introductory offer is for those who never had one`(_ engine: TestEngine) async throws {
        try await withNews(on: engine) { desk in
            let pass = desk.apple.sale()
            try await desk.apple.attach(pass)
            #expect(try await desk.mayHaveIntroductory(pass.id))
            let old = try await desk.subscribe(NewsFixture.plus, days: 200)
            for id in [pass.id, old.id, "704\(old.id)"] { #expect(try await !desk.mayHaveIntroductory(id)) }
            await #expect(throws: GatewayError.unknown(.purchase, old.id)) {
                try await desk.mayHaveIntroductory(old.id, user: "bob")
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a call names a product and an offer of it, an app, and an own transaction`(_ engine: TestEngine) async throws
    {
        try await withNews(on: engine) { desk in
            let own = try await desk.subscribe()
            let other = try await desk.subscribe(user: "bob")
            #expect(try await desk.refusal(transaction: own.id) == nil)
            #expect(try await desk.refusal(transaction: "704\(own.id)") == nil)
            for id in [other.id, "704\(other.id)", "2000000999999999"] {
                #expect(try await desk.refusal(transaction: id) == .unknown(.purchase, id))
            }
            #expect(try await desk.refusal("spring", "com.example.none") == .productNotSold("com.example.none"))
            #expect(try await desk.refusal("spring", "com.example.news.year") == .unknown(.offer, "spring"))
            #expect(try await desk.refusal(bundle: "com.example.app") == nil)
            let app = try await desk.refusal(bundle: "com.example.other")
            #expect(app == .invalidRequest(field: "bundle_id", reason: "must name one of the apps"))
            _ = try await desk.apple.gateway.catalogue.archive("news", context: .test)
            #expect(try await desk.refusal() == .productNotSold(NewsFixture.month))
        }
    }

    @Test func `one of several apps is named`() async throws {
        try await withNews(on: .sqlite, bundles: ["com.example.app", "com.example.second"]) { desk in
            let unnamed = try await desk.refusal()
            #expect(unnamed == .invalidRequest(field: "bundle_id", reason: "must name one of the apps"))
            #expect(try await desk.refusal(bundle: "com.example.second") == nil)
        }
    }

    @Test func `without a key nothing is signed`() async throws {
        try await withNews(on: .sqlite, hasKey: false) { desk in
            let refusal = try await desk.refusal()
            #expect(refusal == .noProviderAvailable)
        }
    }
}
