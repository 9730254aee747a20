import Domain
import Foundation
import PaydeskServer
import ProviderKit

/// A configuration folder of one test, which is written to a temporary folder, loaded and removed.
struct ConfigurationFixture {
    var paydesk: String
    var accounts: [String: String] = [:]
    var catalogue: String?
    /// Further files by their path in the folder.
    var files: [String: String] = [:]
    var environment: [String: String] = [:]
    var overrides = ConfigurationOverrides()

    static let key = Data(repeating: 7, count: 32).base64EncodedString()
    /// A JWK set (RFC 7517) with the public key of RFC 8037, appendix A.2.
    static let keySet =
        #"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"one","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#
    static let userSecret = "a user secret of the tests, long enough"

    init(_ paydesk: String) { self.paydesk = paydesk }

    /// Makes a development configuration with these sections.
    static func development(_ sections: [String: String] = [:]) -> Self {
        Self("mode: development\n" + lines(sections))
    }

    /// Makes a valid production configuration, with these sections in place of its own.
    static func production(_ sections: [String: String] = [:]) -> Self {
        let good = [
            "http": "{public_url: https://pay.example.com}", "secrets": "{keys: [\(key)]}",
            "auth": "{hs256_secret: \"\(userSecret)\"}",
        ]
        return Self("mode: production\n" + lines(good.merging(sections) { $1 }))
    }

    func with(account: String, _ text: String) -> Self {
        var copy = self
        copy.accounts[account] = text
        return copy
    }

    func with(file: String, _ text: String) -> Self {
        var copy = self
        copy.files[file] = text
        return copy
    }

    func with(environment: [String: String]) -> Self {
        var copy = self
        copy.environment = environment
        return copy
    }

    func with(overrides: ConfigurationOverrides) -> Self {
        var copy = self
        copy.overrides = overrides
        return copy
    }

    func load() throws -> Configuration {
        let folder = try TemporaryFolder()
        try folder.write("paydesk.yaml", paydesk)
        for (name, text) in accounts { try folder.write("providers/\(name).yaml", text) }
        if let catalogue { try folder.write("catalog.yaml", catalogue) }
        for (name, text) in files { try folder.write(name, text) }
        return try ConfigurationLoader.load(
            folder: folder.path, environment: environment, manifests: TestKinds.manifests,
            isTest: { $0 == "silent" && $1.texts("webhook_secrets") == ["test"] },
            developmentSecrets: DevelopmentSecretsFile(path: folder.path + "/var/secrets.json", random: .counting),
            overrides: overrides)
    }

    /// Returns the lines of the faults; empty where it loads.
    func faults() throws -> [String] {
        do {
            _ = try load()
            return []
        } catch let error as ConfigurationError {
            return error.faults.map(\.description)
        }
    }

    private static func lines(_ sections: [String: String]) -> String {
        sections.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\n" }.joined()
    }
}

/// A temporary folder, which is removed with this object.
final class TemporaryFolder {
    let path: String

    init() throws {
        let made = FileManager.default.temporaryDirectory.appendingPathComponent("paydesk-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)
        path = made.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ name: String, _ text: String) throws {
        let file = URL(fileURLWithPath: path + "/" + name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: true, encoding: .utf8)
    }
}

extension RandomSource {
    static let counting = RandomSource { count in (0..<count).map { UInt8(truncatingIfNeeded: $0) } }
}

/// Provider kinds with settings of every type.
enum TestKinds {
    static let manifests = Dictionary(uniqueKeysWithValues: [sandbox, apple, silent].map { ($0.kind, $0) })

    private static let sandbox = ProviderManifest(
        kind: "sandbox", displayName: "Sandbox", contractTypes: [.url], cancel: .definite, refunds: .partial,
        notifications: [.post], developmentOnly: true,
        settings: SettingsSchema([
            .init(
                "contract", .choice(["stripe", "url", "qr", "none"]), default: .text("url"), summary: "Its contract."),
            .init("secret", .secret, required: true, summary: "Signs."),
            .init("delay_ms", .integer(0...60_000), default: .integer(0), summary: "Delay."),
            .init("reply", .choice(["normal", "lost", "slow", "error"]), default: .text("normal"), summary: "Reply."),
        ]))

    private static let apple = ProviderManifest(
        kind: "apple_iap", displayName: "Apple", contractTypes: [.appleIAP], goods: .appleProducts, recurring: true,
        cancel: .none, refunds: .none, notifications: [.post],
        settings: SettingsSchema([
            .init(
                "apps",
                .list(
                    .object(
                        SettingsSchema([
                            .init("bundle_id", .text, required: true, summary: "The app's bundle id."),
                            .init("app_apple_id", .integer(0...Int64.max), default: .integer(0), summary: "Number."),
                            .init("shared_secret", .secret, summary: "Shared secret."),
                        ]))), required: true, summary: "The apps."),
            .init(
                "environments", .list(.choice(["Production", "Sandbox", "Xcode"])),
                default: .list([.text("Production")]),
                developmentOnlyChoices: ["Xcode"], summary: "Environments."),
            .init(
                "sandbox",
                .object(
                    SettingsSchema([
                        .init("entitles", .choice(["all", "users", "none"]), default: .text("all"), summary: "Whom."),
                        .init("users", .list(.text), default: .list([]), summary: "Users."),
                        .init("max_hours", .integer(0...87_600), summary: "Bound."),
                    ])), summary: "Sandbox."),
            .init("xcode_certificates", .list(.path), default: .list([]), developmentOnly: true, summary: "Xcode."),
            .init("root_certificates", .list(.path), default: .list([]), developmentOnly: true, summary: "Roots."),
            .init(
                "api",
                .object(
                    SettingsSchema([
                        .init("key_id", .text, summary: "Key."), .init("issuer_id", .text, summary: "Issuer."),
                        .init("private_key", .text, summary: "PEM."), .init("production_url", .url, summary: "URL."),
                        .init("sandbox_url", .url, summary: "URL."),
                        .init("pre_release", .boolean, summary: "Flag."),
                        .init("verify_receipt_url", .text, summary: "URL."),
                    ])), default: .object([:]), summary: "API."),
            .init(
                "external_purchases",
                .object(
                    SettingsSchema([
                        .init("report_after_days", .integer(1...10), default: .integer(8), summary: "Days."),
                        .init("production_url", .url, summary: "URL."), .init("sandbox_url", .url, summary: "URL."),
                        .init("regions", .list(.object(SettingsSchema([]))), default: .list([]), summary: "Regions."),
                    ])), default: .object([:]), summary: "Outside of the store."),
            .init("sync_interval_hours", .integer(1...168), default: .integer(12), summary: "Interval."),
            .init("verbose", .boolean, default: .boolean(true), summary: "A flag that is on."),
        ]))

    private static let silent = ProviderManifest(
        kind: "silent", displayName: "Silent", contractTypes: [.url], cancel: .none, refunds: .none, notifications: [],
        settings: SettingsSchema([.init("webhook_secrets", .list(.text), summary: "Secrets.")]))
}
