import Domain
import ProviderKit

/// The validated settings of an account's file.
struct EPaySettings: Sendable {
    /// The way in which payments are opened.
    enum Mode: String, CaseIterable, Sendable {
        /// The payer's browser opens a signed address.
        case submit
        /// The service returns a code to scan.
        case mapiQR = "mapi_qr"
        /// The service returns an address to open.
        case mapiURL = "mapi_url"

        var contract: ContractType { self == .mapiQR ? .qr : .url }
    }

    let mode: Mode
    let pid: String
    let key: ProviderSecret<String>
    let signature: EPaySignature
    /// The way to pay, such as `alipay` or `wxpay`; nil leaves it to the payer on the service's page.
    let type: String?
    /// The address that is sent where the payer's is unknown.
    let clientIP: String?
    let hasRefunds: Bool
    let submitURL: String
    let mapiURL: String
    let apiURL: String

    static let dialect = SettingsSchema([
        SettingsSchema.Field(
            "key_joiner", .text, default: .text(""),
            summary: "What is signed between the fields and the key: nothing, or such as &key= or &api_key=."),
        SettingsSchema.Field(
            "digest_case", .choice(["lower", "upper"]), default: .text("lower"),
            summary: "The letters of the signatures that we make; those that come may have either."),
        SettingsSchema.Field(
            "submit_path", .text, default: .text("submit.php"), summary: "The page's path below base."),
        SettingsSchema.Field("mapi_path", .text, default: .text("mapi.php"), summary: "The path that opens payments."),
        SettingsSchema.Field("api_path", .text, default: .text("api.php"), summary: "The path of queries and refunds."),
        SettingsSchema.Field(
            "refunds", .boolean, default: .boolean(false),
            summary: "Whether this service gives money back by act=refund; in full only."),
    ])

    static let schema = SettingsSchema([
        SettingsSchema.Field(
            "mode", .choice(Mode.allCases.map(\.rawValue)), default: .text(Mode.submit.rawValue),
            summary: "submit and mapi_url make url contracts, mapi_qr makes qr contracts."),
        SettingsSchema.Field(
            "base", .url, required: true, summary: "The service's address; https, except in development."),
        SettingsSchema.Field("pid", .text, required: true, summary: "The merchant's id at the service."),
        SettingsSchema.Field("key", .secret, required: true, summary: "The merchant's key."),
        SettingsSchema.Field(
            "type", .text, summary: "alipay, wxpay …; empty (submit only) leaves the choice to the payer."),
        SettingsSchema.Field(
            "client_ip", .text, summary: "What mapi is told as the payer's address where that is not known."),
        SettingsSchema.Field("dialect", .object(dialect), summary: "Where this service differs from the common one."),
    ])

    /// - Throws: every fault, without any value.
    init(_ account: ProviderAccount) throws(ProviderSetupError) {
        let reader = ProviderSettingsReader(account)
        let settings = reader.settings
        mode = reader.choice("mode", of: Mode.allCases, default: .submit)
        pid = settings.text("pid")
        if EPayText.word(pid) == nil {
            reader.fault("pid", pid.isEmpty ? "is missing" : "is no merchant id", "copy it from the service's console")
        }
        key = ProviderSecret(reader.text("key", 8...256, "copy it from the service's console"))
        let type = settings.text("type")
        if type.isEmpty ? mode != .submit : EPayText.word(type) == nil {
            reader.fault(
                "type", type.isEmpty ? "is missing, and mapi needs it" : "is no word", "use alipay, wxpay or the like")
        }
        self.type = type.isEmpty ? nil : type
        clientIP = reader.ipAddress("client_ip")
        let base = reader.address("base", "give scheme, host and path alone")
        let dialect = settings.object("dialect")
        func path(_ name: String, _ usual: String) -> String {
            let path = dialect.text(name).isEmpty ? usual : dialect.text(name)
            if !Self.isPath(path) { reader.fault("dialect.\(name)", "is no path", "write one such as \(usual)") }
            return "\(base)/\(path)"
        }
        submitURL = path("submit_path", "submit.php")
        mapiURL = path("mapi_path", "mapi.php")
        apiURL = path("api_path", "api.php")
        let joiner = dialect.text("key_joiner")
        if joiner.utf8.count > 32 { reader.fault("dialect.key_joiner", "is too long", "write such as &key=") }
        hasRefunds = dialect.boolean("refunds")
        signature = EPaySignature(key: key, joiner: joiner, isUpperCase: dialect.text("digest_case") == "upper")
        try reader.check()
    }

    private static func isPath(_ path: String) -> Bool {
        path.utf8.count <= 128 && !path.hasPrefix("/")
            && path.split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
                EPayText.word(String($0)) != nil && $0 != "." && $0 != ".."
            }
    }
}

/// Converts texts for the service and from it.
enum EPayText {
    /// Returns an id, a status or a type that is safe to show and log; nil for other characters than letters, digits,
    /// `_`, `-` and `.`.
    static func word(_ text: String?) -> String? { ServiceText.word(text, further: "-.") }

    /// Returns the title of the purchase, cut to 127 bytes like the services do.
    ///
    /// Services repeat the name in their notifications, so it never contains the mark of Paydesk's own texts.
    static func name(_ title: String) -> String {
        let line = String(String.UnicodeScalarView(title.unicodeScalars.filter { !Character($0).isNewline }))
        return line.replacing(EPaySignature.ownMark, with: " ").cut(bytes: 127)
    }

    /// Parses yuan exactly; "10" and "10.00" are equal.
    ///
    /// - Returns: nil for text that is no positive amount.
    static func money(_ text: String?) -> Money? {
        guard let text, text.utf8.count <= 20, let money = Money(decimal: text, currency: .cny), money.value > 0
        else { return nil }
        return money
    }
}
