import Domain
import AppleTrust
import FoundationEssentials
import ProviderKit

/// The `api` settings of an account: the key, and where the API is.
struct AppStoreSettings {
    static let addresses: [AppleEnvironment: String] = [
        .production: "https://api.storekit.apple.com", .sandbox: "https://api.storekit-sandbox.apple.com",
    ]

    let key: AppStoreKey
    let addresses: [AppleEnvironment: String]
    let isPreRelease: Bool

    /// - Returns: nil where no key is set: the API is never asked then.
    /// - Throws: every fault of the key and the addresses.
    init?(_ account: ProviderAccount) throws(ProviderSetupError) {
        let api = account.settings.object("api")
        let names = ["key_id", "issuer_id", "private_key"]
        guard names.contains(where: { !api.text($0).isEmpty }) else { return nil }
        var faults = names.filter { api.text($0).isEmpty }.map {
            ProviderSetupError.Fault(
                setting: "api.\($0)", problem: "missing while the rest of the key is set",
                remedy: "Set key_id, issuer_id and private_key, or none of them.")
        }
        if faults.isEmpty {
            faults = Self.idFaults(api)
        }
        let urls = [AppleEnvironment.production: "production_url", .sandbox: "sandbox_url"]
        var addresses: [AppleEnvironment: String] = [:]
        for (environment, setting) in urls.sorted(by: { $0.value < $1.value }) {
            let text = api.text(setting)
            let accepted = account.settings.texts("environments")
            if account.settings["environments"] != nil && !accepted.contains(environment.rawValue) { continue }
            addresses[environment] = text.isEmpty ? Self.addresses[environment] : Self.base(text)
            if addresses[environment] == nil {
                faults.append(
                    .init(
                        setting: "api.\(setting)", problem: "is no plain web address",
                        remedy: "Give scheme, host and path alone, or leave it empty for Apple's own."))
            }
        }
        var key: AppStoreKey?
        if !api.text("private_key").isEmpty {
            do throws(AppStoreKey.Fault) {
                key = try AppStoreKey(
                    keyID: api.text("key_id"), issuerID: api.text("issuer_id"), pem: api.text("private_key"))
            } catch {
                faults.append(.init(setting: "api.private_key", problem: error.problem, remedy: error.remedy))
            }
        }
        guard faults.isEmpty, let key else { throw ProviderSetupError(faults) }
        self.key = key
        self.addresses = addresses
        isPreRelease = api.boolean("pre_release")
    }

    private static func idFaults(_ api: ProviderSettings) -> [ProviderSetupError.Fault] {
        var faults: [ProviderSetupError.Fault] = []
        let keyID = api.text("key_id")
        if !keyID.hasBytes(0...64, where: \.isLetterOrDigit) {
            faults.append(
                .init(
                    setting: "api.key_id", problem: "is no key id: letters and digits",
                    remedy: "Copy it from App Store Connect; it is in the name of the .p8 file, too."))
        }
        if UUID(uuidString: api.text("issuer_id")) == nil {
            faults.append(
                .init(
                    setting: "api.issuer_id", problem: "is no UUID",
                    remedy: "Copy it from above the keys in App Store Connect; it is not the team id."))
        }
        return faults
    }

    /// A base URL without the slash at its end.
    private static func base(_ text: String) -> String? {
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
    /// The API of each of an account's apps; none where the account has no key.
    static func all(
        _ account: ProviderAccount, _ context: ProviderContext, pause: @escaping @Sendable (Duration) async -> Void
    ) throws(ProviderSetupError) -> [AppStoreServerAPI] {
        guard let settings = try AppStoreSettings(account) else { return [] }
        return account.settings.objects("apps").map {
            AppStoreServerAPI(
                bundleID: $0.text("bundle_id"), key: settings.key, addresses: settings.addresses,
                isPreRelease: settings.isPreRelease, http: context.http, time: context.time, pause: pause)
        }
    }
}
