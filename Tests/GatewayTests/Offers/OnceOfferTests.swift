import Foundation
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Offers that are redeemed once")
struct OnceOfferTests {
    @Test(arguments: TestEngine.allCases, OfferFormat.allCases)
    func `one answer lives for a day`(_ engine: TestEngine, _ format: OfferFormat) async throws {
        try await withNews(on: engine) { desk in
            let answers = try await withThrowingTaskGroup(of: SignedOffer.self) { group in
                for _ in 0..<20 { group.addTask { try await desk.sign("single", format: format) } }
                return try await group.reduce(into: [SignedOffer]()) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0 == answers[0] })
            let signed = { try await desk.apple.desk.count("audit WHERE action = 'offer.signed'") }
            #expect(try await signed() == 1)
            try await desk.apple.desk.pass(seconds: 86_400 - 60)
            #expect(try await desk.sign("single", format: format) == answers[0])
            try await desk.apple.desk.pass(seconds: 120)
            let next = try await desk.sign("single", format: format)
            #expect(next != answers[0])
            #expect(try await signed() == 2)
            #expect(try await desk.sign("single", format: format) == next)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `it is by user and form, and without once every call signs anew`(_ engine: TestEngine) async throws {
        try await withNews(on: engine) { desk in
            let one = try await desk.sign("single")
            let others = try await [desk.sign("single", format: .v1), desk.sign("single", user: "bob"), desk.sign()]
            #expect(!others.contains(one) && others[0] != others[1])
            #expect(try await desk.sign() != others[2])
            #expect(try await desk.apple.desk.count("offer_signatures") == 3)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a redemption ends it, and nothing before`(_ engine: TestEngine) async throws {
        try await withNews(on: engine) { desk in
            let first = try await desk.sign("single")
            try await desk.subscribe()
            #expect(try await desk.sign("single") == first)
            try await desk.subscribe(user: "bob") {
                $0.more["offerType"] = .integer(2)
                $0.more["offerIdentifier"] = .string("single")
            }
            #expect(try await desk.sign("single") == first)
            try await desk.subscribe {
                $0.more["offerType"] = .integer(2)
                $0.more["offerIdentifier"] = .string("single")
            }
            #expect(try await desk.refusal("single") == .notEligible)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the same id of another product, and a code of that name, redeem another offer`(
        _ engine: TestEngine
    ) async throws {
        try await withNews(on: engine) { desk in
            try await desk.subscribe("com.example.news.year") {
                $0.more["offerType"] = .integer(2)
                $0.more["offerIdentifier"] = .string("single")
            }
            try await desk.subscribe {
                $0.more["offerType"] = .integer(3)
                $0.more["offerIdentifier"] = .string("single")
            }
            #expect(try await desk.refusal("single") == nil)
            #expect(try await desk.refusal("single", "com.example.news.year") == .notEligible)
        }
    }

    @Test func `the answer is sealed again with the other secrets`() async throws {
        try await withNews(on: .sqlite) { desk in
            let signed = try await desk.sign("single")
            let resealed = try await desk.apple.gateway.secrets.reseal()
            #expect(resealed.closed == 0)
            #expect(try await desk.sign("single") == signed)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the answer is stored sealed, and goes with the day and with the person`(
        _ engine: TestEngine
    ) async throws {
        try await withNews(on: engine) { desk in
            guard case .token(let jws) = try await desk.sign("single") else { return }
            let stored = try await desk.apple.store.read { db in
                try db.rows("SELECT answer FROM offer_signatures").first?.blob("answer") ?? Data()
            }
            #expect(!stored.isEmpty && stored.range(of: Data(jws.utf8)) == nil)
            _ = try await desk.sign("single", user: "bob")
            _ = try await desk.apple.gateway.users.erase(GatewayFixture.user("bob"), context: .test)
            #expect(try await desk.apple.desk.count("offer_signatures") == 1)
            _ = try await desk.apple.gateway.retention.apply()
            #expect(try await desk.apple.desk.count("offer_signatures") == 1)
            try await desk.apple.desk.pass(seconds: 86_401)
            _ = try await desk.apple.gateway.retention.apply()
            #expect(try await desk.apple.desk.count("offer_signatures") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `each signature is audited without being shown`(_ engine: TestEngine) async throws {
        try await withNews(on: engine) { desk in
            let signed = try await desk.sign("welcome", format: .v1)
            let entries = try await desk.apple.gateway.auditLog.list(
                subject: nil, user: GatewayFixture.user("alice"), cursor: nil, limit: 10
            ).items
            #expect(
                entries.map(\.after) == ["welcome of \(NewsFixture.month) in com.example.app, v1"]
                    && entries.map(\.action) == ["offer.signed"])
            guard case .legacy(let parts) = signed else { return }
            #expect(try await parts.application_username == desk.apple.token())
            #expect(parts.timestamp / 1_000 == desk.apple.now.rawValue)
        }
    }
}
