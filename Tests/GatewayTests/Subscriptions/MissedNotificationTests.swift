import Domain
import Foundation
import Gateway
import Logging
import ProviderKit
import Store
import TestSupport
import Testing

@Suite("Missed notifications of several apps")
struct MissedNotificationTests {
    private static let (here, there) = ("com.example.app", "com.example.other")

    /// An account of two apps, of which the first is refused as before its first release.
    private static func withTwoApps(
        on engine: TestEngine, log: LogCapture = LogCapture(),
        _ body: (AppStoreGatewayFixture, FakeAppStore) async throws -> Void
    ) async throws {
        let store = FakeAppStore()
        store.refusedApps = [there]
        let setup = AppStoreGatewayFixtureSetup {
            $0.appStore = store
            $0.bundles = [there, here]
            $0.environments = ["Production"]
            $0.desk.logger = log.logger()
        }
        try await withAppleDesk(on: engine, setup) { apple in try await body(apple, store) }
    }

    /// Gems that somebody bought in an app, and that Apple told of so many seconds ago.
    private static func gems(
        _ apple: AppStoreGatewayFixture, _ bundle: String, ago: Int64 = 60
    ) async throws -> AppleNotice {
        let token = try await apple.token()
        let sale = apple.sale("com.example.gems", AppleSale.consumable) { ($0.token, $0.bundle) = (token, bundle) }
        return AppleNotice("ONE_TIME_CHARGE", nil, sale, at: apple.now.adding(seconds: -ago)) { $0.bundle = bundle }
    }

    private static func balance(_ apple: AppStoreGatewayFixture) async throws -> Int64? {
        try await apple.desk.snapshot().balances["gems"]
    }

    @Test(arguments: TestEngine.allCases)
    func `an app that Apple refuses keeps nothing from the others`(_ engine: TestEngine) async throws {
        let log = LogCapture()
        try await Self.withTwoApps(on: engine, log: log) { apple, store in
            store.add(try await Self.gems(apple, Self.here))
            store.add(try await Self.gems(apple, Self.there))
            try await apple.work()
            #expect(try await Self.balance(apple) == 10)
            #expect(try await apple.desk.count("jobs WHERE kind = 'replay_notifications'") == 1)
            #expect(try await apple.desk.count("jobs WHERE state = 'quarantined'") == 0)
            let errors = log.lines(.error)
            #expect(errors.count == 1 && errors[0].contains(Self.there) && errors[0].contains("401"), "\(errors)")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an app that is released gets what it missed, and the others are not asked for it again`(
        _ engine: TestEngine
    ) async throws {
        try await Self.withTwoApps(on: engine) { apple, store in
            store.add(try await Self.gems(apple, Self.there))
            for _ in 0..<20 {
                store.add(try await Self.gems(apple, Self.here))
                try await apple.work()
                try await apple.desk.pass(seconds: 86_400)
            }
            #expect(try await Self.balance(apple) == 200)
            // So long after the first refusal, the app's history still holds it.
            store.refusedApps = []
            let asked = store.requests.count
            try await apple.work()
            #expect(try await Self.balance(apple) == 210)
            // 180 days of the one, and two of the other, whose hour of overlap begins another day.
            #expect((180...184).contains(store.requests.count - asked), "\(store.requests.count - asked)")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an app that Apple cannot answer for now is asked again, after the others`(_ engine: TestEngine) async throws {
        try await Self.withTwoApps(on: engine) { apple, store in
            store.refusedApps = []
            // Every try of the first question.
            for _ in 0..<4 { store.script(.success(IncomingReply(status: 500))) }
            store.add(try await Self.gems(apple, Self.here))
            store.add(try await Self.gems(apple, Self.there))
            try await apple.work()
            #expect(try await Self.balance(apple) == 10)
            try await apple.desk.pass(seconds: 60)
            try await apple.work()
            #expect(try await Self.balance(apple) == 20)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a sync says which app is refused`(_ engine: TestEngine) async throws {
        try await Self.withTwoApps(on: engine) { apple, store in
            store.add(try await Self.gems(apple, Self.here))
            let told = try await apple.gateway.accountReconciliation.sync("apple-iap", context: .test)
            let why = "\(Self.there) (Production): the App Store refuses the token in Production (401)"
            #expect(told == .done(checked: 1, changed: 1, refused: [why]))
            store.refusedApps = []
            #expect(
                try await apple.gateway.accountReconciliation.sync("apple-iap", context: .test)
                    == .done(checked: 1, changed: 0, refused: []))
        }
    }
}
