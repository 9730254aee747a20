import AppleIAPProvider
import AppleTrust
import Crypto
import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Testing

struct AppStoreSettingsTests {
    private static let pem = AppStoreFixture.privateKey.pemRepresentation

    private static func provider(
        _ api: [String: SettingValue], environments: [String] = ["Production", "Sandbox"],
        fixture: AppStoreFixture
    ) throws(ProviderSetupError) -> AppleIAPProvider {
        let apps = ["com.example.app", "com.example.other"].map { SettingValue.object(["bundle_id": .text($0)]) }
        return try AppleIAPProvider(
            account: ProviderAccount(
                id: AccountID("apple-iap")!,
                settings: ProviderSettings([
                    "apps": .list(apps), "environments": .list(environments.map(SettingValue.text)),
                    "api": .object(api),
                ]), isDevelopment: false),
            context: ProviderContext(
                http: fixture.transport, time: fixture.time, random: RandomSource { Array(repeating: 1, count: $0) },
                book: NoBook(), notifyURL: "", publicURL: ""), pause: { fixture.pause($0) })
    }

    private static func key(_ more: [String: SettingValue] = [:]) -> [String: SettingValue] {
        [
            "key_id": .text(AppStoreFixture.keyID), "issuer_id": .text(AppStoreFixture.issuer),
            "private_key": .text(pem),
        ].merging(more) { $1 }
    }

    @Test func `without a key there is no api`() throws {
        let fixture = AppStoreFixture()
        #expect(try Self.provider([:], fixture: fixture).serverAPIs.isEmpty)
        let blank: [String: SettingValue] = ["key_id": .text(""), "issuer_id": .text(""), "private_key": .text("")]
        #expect(try Self.provider(blank, fixture: fixture).serverAPIs.isEmpty)
    }

    @Test func `each app has its own, at apple's own addresses`() async throws {
        let fixture = AppStoreFixture { _ in .apple(4_040_010) }
        let apis = try Self.provider(Self.key(), fixture: fixture).serverAPIs
        #expect(apis.map(\.bundleID) == ["com.example.app", "com.example.other"])
        #expect(apis.map(\.environments) == [[.production, .sandbox], [.production, .sandbox]])
        let api = try #require(apis.first)
        _ = await failure { () throws(AppStoreServerError) in try await api.transaction("1") }
        #expect(fixture.hosts == ["api.storekit.apple.com", "api.storekit-sandbox.apple.com"])
    }

    @Test(
        arguments: [
            (["Sandbox"], false, ["sand.example"]), (["Production"], false, ["prod.example"]),
            (["Production", "Sandbox"], false, ["prod.example"]),
            (["Production", "Sandbox"], true, ["prod.example", "sand.example"]), (["Xcode"], false, []),
        ] as [([String], Bool, [String])])
    func `only accepted environments are asked`(
        environments: [String], isPreRelease: Bool, asked: [String]
    ) async throws {
        let fixture = AppStoreFixture { _ in .status(401) }
        let settings = Self.key([
            "production_url": .text("https://prod.example/"), "sandbox_url": .text("https://sand.example//"),
            "pre_release": .boolean(isPreRelease),
        ])
        let api = try #require(
            try Self.provider(settings, environments: environments, fixture: fixture).serverAPIs.first)
        _ = await failure { () throws(AppStoreServerError) in try await api.transaction("1") }
        #expect(fixture.hosts == asked)
        #expect(fixture.urls.allSatisfy { $0.hasSuffix(".example/inApps/v1/transactions/1") })
    }

    private static let p384 = P384.Signing.PrivateKey().pemRepresentation

    @Test(
        arguments: [
            ([:], []), (["private_key": .text("")], ["api.private_key missing while the rest of the key is set"]),
            (["key_id": .text("AB-C/")], ["api.key_id is no key id: letters and digits"]),
            (["issuer_id": .text("9ABCDE")], ["api.issuer_id is no UUID"]),
            (["private_key": .text("hunter2")], ["api.private_key is no PEM text"]),
            (["private_key": .text(p384)], ["api.private_key is no private key of the curve P-256"]),
            (
                ["private_key": .text(AppStoreFixture.privateKey.publicKey.pemRepresentation)],
                ["api.private_key is a public key, not the private one"]
            ),
            (
                ["private_key": .text("-----BEGIN CERTIFICATE-----\nhunter2\n-----END CERTIFICATE-----")],
                ["api.private_key is a certificate, not a key"]
            ),
            (
                ["private_key": .text("-----BEGIN ENCRYPTED PRIVATE KEY-----\nhunter2\n-----END")],
                ["api.private_key is encrypted with a password"]
            ),
            (
                ["private_key": .text(pem.replacing("\n", with: "\\n"))],
                ["api.private_key holds \\n where its lines should end"]
            ),
            (["sandbox_url": .text("ftp://x")], ["api.sandbox_url is no plain web address"]),
            (["production_url": .text("https://")], ["api.production_url is no plain web address"]),
            (["production_url": .text("https://x/?y")], ["api.production_url is no plain web address"]),
            (["production_url": .text("https://a@x/")], ["api.production_url is no plain web address"]),
            (
                ["key_id": .text(""), "issuer_id": .text(""), "sandbox_url": .text("x")],
                [
                    "api.key_id missing while the rest of the key is set",
                    "api.issuer_id missing while the rest of the key is set",
                    "api.sandbox_url is no plain web address",
                ]
            ),
        ] as [([String: SettingValue], [String])])
    func `a fault of the key is named and never shown`(edit: [String: SettingValue], faults: [String]) {
        do throws(ProviderSetupError) {
            _ = try Self.provider(Self.key(edit), fixture: AppStoreFixture())
            #expect(faults.isEmpty)
        } catch {
            #expect(error.faults.map { "\($0.setting) \($0.problem)" } == faults)
            #expect(error.faults.allSatisfy { !$0.remedy.isEmpty })
            #expect(!"\(error)".contains("hunter2") && !"\(error)".contains(Self.pem.dropFirst(40).prefix(20)))
        }
    }
}
