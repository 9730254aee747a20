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
    /// The base URL without a slash at its end.
    let base: String
    /// Trust anchors for tests; empty for the system's.
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

    /// - Throws: every fault, without any value.
    init(_ account: ProviderAccount) throws(ProviderSetupError) {
        let reader = ProviderSettingsReader(account)
        let settings = reader.settings
        clientID = reader.text("client_id", 1...255, "copy the client id of the REST app")
        if clientID.contains(":") {
            reader.fault("client_id", "is of a wrong form", "copy the client id of the REST app")
        }
        clientSecret = ProviderSecret(reader.text("client_secret", 1...255, "copy the secret of the REST app"))
        webhookID = reader.text("webhook_id", 1...64, "copy the id that stands beside the webhook")
        if webhookID.contains("|") {
            reader.fault("webhook_id", "is of a wrong form", "copy the id beside the webhook")
        }
        verification = reader.choice("webhook_verification", of: Verification.allCases, default: .offline)
        brandName = settings.text("brand_name")
        if brandName.utf8.count > 127 { reader.fault("brand_name", "is longer than 127 bytes", "use a shorter name") }

        base = reader.address(
            "api_base", default: Self.officialBase, "give scheme, host and path alone, or leave it out for PayPal's own"
        )

        let paths = settings.texts("root_certificates")
        roots = paths.prefix(Self.rootLimit).compactMap { path in
            FileManager.default.contents(atPath: path).flatMap {
                try? Certificate(pemEncoded: String(decoding: $0, as: UTF8.self))
            }
        }
        if roots.count != paths.count {
            reader.fault(
                "root_certificates", "has an unreadable certificate, or more than \(Self.rootLimit)", "name PEM files")
        } else if !paths.isEmpty, !account.isDevelopment {
            reader.fault("root_certificates", "is for development only", "leave it out")
        }
        try reader.check()
    }
}
