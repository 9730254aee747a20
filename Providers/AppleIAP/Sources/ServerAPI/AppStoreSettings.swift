import AppleTrust
import Domain
import FoundationEssentials
import ProviderKit

/// The `api` settings of an account: the key and the API's addresses.
struct AppStoreSettings {
    static let addresses: [AppleEnvironment: String] = [
        .production: "https://api.storekit.apple.com", .sandbox: "https://api.storekit-sandbox.apple.com",
    ]

    let key: AppStoreKey
    let addresses: [AppleEnvironment: String]
    let isPreRelease: Bool
    /// True for the API of the App Store in a box, which sells for one app and has no rate limit of its own.
    let isBox: Bool

    /// Reads the settings; without a key, Sandbox calls use the key and the address of the App Store in a box.
    ///
    /// - Returns: nil without a key and a box; then the API is never called.
    /// - Throws: every fault of the key and the addresses.
    init?(_ account: ProviderAccount) throws(ProviderSetupError) {
        let reader = ProviderSettingsReader(account)
        let settings = Self.read(reader)
        try reader.check()
        if let settings {
            self = settings
        } else if let box = Self.box(of: account) {
            self = box
        } else {
            return nil
        }
    }

    /// - Returns: nil where no box runs, and where the account does not accept Sandbox.
    private static func box(of account: ProviderAccount) -> AppStoreSettings? {
        let accepted = account.settings.texts("environments")
        guard account.isDevelopment, let box = account.box,
            account.settings["environments"] == nil || accepted.contains(AppleEnvironment.sandbox.rawValue),
            let key = try? AppStoreKey(keyID: box.keyID, issuerID: box.issuerID, pem: box.privateKey)
        else { return nil }
        return AppStoreSettings(key: key, addresses: [.sandbox: box.address], isPreRelease: false, isBox: true)
    }

    private init(
        key: AppStoreKey, addresses: [AppleEnvironment: String], isPreRelease: Bool, isBox: Bool = false
    ) {
        self.isBox = isBox
        self.key = key
        self.addresses = addresses
        self.isPreRelease = isPreRelease
    }

    /// - Returns: nil where no key is set, and after a fault.
    static func read(_ reader: ProviderSettingsReader) -> AppStoreSettings? {
        let api = reader.settings.object("api")
        let names = ["key_id", "issuer_id", "private_key"]
        let missing = names.filter { api.text($0).isEmpty }
        guard missing.count < names.count else { return nil }
        for name in missing {
            reader.fault(
                "api.\(name)", "missing while the rest of the key is set",
                "Set key_id, issuer_id and private_key, or none of them.")
        }
        if missing.isEmpty { checkIDs(api, reader) }
        let addresses = addresses(api, reader)
        guard !api.text("private_key").isEmpty else { return nil }
        do throws(AppStoreKey.Fault) {
            let key = try AppStoreKey(
                keyID: api.text("key_id"), issuerID: api.text("issuer_id"), pem: api.text("private_key"))
            return AppStoreSettings(key: key, addresses: addresses, isPreRelease: api.boolean("pre_release"))
        } catch {
            reader.fault("api.private_key", error.problem, error.remedy)
            return nil
        }
    }

    private static func addresses(
        _ api: ProviderSettings, _ reader: ProviderSettingsReader
    ) -> [AppleEnvironment: String] {
        let urls = [AppleEnvironment.production: "production_url", .sandbox: "sandbox_url"]
        let accepted = reader.settings.texts("environments")
        var addresses: [AppleEnvironment: String] = [:]
        for (environment, setting) in urls.sorted(by: { $0.value < $1.value }) {
            if reader.settings["environments"] != nil && !accepted.contains(environment.rawValue) { continue }
            let text = api.text(setting)
            addresses[environment] = text.isEmpty ? Self.addresses[environment] : base(text)
            if addresses[environment] == nil {
                reader.fault(
                    "api.\(setting)", "is no plain web address",
                    "Give scheme, host and path alone, or leave it empty for Apple's own.")
            }
        }
        return addresses
    }

    private static func checkIDs(_ api: ProviderSettings, _ reader: ProviderSettingsReader) {
        if !api.text("key_id").hasBytes(0...64, where: \.isLetterOrDigit) {
            reader.fault(
                "api.key_id", "is no key id: letters and digits",
                "Copy it from App Store Connect; it is in the name of the .p8 file, too.")
        }
        if UUID(uuidString: api.text("issuer_id")) == nil {
            reader.fault(
                "api.issuer_id", "is no UUID",
                "Copy it from above the keys in App Store Connect; it is not the team id.")
        }
    }

    /// Returns a base URL without the slash at its end.
    static func base(_ text: String) -> String? {
        let scheme = ["https://", "http://"].first { text.lowercased().hasPrefix($0) }
        guard let scheme, text.utf8.allSatisfy(\.isVisible),
            !text.contains(where: { "?#@".contains($0) })
        else { return nil }
        var base = text[...]
        while base.hasSuffix("/") { base.removeLast() }
        return base.utf8.count > scheme.utf8.count ? String(base) : nil
    }
}

extension AppStoreServerAPI {
    /// Makes the API of each of an account's apps; none where the account has no key.
    static func all(
        _ account: ProviderAccount, _ context: ProviderContext, pause: @escaping @Sendable (Duration) async -> Void
    ) throws(ProviderSetupError) -> [AppStoreServerAPI] {
        guard let settings = try AppStoreSettings(account) else { return [] }
        let apps = account.settings.objects("apps")
        return apps.prefix(settings.isBox ? 1 : apps.count).map {
            AppStoreServerAPI(
                bundleID: $0.text("bundle_id"), key: settings.key, addresses: settings.addresses,
                isPreRelease: settings.isPreRelease, isBox: settings.isBox, http: context.http, time: context.time,
                pause: pause)
        }
    }
}
