import AppleIAPProvider
import Crypto
import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Testing

@Suite("Apple's External Purchase Server API")
struct ExternalPurchaseAPITests {
    private static let region = SettingValue.object([
        "storefront": .text("DEU"), "from": .text("2026-01-01"), "tax": .object(["standard": .integer(1_900)]),
    ])

    private static func provider(
        _ fixture: AppStoreFixture, hasKey: Bool = true, external: [String: SettingValue] = [:]
    ) throws -> AppleIAPProvider {
        let app = SettingValue.object(["bundle_id": .text("com.example.app"), "app_apple_id": .integer(7)])
        let api: [String: SettingValue] = [
            "key_id": .text(AppStoreFixture.keyID), "issuer_id": .text(AppStoreFixture.issuer),
            "private_key": .text(AppStoreFixture.privateKey.pemRepresentation),
        ]
        return try AppleIAPProvider(
            account: ProviderAccount(
                id: AccountID("apple-iap")!,
                settings: ProviderSettings([
                    "apps": .list([app]), "api": .object(hasKey ? api : [:]), "external_purchases": .object(external),
                ]), isDevelopment: false),
            context: ProviderContext(
                http: fixture.transport, time: fixture.time, random: RandomSource { Array(repeating: 1, count: $0) },
                book: NoBook(), notifyURL: "", publicURL: ""), pause: { fixture.pause($0) })
    }

    @Test(arguments: [
        (AppStoreFixture.Reply.json("{}"), ExternalReportAnswer.accepted),
        (.json(#"{"errorCode":3,"errorMessage":"Duplicate."}"#, status: 400), .unknown("status 400, error 3")),
        (.json("", status: 503), .unknown("status 503")), (.json("", status: 404), .unknown("status 404")),
        (.failure(.notSent), .notSent("Apple cannot be reached")),
        (.failure(.outcomeUnknown), .unknown("Apple did not answer")),
        (.json("", status: 401), .unauthorized),
        (
            .json("", status: 429, headers: [(name: "Retry-After", value: "\(AppStoreFixture.start + 4_000)")]),
            .rateLimited(until: AppStoreFixture.start + 4_000)
        ),
        (.json("", status: 429), .rateLimited(until: AppStoreFixture.start + 60_000)),
        (
            .json(
                """
                {"errors":[{"errorCode":9,"errorMessage":"Not valid.","fieldName":"quantity","lineItemId":"l"}]}
                """, status: 400), .refused("quantity Not valid. (9) l")
        ),
    ])
    func `each answer to a report has one meaning, and no call is repeated`(
        _ reply: AppStoreFixture.Reply, _ answer: ExternalReportAnswer
    ) async throws {
        let fixture = AppStoreFixture([reply])
        let provider = try Self.provider(fixture)
        let body = Data(#"{"status":"NO_LINE_ITEM"}"#.utf8)
        #expect(await provider.send(body, of: "com.example.app", in: .sandbox) == answer)
        #expect(fixture.urls == ["https://api.storekit-sandbox.apple.com/externalPurchase/v1/reports"])
        let request = try #require(fixture.requests.first)
        #expect(request.method == "PUT" && request.body == body)
        #expect(request.header("content-type") == "application/json")
        #expect(request.header("authorization")?.hasPrefix("Bearer ey") == true)
    }

    @Test(arguments: [
        (AppStoreFixture.Reply.json("{}"), ExternalReportAnswer.accepted),
        (.json(#"{"errorCode":2,"errorMessage":"Not found.","fieldName":"x"}"#, status: 400), .notThere),
        (.json("", status: 404), .notThere), (.json("", status: 502), .unknown("status 502")),
        (.failure(.notSent), .unknown("Apple did not answer")), (.json("", status: 401), .unauthorized),
    ])
    func `a question tells whether Apple has a report`(
        _ reply: AppStoreFixture.Reply, _ answer: ExternalReportAnswer
    ) async throws {
        let fixture = AppStoreFixture([reply])
        let provider = try Self.provider(fixture)
        #expect(await provider.find(report: "a-b", of: "com.example.app", in: .production) == answer)
        #expect(fixture.urls == ["https://api.storekit.apple.com/externalPurchase/v1/reports/a-b"])
    }

    @Test
    func `without a key nothing can be sent`() async throws {
        let provider = try Self.provider(AppStoreFixture(), hasKey: false)
        #expect(provider.externalPurchases.reachable.isEmpty)
        #expect(await provider.send(Data("{}".utf8), of: "com.example.app", in: .sandbox) == .noKey)
    }

    @Test
    func `a token is taken by its app and environment`() throws {
        let rules = try Self.provider(
            AppStoreFixture(), external: ["regions": .list([Self.region]), "report_after_days": .integer(5)]
        ).externalPurchases
        func token(_ id: String = "SANDBOX_1", _ bundle: String = "com.example.app", _ number: Int64 = 7) -> Bool {
            rules.takes(
                ExternalPurchaseToken(
                    externalPurchaseID: id, appAppleID: number, bundleID: bundle, createdAt: Timestamp(1)))
        }
        #expect(token() && token("2924c319"))
        #expect(!token("SANDBOX_1", "com.example.other") && !token("SANDBOX_1", "com.example.app", 8))
        #expect(rules.reportAfterDays == 5 && rules.regions.all.map(\.storefront) == ["DEU"])
        #expect(rules.reachable == [.production, .sandbox])
    }

    @Test(
        arguments: [
            (
                ["storefront": .text("Germany"), "from": .text("2026-01-01")],
                "external_purchases.regions[0].storefront"
            ),
            (["storefront": .text("DEU"), "from": .text("tomorrow")], "external_purchases.regions[0].from"),
        ] as [([String: SettingValue], String)])
    func `a region of another form is a fault`(_ region: [String: SettingValue], _ setting: String) throws {
        do {
            _ = try Self.provider(AppStoreFixture(), external: ["regions": .list([.object(region)])])
            Issue.record("it was taken")
        } catch let error as ProviderSetupError {
            #expect(error.faults.map(\.setting) == [setting])
        }
    }
}

extension OutgoingRequest {
    fileprivate func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }
}
