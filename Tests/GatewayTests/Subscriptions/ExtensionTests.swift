import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Extensions of a renewal date")
struct ExtensionTests {
    private static let done = #"{"originalTransactionId":"given","success":true,"effectiveDate":1900000000000}"#

    /// Apple's answer, and what an admin is told.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answer: ScriptedAppStore.Answer
        let error: @Sendable (GatewayError) -> Bool
        let action: String
        /// How often Apple is asked.
        var calls = 1
        var isChecked = false
    }

    private static func conflict(_ words: String) -> @Sendable (GatewayError) -> Bool {
        { if case .conflict(let reason, nil) = $0 { reason.english.contains(words) } else { false } }
    }

    static let refusals = [
        Refusal(
            testDescription: "not paid", answer: .refusal(4_030_004),
            error: conflict("only an active, paid subscription"),
            action: "extension_refused"),
        Refusal(
            testDescription: "twice already", answer: .refusal(4_030_005), error: conflict("twice in 365 days"),
            action: "extension_refused"),
        Refusal(
            testDescription: "family", answer: .refusal(4_030_007), error: conflict("family sharing"),
            action: "extension_refused"),
        Refusal(
            testDescription: "not the original", answer: .refusal(4_000_187), error: conflict("not the original"),
            action: "extension_refused"),
        Refusal(
            testDescription: "no success", answer: .reply(#"{"originalTransactionId":"given","success":false}"#),
            error: conflict("did not extend"), action: "extension_refused"),
        Refusal(
            testDescription: "unreachable", answer: .failure(.notSent), error: { $0 == .providerUnavailable },
            action: "extension_failed", calls: 4),
        Refusal(
            testDescription: "a wrong key", answer: .reply("Unauthenticated", status: 401),
            error: { $0 == .providerUnavailable }, action: "extension_failed"),
        Refusal(
            testDescription: "no answer", answer: .failure(.outcomeUnknown),
            error: {
                if case .outcomeUnknown(let words) = $0 {
                    words.english.contains("a second one would count")
                } else {
                    false
                }
            },
            action: "extension_unknown", isChecked: true),
        Refusal(
            testDescription: "half an answer", answer: .reply("{"),
            error: { if case .outcomeUnknown = $0 { true } else { false } }, action: "extension_unknown",
            isChecked: true),
    ]

    @Test(arguments: TestEngine.allCases)
    func `days are given once, audited, and the store is asked about them soon`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { desk in
            let appStore = ScriptedAppStore(.reply(Self.done))
            let apple = try desk.asking(appStore)
            let id = try await apple.given()
            let extended = try await apple.extend(id, days: 30, reason: 1)
            #expect(extended == ExtendedSubscription(id: id, days: 30, endsAt: Timestamp(1_900_000_000)))
            #expect(appStore.paths == ["PUT prod.example/inApps/v1/subscriptions/extend/given"])
            #expect(
                appStore.bodies.first?.contains(#""extendByDays":30,"extendReasonCode":1,"requestIdentifier":"req_"#)
                    == true)
            #expect(try await apple.actions(id) == ["extension_asked", "extended"])
            #expect(try await apple.isDue(id))
        }
    }

    @Test(arguments: TestEngine.allCases, refusals)
    func `apple's limits are told in words, and nothing is asked for twice`(
        _ engine: TestEngine, _ refusal: Refusal
    ) async throws {
        try await withAppleDesk(on: engine) { desk in
            let appStore = ScriptedAppStore(refusal.answer)
            let apple = try desk.asking(appStore)
            let id = try await apple.given()
            let error = await #expect(throws: GatewayError.self) { try await apple.extend(id, days: 30, reason: 1) }
            #expect(refusal.error(try #require(error)), "\(String(describing: error))")
            #expect(appStore.sent.count == refusal.calls)
            #expect(try await apple.actions(id) == ["extension_asked", refusal.action])
            #expect(try await apple.isDue(id) == refusal.isChecked)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a key that comes back after an unknown outcome asks apple nothing`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { desk in
            let appStore = ScriptedAppStore(.failure(.outcomeUnknown), .reply(Self.done))
            let apple = try desk.asking(appStore)
            let id = try await apple.given()
            for _ in 0..<3 {
                let context = try await apple.desk.run("lost")
                let error = await #expect(throws: GatewayError.self) {
                    try await apple.extend(id, days: 30, reason: 1, context: context)
                }
                guard case .outcomeUnknown = error else { throw try #require(error) }
                try await apple.desk.crash()
            }
            #expect(appStore.sent.count == 1)
            #expect(try await apple.actions(id) == ["extension_asked", "extension_unknown"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a key that comes back after nothing happened goes on under the same id`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { desk in
            let lost = Array(repeating: ScriptedAppStore.Answer.failure(.notSent), count: 4)
            let appStore = ScriptedAppStore(lost + [.reply(Self.done)])
            let apple = try desk.asking(appStore)
            let id = try await apple.given()
            let first = try await apple.desk.run("again")
            await #expect(throws: GatewayError.providerUnavailable) {
                try await apple.extend(id, days: 30, reason: 1, context: first)
            }
            try await apple.desk.crash()
            let second = try await apple.desk.run("again")
            #expect(try await apple.extend(id, days: 30, reason: 1, context: second).endsAt == Timestamp(1_900_000_000))
            #expect(appStore.sent.count == 5 && Set(appStore.bodies).count == 1)
            try await apple.desk.crash()
            let third = try await apple.desk.run("again")
            #expect(try await apple.extend(id, days: 30, reason: 1, context: third).endsAt == nil)
            #expect(appStore.sent.count == 5)
            #expect(
                try await apple.actions(id)
                    == ["extension_asked", "extension_failed", "extension_asked", "extended"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what cannot be asked is refused before apple is`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { desk in
            let appStore = ScriptedAppStore(.reply(Self.done))
            let apple = try desk.asking(appStore)
            let id = try await apple.given()
            let unknown = apple.gateway.ids.make(Subscription.self).rawValue
            let cases: [(String, Int64, Int64, GatewayError)] = [
                (id.rawValue, 0, 1, .invalidRequest(field: "days", reason: "must be 1 to 90")),
                (id.rawValue, 91, 1, .invalidRequest(field: "days", reason: "must be 1 to 90")),
                (id.rawValue, 30, -1, .invalidRequest(field: "reason_code", reason: "must be 0 to 3")),
                (id.rawValue, 30, 4, .invalidRequest(field: "reason_code", reason: "must be 0 to 3")),
                ("sub_nothing", 30, 1, .unknown(.subscription, "sub_nothing")),
                ("", 30, 1, .unknown(.subscription, "")),
                (unknown, 30, 1, .unknown(.subscription, unknown)),
            ]
            for (id, days, reason, error) in cases {
                await #expect(throws: error) {
                    _ = try await apple.gateway.subscriptionExtensions.extend(
                        id, days: days, reasonCode: reason, context: .test)
                }
            }
            // Without a key nobody can be asked.
            let error = await #expect(throws: GatewayError.self) { try await desk.extend(id, days: 30, reason: 1) }
            #expect(Self.conflict("cannot ask its store")(try #require(error)))
            #expect(appStore.sent.isEmpty && desk.desk.transport.sent.isEmpty)
        }
    }
}

extension AppStoreGatewayFixture {
    /// A subscription that need not be asked about for a while.
    fileprivate func given() async throws -> ID<Subscription> {
        try await attach(period("given", from: 0))
        try await store.write { tx in try tx.execute("UPDATE subscriptions SET next_check_at = 9000000000") }
        return try #require(try await subscriptions().first).id
    }

    @discardableResult
    fileprivate func extend(
        _ id: ID<Subscription>, days: Int64, reason: Int64, context: CallContext = .test
    ) async throws -> ExtendedSubscription {
        desk.clock.tick()
        return try await gateway.subscriptionExtensions.extend(
            id.rawValue, days: days, reasonCode: reason, context: context)
    }

    /// What the audit says was done, oldest first, without the common prefix.
    fileprivate func actions(_ id: ID<Subscription>) async throws -> [String] {
        try await store.read { db in
            try db.rows("SELECT action FROM audit WHERE subject = ? ORDER BY position", [id])
                .map { try $0.text("action").replacing("subscription.", with: "") }
        }
    }

    fileprivate func isDue(_ id: ID<Subscription>) async throws -> Bool {
        let now = desk.clock.now
        return try await store.read { db in
            try db.rows("SELECT 1 AS one FROM subscriptions WHERE id = ? AND next_check_at <= ?", [id, now]).count == 1
        }
    }
}
