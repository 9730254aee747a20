import Domain
import FoundationEssentials
import ProviderKit

/// The validated settings of an account's file.
struct WeChatPaySettings: Sendable {
    /// The product of WeChat Pay for payments.
    enum Mode: String, CaseIterable, Sendable {
        case native, h5

        var contract: ContractType { self == .native ? .qr : .url }
    }

    static let officialBase = "https://api.mch.weixin.qq.com"

    let mchid: String
    let appid: String
    let mode: Mode
    let identity: WeChatPayIdentity
    let apiKey: ProviderSecret<[UInt8]>
    /// WeChat Pay's own public key; nil where platform certificates are used.
    let publicKey: WeChatPayPublicKey?
    /// The address that `h5` sends where the payer's is unknown.
    let payerAddress: String?
    /// The scheme, host and port.
    let base: String

    static let schema = SettingsSchema([
        SettingsSchema.Field("mchid", .text, required: true, summary: "The merchant number, 1900000001."),
        SettingsSchema.Field(
            "appid", .text, required: true, summary: "The app that is bound to the merchant number, wx…."),
        SettingsSchema.Field(
            "mode", .choice(Mode.allCases.map(\.rawValue)), default: .text(Mode.native.rawValue),
            summary: "native makes qr contracts, h5 makes url contracts for browsers on phones."),
        SettingsSchema.Field(
            "private_key", .secret, required: true,
            summary: "The merchant API certificate's private key (PEM, apiclient_key.pem)."),
        SettingsSchema.Field(
            "certificate", .path, summary: "The merchant API certificate (PEM, apiclient_cert.pem)."),
        SettingsSchema.Field(
            "certificate_serial", .text,
            summary: "The merchant API certificate's serial number, where there is no certificate file."),
        SettingsSchema.Field("api_v3_key", .secret, required: true, summary: "The APIv3 key, 32 characters."),
        SettingsSchema.Field(
            "public_key", .path, summary: "The WeChat Pay public key (PEM, pub_key.pem), where the merchant has one."),
        SettingsSchema.Field("public_key_id", .text, summary: "That key's id, PUB_KEY_ID_…."),
        SettingsSchema.Field(
            "h5_payer_address", .text,
            summary: "With mode h5: the IP address that WeChat Pay is told where the payer's own is not known."),
        SettingsSchema.Field(
            "api_base", .url, default: .text(officialBase),
            summary: "Where WeChat Pay's API is, without a path; https, except in development."),
    ])

    /// - Throws: every fault, without any value.
    init(_ account: ProviderAccount) throws(ProviderSetupError) {
        let reader = ProviderSettingsReader(account)
        let settings = reader.settings
        mchid = reader.text("mchid", 1...32, "copy the merchant number, digits alone", where: \.isDigit)
        appid = reader.text("appid", 1...32, "copy the app's id, wx…", where: \.isWord)
        mode = reader.choice("mode", of: Mode.allCases, default: .native)

        let key = Array(settings.text("api_v3_key").utf8)
        if key.count != 32 || !key.allSatisfy(\.isVisible) {
            reader.fault(
                "api_v3_key", key.isEmpty ? "is missing" : "is not of 32 characters", "copy the APIv3 key as it was set"
            )
        }
        apiKey = ProviderSecret(key)

        payerAddress = reader.ipAddress("h5_payer_address")
        base = reader.address(
            "api_base", default: Self.officialBase, path: .none, "give scheme and host alone: signatures cover the path"
        )

        let identity = WeChatPayIdentity.read(reader)
        publicKey = WeChatPayPublicKey.read(reader)
        try reader.check()
        guard let identity else { throw ProviderSetupError(reader.faults) }
        self.identity = identity
    }
}
