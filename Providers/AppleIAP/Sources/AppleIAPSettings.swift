import ProviderKit

/// The validated settings of an `apple_iap` account's file.
enum AppleIAPSettings {
    static let schema = SettingsSchema([
        SettingsSchema.Field(
            "apps", .list(.object(app)), required: true,
            summary: "The apps whose purchases count; all of them share Paydesk's users."),
        SettingsSchema.Field(
            "environments", .list(.choice(["Production", "Sandbox", "Xcode"])), developmentOnlyChoices: ["Xcode"],
            summary: """
                The environments that are accepted: Production and Sandbox, and in development mode Xcode, where none is \
                named. Xcode is for development mode only.
                """),
        SettingsSchema.Field(
            "sandbox", .object(sandbox), default: .object(["entitles": .text("all"), "users": .list([])]),
            summary: "What a Sandbox purchase gives."),
        SettingsSchema.Field(
            "xcode_certificates", .list(.path), default: .list([]), developmentOnly: true,
            summary: "StoreKit test certificates that may sign in Xcode; empty: Xcode signatures are not checked."),
        SettingsSchema.Field(
            "root_certificates", .list(.path), default: .list([]), developmentOnly: true,
            summary: "More trust anchors than Apple's own, as PEM or DER files."),
        SettingsSchema.Field(
            "api", .object(api), default: .object([:]), summary: "The key and the addresses of Apple's server API."),
        SettingsSchema.Field(
            "external_purchases", .object(ExternalPurchaseSettings.schema),
            default: .object(["report_after_days": .integer(8), "regions": .list([])]),
            summary: "Where is sold outside of the App Store with Apple's tokens, and how they are reported."),
        SettingsSchema.Field(
            "sync_interval_hours", .integer(1...168), default: .integer(12),
            summary: "How often subscriptions and missed notifications are asked for."),
    ])

    private static let app = SettingsSchema([
        SettingsSchema.Field("bundle_id", .text, required: true, summary: "The app's bundle id, com.example.app."),
        SettingsSchema.Field(
            "app_apple_id", .integer(0...Int64.max), default: .integer(0),
            summary: "The app's number in the App Store; Production notifications need it."),
        SettingsSchema.Field(
            "shared_secret", .secret, summary: "The app's shared secret, for receipts of subscriptions."),
    ])

    private static let sandbox = SettingsSchema([
        SettingsSchema.Field(
            "entitles", .choice(["all", "users", "none"]), default: .text("all"),
            summary: "Whom a Sandbox purchase entitles: all, only the listed users, or none."),
        SettingsSchema.Field("users", .list(.text), default: .list([]), summary: "The users that `users` means."),
        SettingsSchema.Field(
            "max_hours", .integer(0...87_600),
            summary: "The longest that a Sandbox purchase entitles; 0: no bound. Absent: 24, in development mode 0."),
    ])

    private static let api = SettingsSchema([
        SettingsSchema.Field("key_id", .text, summary: "The id of the In-App Purchase key; empty: no API is asked."),
        SettingsSchema.Field("issuer_id", .text, summary: "The issuer id beside the key in App Store Connect."),
        SettingsSchema.Field("private_key", .secret, summary: "The key itself, PEM of the .p8 file."),
        SettingsSchema.Field("production_url", .url, summary: "Another address than Apple's for Production."),
        SettingsSchema.Field("sandbox_url", .url, summary: "Another address than Apple's for Sandbox."),
        SettingsSchema.Field(
            "pre_release", .boolean, default: .boolean(false),
            summary: "No app has a release yet: where Production answers 401, Sandbox is asked."),
        SettingsSchema.Field(
            "verify_receipt_url", .text,
            summary: "Where verifyReceipt is asked: empty: never; apple: Apple's own two; else one address."),
    ])

    /// Checks the settings for faults that the schema cannot find.
    static func check(_ account: ProviderAccount) throws(ProviderSetupError) {
        let reader = ProviderSettingsReader(account)
        checkApps(reader)
        if reader.settings["environments"] != nil && reader.settings.texts("environments").isEmpty {
            reader.fault("environments", "empty: no purchase would be accepted", "List at least one.")
        }
        _ = AppStoreSettings.read(reader)
        _ = ExternalPurchaseSettings.read(reader)
        checkReceiptAddress(reader)
        try reader.check()
    }

    private static func checkApps(_ reader: ProviderSettingsReader) {
        let apps = reader.settings.objects("apps")
        if apps.isEmpty { reader.fault("apps", "empty", "Add the app with its bundle_id.") }
        var seen: Set<String> = []
        for (index, app) in apps.enumerated() {
            let bundle = app.text("bundle_id")
            let path = "apps[\(index)]"
            if bundle.isEmpty {
                reader.fault("\(path).bundle_id", "missing", "Set the app's bundle id.")
            } else if !seen.insert(bundle).inserted {
                reader.fault("\(path).bundle_id", "used twice", "List each app once.")
            }
            if (app.integer("app_apple_id") ?? 0) < 0 {
                reader.fault("\(path).app_apple_id", "negative", "Use the app's number in the App Store, or 0.")
            }
        }
    }

    private static func checkReceiptAddress(_ reader: ProviderSettingsReader) {
        let address = reader.settings.object("api").text("verify_receipt_url")
        let isFine =
            address.isEmpty || address == "apple" || address.hasPrefix("https://")
            || (reader.isDevelopment && address.hasPrefix("http://"))
        if !isFine {
            reader.fault(
                "api.verify_receipt_url", "neither empty, nor apple, nor an https address",
                "Leave it empty, write apple, or give the address.")
        }
    }
}
