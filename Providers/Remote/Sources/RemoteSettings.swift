import Domain
import ProviderKit

/// The validated settings of an account's file.
struct RemoteSettings: Sendable {
    static let secretLimit = 8

    /// The base URL without a slash at its end.
    let url: String
    /// The secrets: the first signs, all verify; never empty.
    let secrets: [RemoteSecret]
    let isDevelopment: Bool

    static let schema = SettingsSchema([
        SettingsSchema.Field(
            "url", .url, required: true, summary: "Where the plugin is; https, except in development."),
        SettingsSchema.Field(
            "secrets", .list(.secret), required: true,
            summary:
                "whsec_ and the base64 of 24 to 64 bytes; the first signs, all verify, so that one can replace another."
        ),
        SettingsSchema.Field(
            "test", .boolean, default: .boolean(false),
            summary: "Whether the plugin moves no real money; its orders are Sandbox then."),
    ])

    /// - Throws: every fault, without any value.
    init(_ account: ProviderAccount) throws(ProviderSetupError) {
        let settings = account.settings
        var faults: [ProviderSetupError.Fault] = []
        func fault(_ setting: String, _ problem: String, _ remedy: String) {
            faults.append(.init(setting: setting, problem: problem, remedy: remedy))
        }
        isDevelopment = account.isDevelopment
        let base = Self.base(settings.text("url"))
        url = base ?? ""
        if base == nil {
            fault(
                "url", settings.text("url").isEmpty ? "is missing" : "is no plain web address",
                "give scheme, host and path alone")
        } else if base?.hasPrefix("https://") == false, !account.isDevelopment {
            fault("url", "is without https, which is for development only", "use https")
        }
        let texts = settings.texts("secrets")
        secrets = texts.compactMap { RemoteSecret($0) }
        if texts.isEmpty {
            fault("secrets", "is empty", "list at least one; `openssl rand -base64 32` after whsec_ makes one")
        } else if texts.count > Self.secretLimit {
            fault("secrets", "has more than \(Self.secretLimit)", "keep the one in use and the one that replaces it")
        } else if Set(texts).count != texts.count {
            fault("secrets", "has one twice", "remove it")
        } else if secrets.count != texts.count {
            fault("secrets", "has one of a wrong form", "write whsec_ and the base64 of 24 to 64 random bytes")
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
