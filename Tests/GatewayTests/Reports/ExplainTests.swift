import Foundation
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Why a user owns what the user owns")
struct ExplainTests {
    /// Something that happened to Alice, and how it is told; `{n}` is the day so many days after the beginning.
    struct Story: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var sku: String?
        var reader = Explanation.Reader.staff
        var setup = AppStoreGatewayFixtureSetup()
        let happen: @Sendable (AppStoreGatewayFixture) async throws -> Void
        var active = false
        let types: [String]
        /// The facts and, last, the conclusion.
        let english: [String]
        let chinese: [String]
    }

    @Test(arguments: TestEngine.allCases, stories)
    func `a story is told in both languages`(_ engine: TestEngine, _ story: Story) async throws {
        try await withAppleDesk(on: engine, story.setup) { apple in
            // Not right before midnight, where a second is a day.
            if apple.now.rawValue % 86_400 > 86_000 { apple.desk.clock.advance(seconds: 1_000) }
            let start = apple.now
            try await story.happen(apple)
            for (languages, expected) in [
                (["en"], story.english), ([], story.english), (["fr", "zh-CN", "en"], story.chinese),
                (["zh-Hans"], story.chinese),
            ] {
                let told = try await apple.gateway.reports.explain(
                    user: GatewayFixture.user("alice"), sku: story.sku, reader: story.reader, languages: languages)
                #expect(told.facts.map(\.type) == story.types)
                #expect(told.facts.map(\.text) + [told.conclusion] == expected.map { Self.dated($0, from: start) })
                #expect(told.active == story.active && told.sku == story.sku && told.user == "alice")
                #expect(told.facts.map(\.at) == told.facts.map(\.at).sorted())
                #expect(told.facts.allSatisfy { $0.at <= apple.now })
                #expect(!told.facts.contains { $0.text.contains("usr_") || $0.text.contains("key_") })
            }
        }
    }

    /// The text with every `{n}` made a date, by other means than the code under test.
    private static func dated(_ text: String, from start: Timestamp) -> String {
        text.replacing(/\{(\d+)\}/) { match in
            let days = Double(match.1) ?? 0
            let date = Date(timeIntervalSince1970: Double(start.rawValue) + days * 86_400)
            return date.formatted(.iso8601.year().month().day())
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `facts name their order and grant, but never another user's`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let token = try await apple.token("bob")
            let first = try await apple.attach(apple.period("moving", from: 0))
            apple.desk.clock.advance(days: 1)
            _ = try await apple.refusal(apple.period("moving", from: 0) { $0.token = token })
            func told(_ user: String) async throws -> Explanation {
                try await apple.gateway.reports.explain(
                    user: GatewayFixture.user(user), sku: nil, reader: .staff, languages: [])
            }
            let (hers, his) = (try await told("alice"), try await told("bob"))
            #expect(hers.facts.first?.order?.rawValue == first.order_id)
            #expect(his.facts.map(\.type).contains("purchase.transferred"))
            #expect(!his.facts.contains { $0.order?.rawValue == first.order_id })
            let grant = try #require(try await apple.grants("bob").first)
            #expect(his.facts.compactMap(\.grant) == [grant.id] && hers.facts.compactMap(\.grant).isEmpty)
            // What became of it since is not hers to know.
            let count = hers.facts.count
            apple.desk.clock.advance(days: 1)
            let refunded = apple.period("moving", from: -1) {
                $0.token = token
                $0.signed = apple.now.rawValue * 1_000
                $0.revoked = $0.signed
            }
            _ = try await apple.refusal(refunded, user: "bob")
            #expect(try await told("alice").facts.count == count)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an unknown SKU is not found, and long histories are cut`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            for sku in ["nothing", "No SKU", ""] {
                await #expect(throws: GatewayError.skuNotFound(sku)) {
                    try await desk.gateway.reports.explain(
                        user: GatewayFixture.user("alice"), sku: sku, reader: .user, languages: [])
                }
            }
            try await desk.buyForReal("coins", quantity: 10)
            for _ in 0..<210 {
                _ = try await desk.gateway.wallets.debit(
                    1, of: "coins", from: GatewayFixture.user("alice"), reason: "", context: .test)
            }
            let told = try await desk.gateway.reports.explain(
                user: GatewayFixture.user("alice"), sku: nil, reader: .user, languages: [])
            #expect(told.facts.first?.type == "earlier" && told.facts.count < 210)
            #expect(told.conclusion.hasSuffix("The balance of coins is 790. The balance of stars is 10."))
        }
    }
}
