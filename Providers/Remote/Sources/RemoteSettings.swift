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
        let reader = ProviderSettingsReader(account)
        let settings = reader.settings
        isDevelopment = account.isDevelopment
        url = reader.address("url", "give scheme, host and path alone")
        let texts = settings.texts("secrets")
        secrets = texts.compactMap { RemoteSecret($0) }
        if texts.isEmpty {
            reader.fault("secrets", "is empty", "list at least one; `openssl rand -base64 32` after whsec_ makes one")
        } else if texts.count > Self.secretLimit {
            reader.fault(
                "secrets", "has more than \(Self.secretLimit)", "keep the one in use and the one that replaces it")
        } else if Set(texts).count != texts.count {
            reader.fault("secrets", "has one twice", "remove it")
        } else if secrets.count != texts.count {
            reader.fault("secrets", "has one of a wrong form", "write whsec_ and the base64 of 24 to 64 random bytes")
        }
        try reader.check()
    }
}
