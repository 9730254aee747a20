import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Meters")
struct UsageTests {
    @Test(arguments: TestEngine.allCases)
    func `of 24 clients who race for ten units ten get one`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let results = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<24 {
                    group.addTask {
                        do {
                            _ = try await desk.gateway.meters.consume(
                                "messages", amount: 1, user: GatewayFixture.user("alice"), context: .test)
                            return true
                        } catch GatewayError.usageLimitReached { return false }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.count(where: \.self) == 10)
            let usage = try await desk.gateway.meters.usage(of: "messages", user: GatewayFixture.user("alice"))
            #expect(usage.used == 10)
            #expect(usage.remaining == 0)
            #expect(usage.limit == 10)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a tier lifts the limit, the next day empties the meter`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let gateway = desk.gateway
            func consume(_ amount: Int64) async throws -> Usage {
                try await gateway.meters.consume(
                    "messages", amount: amount, user: GatewayFixture.user("alice"), context: .test)
            }
            #expect(try await consume(9).remaining == 1)
            let error = await #expect(throws: GatewayError.self) { try await consume(2) }
            let resetsAt = try await gateway.meters.usage(of: "messages", user: GatewayFixture.user("alice")).resetsAt
            #expect(error == .usageLimitReached(retryAfter: resetsAt.rawValue - desk.clock.now.rawValue))
            // Midnight in Shanghai is 16:00 UTC.
            #expect(resetsAt.rawValue % 86_400 == 16 * 3_600)
            #expect(try await gateway.meters.usage(of: "messages", user: GatewayFixture.user("alice")).used == 9)
            try await desk.buy()
            let member = try await consume(1_000_000)
            #expect(member.limit == nil && member.remaining == nil && member.used == 1_000_009)
            desk.clock.set(resetsAt.rawValue)
            #expect(try await gateway.meters.usage(of: "messages", user: GatewayFixture.user("alice")).used == 0)
        }
    }

    @Test(arguments: TestEngine.allCases, [0, -1, 1_000_001, Int64.max])
    func `an amount out of range consumes nothing`(_ engine: TestEngine, _ amount: Int64) async throws {
        try await withDesk(on: engine) { desk in
            let error = await #expect(throws: GatewayError.self) {
                try await desk.gateway.meters.consume(
                    "messages", amount: amount, user: GatewayFixture.user("alice"), context: .test)
            }
            #expect(error?.withoutReason == .invalidRequest(field: "amount", reason: ""))
            await expectNotFound {
                try await desk.gateway.meters.consume(
                    "letters", amount: 1, user: GatewayFixture.user("alice"), context: .test)
            }
            let left = try await desk.count("usage")
            #expect(left == 0)
        }
    }
}
