import Domain
import Foundation
import ProviderKit

/// The settings of an `apple_pay` account's file, checked as far as possible without parsing certificates.
struct ApplePaySettings: Sendable {
    /// The contents of a certificate's file and a key's file.
    struct KeyPair: Sendable {
        /// The setting's path, for faults.
        let setting: String
        let certificate: [UInt8]
        let privateKey: [UInt8]
    }

    let merchantIdentifier: String
    let displayName: String
    let domain: String
    let countryCode: String
    let supportedNetworks: [String]
    let merchantCapabilities: [String]
    let gateway: String
    /// The roots in PEM; nil for the system's.
    let gatewayRoots: [UInt8]?
    let identity: KeyPair?
    let processing: [KeyPair]
    let processor: AccountID
    let tokenForm: InstrumentForm
    let signingTimeWindowSeconds: Int
    /// The roots in PEM or DER.
    let roots: [[UInt8]]
    let domainAssociation: Data?

    private static let fileLimit = 64 << 10

    init(_ account: ProviderAccount) throws(ProviderSetupError) {
        let reader = ProviderSettingsReader(account)
        merchantIdentifier = reader.text("merchant_identifier", upTo: 255)
        // Apple's limit (Apple Pay on the Web, Requesting an Apple Pay Payment Session).
        displayName = reader.text("display_name", upTo: 64)
        domain = reader.domain("domain")
        countryCode = reader.country("country_code")
        supportedNetworks = reader.words("supported_networks")
        merchantCapabilities = reader.words("merchant_capabilities")
        gateway = reader.gateway("gateway")
        gatewayRoots = reader.file("gateway_ca", account.settings.text("gateway_ca"), limit: Self.fileLimit)
        identity = reader.pair("identity", account.settings.object("identity"), limit: Self.fileLimit)
        processing = account.settings.objects("payment_processing").enumerated().compactMap {
            reader.pair("payment_processing[\($0)]", $1, limit: Self.fileLimit)
        }
        tokenForm = InstrumentForm(rawValue: account.settings.text("token_form")) ?? .encrypted
        signingTimeWindowSeconds = Int(account.settings.integer("signing_time_window_seconds") ?? 300)
        roots = account.settings.texts("root_certificates").enumerated().compactMap {
            reader.file("root_certificates[\($0)]", $1, limit: Self.fileLimit)
        }
        domainAssociation = reader.file(
            "domain_association", account.settings.text("domain_association"), limit: Self.fileLimit
        ).map { Data($0) }
        let processor = AccountID(account.settings.text("processor"))
        if processor == nil {
            reader.fault(
                "processor", "is no account's name", "Name the file in providers/ that charges, without .yaml.")
        }
        if tokenForm == .decrypted, processing.isEmpty {
            reader.fault(
                "token_form", "is decrypted, but payment_processing holds no key",
                "Add the payment processing certificate with its key, or write encrypted.")
        }
        guard let processor, reader.faults.isEmpty else { throw ProviderSetupError(reader.faults) }
        self.processor = processor
    }
}

extension ApplePaySettings.KeyPair: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "KeyPair(\(setting))" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension ApplePaySettings {
    static let schema = SettingsSchema([
        SettingsSchema.Field(
            "merchant_identifier", .text, required: true, summary: "The merchant id of the developer account."),
        SettingsSchema.Field(
            "display_name", .text, required: true, summary: "The merchant's name on the sheet, at most 64 bytes."),
        SettingsSchema.Field(
            "domain", .text, required: true, summary: "The registered domain of the pages that show the button."),
        SettingsSchema.Field(
            "country_code", .text, required: true, summary: "The merchant's country, ISO 3166-1 alpha-2."),
        SettingsSchema.Field(
            "supported_networks", .list(.text), required: true, summary: "Card networks in Apple's words, visa."),
        SettingsSchema.Field(
            "merchant_capabilities", .list(.text), default: .list([.text("supports3DS")]),
            summary: "What the processor can do, in Apple's words; supports3DS must be there."),
        SettingsSchema.Field(
            "gateway", .url, default: .text("https://apple-pay-gateway.apple.com"),
            summary: "Apple's gateway for merchant sessions."),
        SettingsSchema.Field(
            "gateway_ca", .path, developmentOnly: true, summary: "PEM of the root that a loopback gateway has."),
        SettingsSchema.Field(
            "identity", .object(pair), default: .object([:]),
            summary: "The Merchant Identity certificate, for merchant sessions; apps need none."),
        SettingsSchema.Field(
            "payment_processing", .list(.object(pair)), default: .list([]),
            summary: "The Payment Processing certificates with their keys; empty: tokens are not decrypted here."),
        SettingsSchema.Field(
            "processor", .text, required: true, summary: "The account that charges the tokens."),
        SettingsSchema.Field(
            "token_form", .choice(InstrumentForm.allCases.map(\.rawValue)), default: .text("encrypted"),
            summary: "What the processor is given: the token as it is, or what is in it."),
        SettingsSchema.Field(
            "signing_time_window_seconds", .integer(30...3_600), default: .integer(300),
            summary: "How old a token may be."),
        SettingsSchema.Field(
            "root_certificates", .list(.path), default: .list([]), developmentOnly: true,
            summary: "More trust anchors than Apple's own, as PEM or DER files."),
        SettingsSchema.Field(
            "domain_association", .path, summary: "The file that proves the domain to Apple."),
    ])

    private static let pair = SettingsSchema([
        SettingsSchema.Field("certificate", .path, summary: "The certificate, PEM or DER."),
        SettingsSchema.Field("private_key", .secret, summary: "Its private key, PEM."),
    ])
}
