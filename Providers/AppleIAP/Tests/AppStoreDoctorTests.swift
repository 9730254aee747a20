import AppleIAPProvider
import AppleTrust
import ProviderKit
import ProviderTesting
import Testing

struct AppStoreDoctorTests {
    struct Row: Sendable {
        let production: AppStoreProbe?
        let sandbox: AppStoreProbe?
        var clockSkew: Int64?
        let findings: [AppStoreFinding]
    }

    static let rows: [Row] = [
        Row(production: .accepted, sandbox: .accepted, findings: [.works(.production), .works(.sandbox)]),
        Row(production: .unauthorized, sandbox: .accepted, findings: [.notReleased, .works(.sandbox)]),
        Row(production: .unauthorized, sandbox: .unauthorized, findings: [.refusedEverywhere]),
        Row(
            production: .unauthorized, sandbox: .unauthorized, clockSkew: 4_000,
            findings: [.clockWrong(seconds: 4_000), .refusedEverywhere]),
        Row(
            production: .unauthorized, sandbox: .unauthorized, clockSkew: -61,
            findings: [.clockWrong(seconds: -61), .refusedEverywhere]),
        Row(
            production: .accepted, sandbox: .accepted, clockSkew: 60,
            findings: [.works(.production), .works(.sandbox)]),
        Row(production: .accepted, sandbox: .unauthorized, findings: [.works(.production), .sandboxRefusedAlone]),
        Row(production: .unauthorized, sandbox: nil, findings: [.refused(.production)]),
        Row(production: nil, sandbox: .unauthorized, findings: [.refused(.sandbox)]),
        Row(
            production: .unauthorized, sandbox: .unreachable, findings: [.refused(.production), .unreachable(.sandbox)]),
        Row(production: .unreachable, sandbox: .accepted, findings: [.unreachable(.production), .works(.sandbox)]),
        Row(
            production: .wrongApp(code: 4_000_002), sandbox: .accepted,
            findings: [.wrongApp(.production, code: 4_000_002), .works(.sandbox)]),
        Row(
            production: .rateLimited, sandbox: .troubled(status: 503),
            findings: [.rateLimited(.production), .troubled(.sandbox, status: 503)]),
        Row(
            production: .notApple(status: 302), sandbox: nil, findings: [.notApple(.production, status: 302)]),
        Row(production: nil, sandbox: nil, findings: []),
    ]

