import AppleIAPProvider
import Crypto
import Domain
import ProviderKit
import ProviderTesting
import Testing

struct AppleIAPDoctorTests {
    private static func provider(
        _ fixture: AppStoreFixture, hasKey: Bool = true, _ more: [String: SettingValue] = [:]
    ) throws -> AppleIAPProvider {
        var settings: [String: SettingValue] = ["apps": .list([.object(["bundle_id": .text("com.example.app")])])]
        settings.merge(more) { $1 }
        if hasKey {
            settings["api"] = .object([
                "key_id": .text(AppStoreFixture.keyID), "issuer_id": .text(AppStoreFixture.issuer),
                "private_key": .text(AppStoreFixture.privateKey.pemRepresentation),
                "production_url": .text("https://prod.example"), "sandbox_url": .text("https://sand.example"),
            ])
        }
        return try AppleIAPProvider(
            account: ProviderAccount(
                id: AccountID("apple-iap")!, settings: ProviderSettings(settings), isDevelopment: false),
            context: ProviderContext(
                http: fixture.transport, time: fixture.time, random: SeededRandom().source, book: InMemoryBook(),
                notifyURL: "", publicURL: "https://pay.example"),
            pause: { fixture.pause($0) })
    }

    /// The answers of an app's two environments, and the doctor's findings.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let production: @Sendable (OutgoingRequest) -> AppStoreFixture.Reply
        let sandbox: @Sendable (OutgoingRequest) -> AppStoreFixture.Reply
        let levels: [Diagnosis.Level]
        let words: [String]
    }

    /// Makes an App Store with this result of the test notification; `token` answers the request for it.
    private static func appStore(
        _ result: String = "SUCCESS", token: AppStoreFixture.Reply = .json(#"{"testNotificationToken":"ab-1"}"#)
    ) -> @Sendable (OutgoingRequest) -> AppStoreFixture.Reply {
        { request in
            if request.method == "POST" { return token }
            guard request.url.contains("/notifications/test/") else { return .apple(4_040_010) }
            return .json(
                #"{"signedPayload":"a.b.c","sendAttempts":[{"attemptDate":1,"sendAttemptResult":"\#(result)"}]}"#)
        }
    }

    static let rows = [
        Row(
            testDescription: "all is well", production: appStore(), sandbox: appStore(),
            levels: [.good, .good, .good, .good], words: ["Production accepts the key", "was delivered"]),
        Row(
            testDescription: "not released", production: { _ in .status(401) }, sandbox: appStore(),
            levels: [.fault, .good, .good],
            words: ["no release in the App Store", "api.pre_release", "Sandbox accepts"]),
        Row(
            testDescription: "a wrong key", production: { _ in .status(401) }, sandbox: { _ in .status(401) },
            levels: [.fault], words: ["Both environments answer 401", "api.issuer_id", "clock"]),
        Row(
            testDescription: "a clock that is ahead",
            production: { _ in .status(401, [(name: "Date", value: "Mon, 21 Sep 2026 13:13:20 GMT")]) },
            sandbox: { _ in .status(401) }, levels: [.fault, .fault], words: ["3600 s ahead of Apple's", "NTP"]),
        Row(
            testDescription: "our address fails", production: appStore("TLS_ISSUE"), sandbox: appStore("TIMED_OUT"),
            levels: [.good, .good, .fault, .fault],
            words: ["its TLS is not accepted", "did not answer in time", "{public_url}/v1/notify/{notify_token}"]),
        Row(
            testDescription: "no address at Apple", production: appStore(token: .apple(4_040_007)), sandbox: appStore(),
            levels: [.good, .good, .fault, .good], words: ["no notification URL is set"]),
        Row(
            testDescription: "Apple is in trouble", production: appStore(token: .apple(5_000_000)),
            sandbox: { _ in .apple(5_000_000) }, levels: [.good, .notice, .notice], words: ["cannot answer now"]),
        Row(
            testDescription: "no network", production: { _ in .failure(.notSent) },
            sandbox: { _ in .failure(.notSent) }, levels: [.fault, .fault], words: ["cannot be reached"]),
    ]

    @Test(arguments: rows)
    func `the doctor says what is wrong and how to mend it`(row: Row) async throws {
        let fixture = AppStoreFixture {
            $0.url.hasPrefix("https://prod.example/") ? row.production($0) : row.sandbox($0)
        }
        let found = await (try Self.provider(fixture)).diagnose()
        #expect(found.map(\.level) == row.levels, "\(found)")
        for words in row.words { #expect(found.contains { $0.words.contains(words) }, "\(words): \(found)") }
        for one in found { #expect(one.subject.hasPrefix("com.example.app") && one.words.hasSuffix(".")) }
    }

    @Test(
        arguments: [
            (["Production", "Sandbox"], 0, [Diagnosis.Level.notice]), (["Production"], 1_234_567_890, []),
            (["Sandbox"], 0, []),
        ] as [([String], Int64, [Diagnosis.Level])])
    func `an app without its number is pointed out where Production counts`(
        _ environments: [String], _ number: Int64, _ levels: [Diagnosis.Level]
    ) throws {
        let settings: [String: SettingValue] = [
            "apps": .list([.object(["bundle_id": .text("com.example.app"), "app_apple_id": .integer(number)])]),
            "environments": .list(environments.map { .text($0) }),
        ]
        let account = try Self.provider(AppStoreFixture(), hasKey: false, settings)
        #expect(account.examine().map(\.level) == levels)
    }

    @Test func `without a key nothing is asked`() async throws {
        let fixture = AppStoreFixture()
        let found = await (try Self.provider(fixture, hasKey: false)).diagnose()
        #expect(found.map(\.level) == [.notice] && found.first?.words.contains("no key is set") == true)
        #expect(fixture.requests.isEmpty)
    }
}
