import Domain
import FoundationEssentials
import ProviderKit
import SwiftASN1
import X509

/// The validated settings of an account's file.
struct PayPalSettings: Sendable {
    /// The way in which notifications are verified.
    enum Verification: String, CaseIterable, Sendable { case offline, api }

    static let officialBase = "https://api-m.paypal.com"
    private static let rootLimit = 16

    let clientID: String
    let clientSecret: ProviderSecret<String>
    let webhookID: String
    let verification: Verification
    let brandName: String
    /// Without a slash at its end.
    let base: String
    /// Trust anchors of tests; empty means the system's.
    let roots: [Certificate]

    static let schema = SettingsSchema([
        SettingsSchema.Field("client_id", .text, required: true, summary: "The REST app's client id."),
        SettingsSchema.Field("client_secret", .secret, required: true, summary: "The REST app's secret."),
        SettingsSchema.Field(
            "webhook_id", .text, required: true,
            summary: "The id that PayPal shows beside the webhook; it is a part of what notifications sign."),
        SettingsSchema.Field(
            "webhook_verification", .choice(Verification.allCases.map(\.rawValue)),
            default: .text(Verification.offline.rawValue),
            summary: "offline verifies notifications by PayPal's certificate, api asks PayPal about each."),
        SettingsSchema.Field(
            "brand_name", .text, summary: "What PayPal's page calls the seller; empty: the account's name."),
        SettingsSchema.Field(
            "api_base", .url, default: .text(officialBase),
            summary: "Where PayPal's API is; https://api-m.sandbox.paypal.com for its sandbox."),
        SettingsSchema.Field(
            "root_certificates", .list(.path), default: .list([]), developmentOnly: true,
            summary: "Trust anchors (PEM) for the certificates of notifications, instead of the system's."),
    ])

    /// - Throws: every fault, none of them with a value.
    init(_ account: ProviderAccount) throws(ProviderSetupError) {
        let settings = account.settings
        var faults: [ProviderSetupError.Fault] = []
        func fault(_ setting: String, _ problem: String, _ remedy: String) {
            faults.append(.init(setting: setting, problem: problem, remedy: remedy))
        }
        func word(_ name: String, _ limit: Int, _ remedy: String) -> String {
            let text = settings.text(name)
            let isGood = (1...limit).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            if !isGood { fault(name, text.isEmpty ? "is missing" : "is of a wrong form", remedy) }
            return text
        }
        clientID = word("client_id", 255, "copy the client id of the REST app")
        if clientID.contains(":") { fault("client_id", "is of a wrong form", "copy the client id of the REST app") }
        clientSecret = ProviderSecret(word("client_secret", 255, "copy the secret of the REST app"))
        webhookID = word("webhook_id", 64, "copy the id that stands beside the webhook")
        if webhookID.contains("|") { fault("webhook_id", "is of a wrong form", "copy the id beside the webhook") }
        let verification = settings.text("webhook_verification")
        if !verification.isEmpty, Verification(rawValue: verification) == nil {
            fault("webhook_verification", "is not one of its words", "use offline or api")
        }
        self.verification = Verification(rawValue: verification) ?? .offline
        brandName = settings.text("brand_name")
        if brandName.utf8.count > 127 { fault("brand_name", "is longer than 127 bytes", "use a shorter name") }

        let text = settings.text("api_base")
        let base = Self.base(text.isEmpty ? Self.officialBase : text)
        if base == nil {
            fault(
                "api_base", "is no plain web address",
                "give scheme, host and path alone, or leave it out for PayPal's own")
        } else if base?.hasPrefix("https://") == false, !account.isDevelopment {
            fault("api_base", "is without https, which is for development only", "use https")
        }
        self.base = base ?? Self.officialBase

        let paths = settings.texts("root_certificates")
        roots = paths.prefix(Self.rootLimit).compactMap { path in
            FileManager.default.contents(atPath: path).flatMap {
                try? Certificate(pemEncoded: String(decoding: $0, as: UTF8.self))
            }
        }
        if roots.count != paths.count {
            fault(
                "root_certificates", "has an unreadable certificate, or more than \(Self.rootLimit)", "name PEM files")
        } else if !paths.isEmpty, !account.isDevelopment {
            fault("root_certificates", "is for development only", "leave it out")
        }
        guard faults.isEmpty else { throw ProviderSetupError(faults) }
    }

    private static func base(_ text: String) -> String? {
        guard let address = WebAddress(text), address.isWeb, !address.rest.contains(where: { "?#".contains($0) }) else {
            return nil
        }
        var path = address.rest[...]
        while path.hasSuffix("/") { path.removeLast() }
        return address.origin + path
    }
}
