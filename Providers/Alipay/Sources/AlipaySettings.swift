import Domain
import ProviderKit

/// The validated settings of an account's file.
struct AlipaySettings: Sendable {
    /// The product of Alipay for payments.
    enum Mode: String, CaseIterable, Sendable {
        /// A QR code for the payer.
        case precreate
        /// Alipay's page for computers.
        case page
        /// Alipay's page for phones.
        case wap
        /// `wap` on phones and `page` on other devices.
        case web
        /// A signed request for Alipay's library inside an app.
        case app

        var contract: ContractType {
            switch self {
            case .precreate: .qr
            case .page, .wap, .web: .url
            case .app: .alipayApp
            }
        }
    }

    static let officialGateway = "https://openapi.alipay.com/gateway.do"

    /// The modes, the one first that is taken where a client accepts several.
    let modes: [Mode]
    let appID: String
    let sellerID: String
    let privateKey: AlipayPrivateKey
    let proof: AlipayProof
    let productCode: String?
    let gateway: String

    static let schema = SettingsSchema([
        SettingsSchema.Field(
            "mode", .choice(Mode.allCases.map(\.rawValue)),
            summary:
                "precreate makes qr contracts; page, wap and web (one of the two by platform) make url contracts, app "
                + "makes alipay_app contracts; precreate where neither mode nor modes is set."),
        SettingsSchema.Field(
            "modes", .list(.choice(Mode.allCases.map(\.rawValue))),
            summary: "Several modes, the one first that is taken where a client accepts several."),
        SettingsSchema.Field("app_id", .text, required: true, summary: "The application's id, digits."),
        SettingsSchema.Field(
            "seller_id", .text, required: true,
            summary: "The merchant's own Alipay id (PID), 2088…: a notification of another's money is refused."),
        SettingsSchema.Field(
            "app_private_key", .secret, required: true,
            summary: "The application's RSA private key, PKCS#1 or PKCS#8, as PEM or base64 alone."),
        SettingsSchema.Field(
            "alipay_public_key", .secret,
            summary: "Public-key mode: Alipay's public key (not the application's), as PEM or base64 alone."),
        SettingsSchema.Field(
            "app_certificate", .path, summary: "Certificate mode: appCertPublicKey_….crt, the application's."),
        SettingsSchema.Field(
            "alipay_certificates", .list(.path), default: .list([]),
            summary: "Certificate mode: alipayCertPublicKey_RSA2.crt; two while one replaces the other."),
        SettingsSchema.Field(
            "alipay_root_certificate", .path, summary: "Certificate mode: alipayRootCert.crt."),
        SettingsSchema.Field(
            "product_code", .text,
            summary: "Another product code than the mode's own, such as QR_CODE_OFFLINE; usually empty."),
        SettingsSchema.Field(
            "gateway", .url, default: .text(officialGateway),
            summary: "Alipay's gateway, or its sandbox's; https, except in development."),
    ])

    /// - Throws: every fault, without any value.
    init(_ account: ProviderAccount) throws(ProviderSetupError) {
        let reader = ProviderSettingsReader(account)
        let settings = reader.settings
        modes = Self.modes(reader)
        appID = settings.text("app_id")
        if !appID.isDigits(8...32) {
            reader.fault(
                "app_id", appID.isEmpty ? "is missing" : "is not made of digits", "copy the APPID of Alipay's console")
        }
        sellerID = settings.text("seller_id")
        if !sellerID.isDigits(16...16) || !sellerID.hasPrefix("2088") {
            let problem = sellerID.isEmpty ? "is missing" : "is not of 16 digits that begin with 2088"
            reader.fault("seller_id", problem, "copy the merchant's PID of Alipay's console")
        }
        let code = settings.text("product_code")
        if !code.isEmpty, AlipayText.word(code) == nil {
            reader.fault("product_code", "is no word", "use Alipay's word, or leave it empty")
        }
        if !code.isEmpty, modes.count > 1 {
            reader.fault("product_code", "stands beside several modes", "leave it out, or make an account for its mode")
        }
        productCode = code.isEmpty ? nil : code

        gateway = reader.address(
            "gateway", default: Self.officialGateway, path: .kept, "give scheme, host and path alone, or leave it out")

        let key = AlipayPrivateKey(settings.text("app_private_key"))
        if key == nil {
            reader.fault(
                "app_private_key", AlipayKeyText.problem(settings.text("app_private_key")),
                "use the application's private key, PKCS#1 or PKCS#8, best as file:path")
        }
        let proof = AlipayProof.read(settings, key?.publicKey, fault: reader.fault)
        try reader.check()
        guard let key, let proof else { throw ProviderSetupError(reader.faults) }
        privateKey = key
        self.proof = proof
    }

    private static func modes(_ reader: ProviderSettingsReader) -> [Mode] {
        let modes = reader.choices("modes", orElse: "mode", default: Mode.precreate)
        if Set(modes.map(\.contract)).count < modes.count {
            reader.fault(
                "modes", "has two modes of one contract type", "name one of page, wap and web, and each mode once")
        }
        return modes
    }
}
