import Domain
import FoundationEssentials
import ProviderKit

/// The validated settings of an account's file.
struct WeChatPaySettings: Sendable {
    /// The product of WeChat Pay for payments.
    enum Mode: String, CaseIterable, Sendable {
        case native, h5, app, jsapi

        var contract: ContractType {
            switch self {
            case .native: .qr
            case .h5: .url
            case .app: .wechatApp
            case .jsapi: .wechatJSAPI
            }
        }
    }

    static let officialBase = "https://api.mch.weixin.qq.com"

    let mchid: String
    /// The app of `native` and `h5`.
    let appid: String
    /// The modes, the one first that is taken where a client accepts several.
    let modes: [Mode]
    /// The apps of `app` and `jsapi`.
    let appIDs: [Mode: [String]]
    /// The step that names payers to a page inside WeChat; nil where it is not set.
    let authorization: WeChatAuthorizationSettings?
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
            "mode", .choice(Mode.allCases.map(\.rawValue)),
            summary: "native makes qr contracts, h5 url contracts for browsers on phones, app and jsapi wechat_app and "
                + "wechat_jsapi contracts; native where neither mode nor modes is set."),
        SettingsSchema.Field(
            "modes", .list(.choice(Mode.allCases.map(\.rawValue))),
            summary: "Several modes, the one first that is taken where a client accepts several."),
        SettingsSchema.Field(
            "app_ids", .object(appIDsSchema),
            summary: "The apps of the modes app and jsapi; appid where they are left out."),
        SettingsSchema.Field(
            "oauth", .object(WeChatAuthorizationSettings.schema),
            summary: "With mode jsapi: how the cashier learns inside WeChat who the payer is."),
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

    private static let appIDsSchema = SettingsSchema([
        SettingsSchema.Field(
            "app", .list(.text), summary: "Mobile apps of WeChat's Open Platform, wx…, for wechat_app contracts."),
        SettingsSchema.Field(
            "jsapi", .list(.text), summary: "Service accounts and mini programs, wx…, for wechat_jsapi contracts."),
    ])

    /// - Throws: every fault, without any value.
    init(_ account: ProviderAccount) throws(ProviderSetupError) {
        let reader = ProviderSettingsReader(account)
        let settings = reader.settings
        mchid = reader.text("mchid", 1...32, "copy the merchant number, digits alone", where: \.isDigit)
        appid = reader.text("appid", 1...32, "copy the app's id, wx…", where: \.isWord)
        modes = Self.modes(reader)
        appIDs = Self.appIDs(reader, default: appid)
        authorization = WeChatAuthorizationSettings.read(
            reader, appIDs: modes.contains(.jsapi) ? appIDs[.jsapi] ?? [] : [])

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

    /// Every app that an order of this account may be of.
    var ownApps: Set<String> { Set(modes.flatMap(apps) + [appid]) }

    /// The apps of a mode's orders.
    func apps(of mode: Mode) -> [String] { appIDs[mode] ?? [appid] }

    /// The mode of a contract type; nil for one that the account does not make.
    func mode(of type: ContractType) -> Mode? { modes.first { $0.contract == type } }

    private static func modes(_ reader: ProviderSettingsReader) -> [Mode] {
        let modes = reader.choices("modes", orElse: "mode", default: Mode.native)
        if Set(modes).count < modes.count { reader.fault("modes", "names a mode twice", "name each mode once") }
        return modes
    }

    private static func appIDs(_ reader: ProviderSettingsReader, default appid: String) -> [Mode: [String]] {
        let object = reader.settings.object("app_ids")
        var found: [Mode: [String]] = [:]
        for mode in [Mode.app, .jsapi] {
            guard object[mode.rawValue] != nil else {
                found[mode] = [appid]
                continue
            }
            let ids = object.texts(mode.rawValue)
            if ids.isEmpty || Set(ids).count < ids.count || !ids.allSatisfy({ $0.isWord(1...32) }) {
                reader.fault(
                    "app_ids.\(mode.rawValue)", "is not a list of different app ids",
                    "copy the apps' ids, wx…, or leave it out")
            }
            found[mode] = ids
        }
        return found
    }
}
