import Domain
import Foundation
import TestSupport
import Testing

@testable import Gateway

@Suite("What is free, and what waits")
struct FreeOnceTests {
    private static func sku(_ id: String, _ kind: String, _ once: String?) throws -> SKU {
        let word = once.map { #","once":"\#($0)""# } ?? ""
        let gift = kind == "consumable" ? #""units":{"gifts":5}"# : #""tier":"Basic","rank":5,"duration_days":2"#
        let json = """
            {"id":"\(id)","name":"Free","kind":"\(kind)",\(gift),"prices":[{"currency":"CNY","value":0}]\(word)}
            """
        return try JSONDecoder().decode(SKU.self, from: Data(json.utf8))
    }

    /// How often it is free (nil: as a catalogue of the release before says it), whether it is given a second time, and
    /// whether again when what was given has been taken back.
    static let words: [(kind: String, once: String?, again: Bool, afterwards: Bool)] = [
        ("consumable", nil, false, false), ("consumable", "ever", false, false), ("consumable", "none", true, true),
        ("consumable", "running", true, true), ("non_renewing", "ever", false, false),
        ("non_renewing", "running", false, true), ("non_renewing", "none", true, true),
    ]

    @Test(arguments: TestEngine.allCases, words)
    func `a free thing is free as often as it says`(
        _ engine: TestEngine, _ word: (kind: String, once: String?, again: Bool, afterwards: Bool)
    ) async throws {
        try await withDesk(on: engine) { desk in
            let made = try await desk.gateway.catalogue.create(
                try Self.sku("gift", word.kind, word.once), context: .test)
            #expect(made.once.rawValue == word.once ?? "ever")
            func take(_ user: String = "alice") async throws -> Bool {
                do {
                    return try await desk.checkout("gift", user: user, provider: nil).instruction == .none
                } catch GatewayError.alreadyOwned {
                    return false
                }
            }
            #expect(try await take())
            #expect(try await take() == word.again)
            for grant in try await desk.snapshot().entitlements {
                _ = try await desk.gateway.grants.revoke(grant.id.rawValue, context: .test)
            }
            #expect(try await take() == word.afterwards)
            #expect(try await take("bob"))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `of many at once one gets it`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            _ = try await desk.gateway.catalogue.create(try Self.sku("gift", "consumable", "ever"), context: .test)
            let taken = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<12 {
                    group.addTask { (try? await desk.checkout("gift", provider: nil)) != nil }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(taken == 1)
            #expect(try await desk.snapshot().balances == ["gifts": 5])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a user has at most 20 open orders`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let opened = await withTaskGroup(of: PaymentContract?.self) { group in
                for _ in 0..<24 { group.addTask { try? await desk.checkout("coins") } }
                return await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
            }
            #expect(opened.count == 20)
            func isRefused(_ user: String = "alice") async throws -> Bool {
                do {
                    _ = try await desk.checkout("coins", user: user)
                    return false
                } catch GatewayError.conflict {
                    return true
                }
            }
            #expect(try await isRefused())
            #expect(try await !isRefused("bob"))
            let first = try #require(opened.first)
            _ = try await desk.gateway.orderClosing.cancel(
                first.order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            #expect(try await !isRefused())
            #expect(try await isRefused())
            // What is free waits for no payment, and one that has expired waits for none any more.
            _ = try await desk.checkout("trial", provider: nil)
            desk.clock.advance(seconds: 3_600)
            #expect(try await !isRefused())
        }
    }
}