    @Test(arguments: rows)
    func `two outcomes have their causes`(row: Row) {
        #expect(
            AppStoreDiagnosis.findings(production: row.production, sandbox: row.sandbox, clockSkew: row.clockSkew)
                == row.findings)
    }

    /// `Mon, 21 Sep 2026 14:13:20 GMT` is the fixture's time.
    @Test(
        arguments: [
            (.apple(4_040_010), .apple(4_000_006), [.works(.production), .works(.sandbox)]),
            (.status(401), .apple(4_040_010), [.notReleased, .works(.sandbox)]),
            (.status(401), .status(401), [.refusedEverywhere]),
            (
                .status(401, [(name: "Date", value: "Mon, 21 Sep 2026 14:11:20 GMT")]), .status(401),
                [.clockWrong(seconds: 120), .refusedEverywhere]
            ),
            (
                .apple(4_040_010), .status(401, [(name: "date", value: "Mon, 21 Sep 2026 15:13:20 GMT")]),
                [.clockWrong(seconds: -3_600), .works(.production), .sandboxRefusedAlone]
            ),
            (
                .status(401, [(name: "date", value: "Mon, 21 Sep 2026 14:13:21 GMT")]), .status(401),
                [.refusedEverywhere]
            ),
            (.status(401, [(name: "date", value: "yesterday, at noon or so GMT")]), .status(401), [.refusedEverywhere]),
            (
                .apple(4_000_002), .apple(4_040_003),
                [.wrongApp(.production, code: 4_000_002), .wrongApp(.sandbox, code: 4_040_003)]
            ),
            (.failure(.notSent), .failure(.outcomeUnknown), [.unreachable(.production), .unreachable(.sandbox)]),
            (.status(429), .apple(5_000_000), [.rateLimited(.production), .troubled(.sandbox, status: 500)]),
            (
                .status(302, [(name: "date", value: "Mon, 21 Sep 2020 14:13:21 GMT")]), .status(404),
                [.notApple(.production, status: 302), .notApple(.sandbox, status: 404)]
            ),
        ] as [(AppStoreFixture.Reply, AppStoreFixture.Reply, [AppStoreFinding])])
    func `a diagnosis asks each environment`(
        production: AppStoreFixture.Reply, sandbox: AppStoreFixture.Reply, findings: [AppStoreFinding]
    ) async throws {
        let fixture = AppStoreFixture { $0.url.hasPrefix("https://prod.example/") ? production : sandbox }
        let diagnosis = await (try fixture.api()).diagnose()
        #expect(diagnosis.findings == findings && diagnosis.bundleID == "com.example.app")
        // A used token that is refused is replaced, and nothing else is repeated.
        #expect(fixture.hosts.prefix(2) == ["prod.example", "sand.example"] && fixture.hosts.count <= 3)
        #expect(fixture.pauses.isEmpty)
        for finding in diagnosis.findings { #expect(finding.explanation.hasSuffix(".")) }
    }

    @Test func `the puzzle of the 401 is told in words`() {
        let notReleased = AppStoreFinding.notReleased.explanation
        #expect(notReleased.contains("no release") && notReleased.contains("api.pre_release"))
        let everywhere = AppStoreFinding.refusedEverywhere.explanation
        for word in ["key_id", "issuer_id", "private_key", "bundle_id", "clock"] { #expect(everywhere.contains(word)) }
        #expect(AppStoreFinding.clockWrong(seconds: -61).explanation.contains("61 s behind"))
        #expect(AppStoreFinding.clockWrong(seconds: 61).explanation.contains("61 s ahead of"))
        #expect(AppStoreFinding.refused(.production).explanation.contains("no release"))
        #expect(!AppStoreFinding.refused(.sandbox).explanation.contains("no release"))
        #expect(!AppStoreFinding.works(.sandbox).isFault && AppStoreFinding.notReleased.isFault)
    }

    private static func test(_ word: String?) -> AppStoreFixture.Reply {
        let attempts = word.map { #"{"attemptDate":1,"sendAttemptResult":"\#($0)"}"# } ?? ""
        return .json(#"{"signedPayload":"a.b.c","sendAttempts":[\#(attempts)]}"#)
    }

    @Test(
        arguments: [
            ([test("SUCCESS")], .delivered, [1_000]),
            ([.apple(4_040_008), test(nil), test("SUCCESS")], .delivered, [1_000, 2_000, 5_000]),
            ([test("TLS_ISSUE")], .failed("TLS_ISSUE"), [1_000]),
            ([test("A_WORD_OF_2031")], .failed("A_WORD_OF_2031"), [1_000]),
            (
                Array(repeating: .apple(4_040_008), count: 7), .pending,
                [1_000, 2_000, 5_000, 5_000, 10_000, 10_000, 10_000]
            ),
        ] as [([AppStoreFixture.Reply], AppStoreTestOutcome, [Int64])])
    func `a test notification is awaited for most of a minute`(
        replies: [AppStoreFixture.Reply], outcome: AppStoreTestOutcome, pauses: [Int64]
    ) async throws {
        let fixture = AppStoreFixture([.json(#"{"testNotificationToken":"ab-1"}"#)] + replies)
        #expect(try await fixture.api().sendTestNotification(in: .production) == outcome)
        #expect(fixture.pauses == pauses && fixture.requests.count == replies.count + 1)
        #expect(outcome.explanation.hasSuffix("."))
    }

    @Test func `an app without a notification address is told so`() async throws {
        let fixture = AppStoreFixture([.apple(4_040_007)])
        let api = try fixture.api()
        let end = await failure { () throws(AppStoreServerError) in
            try await api.sendTestNotification(in: .sandbox)
        }
        #expect(end == .notFound(code: 4_040_007))
        #expect("\(end!)".contains("no notification URL is set"))
    }
}
