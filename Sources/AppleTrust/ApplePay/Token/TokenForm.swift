import Encodings
import RefusalReasons

/// The payment data of a token and the fields beside it, in any of the shapes in which clients send tokens.
struct TokenForm {
    /// The JSON text of the payment data, as it was received.
    let paymentData: [UInt8]
    /// The text to which `members` belong.
    let json: JSONDocument
    /// The members of the payment data.
    let members: [JSONMember]
    let transactionIdentifier: String?
    let method: ApplePayToken.Method

    init(_ bytes: [UInt8]) throws(ApplePayRefusal) {
        let root = try Self.read(bytes, "the token")
        guard !root.root.contains(where: { Self.paymentFields.contains($0.name) }) else {
            self.init(paymentData: bytes, json: root, members: root.root, identifier: nil, method: nil)
            return
        }
        guard let member = root.root.first(where: { $0.name == "paymentData" }) else {
            guard root.root["transactionIdentifier"] == nil, root.root["paymentMethod"] == nil else {
                throw Self.simulator
            }
            throw .malformed("there is no paymentData")
        }
        let identifier = try Self.identifier(root)
        let method = root.root["paymentMethod"]
        let named = (text: root, node: method)
        switch member.value {
        case .null: throw Self.simulator
        case .object(let members):
            guard !members.isEmpty else { throw Self.simulator }
            self.init(
                paymentData: Array(bytes[member.extent]), json: root, members: members, identifier: identifier,
                method: named)
        case .string:
            let text = try Self.decode(Array((root.string(member.value) ?? "").utf8))
            let inner = try Self.read(text, "paymentData")
            guard !inner.root.isEmpty else { throw Self.simulator }
            self.init(paymentData: text, json: inner, members: inner.root, identifier: identifier, method: named)
        default: throw .malformed("paymentData is neither an object nor text")
        }
    }

    private init(
        paymentData: [UInt8], json: JSONDocument, members: [JSONMember], identifier: String?,
        method: (text: JSONDocument, node: JSONNode?)?
    ) {
        self.paymentData = paymentData
        self.json = json
        self.members = members
        transactionIdentifier = identifier
        var parts: [JSONMember] = []
        if case .object(let members)? = method?.node { parts = members }
        func shown(_ name: String) -> String? {
            guard let node = parts[name], let text = method?.text.string(node) else { return nil }
            return String(String.UnicodeScalarView(text.unicodeScalars.prefix(TokenLimits.display)))
        }
        self.method = ApplePayToken.Method(
            displayName: shown("displayName"), network: shown("network"), type: shown("type"))
    }

    /// The members of payment data that a whole token does not have.
    private static let paymentFields: Set<String> = ["version", "data", "signature", "header"]

    private static let simulator = ApplePayRefusal(.simulatorToken, "the token has no payment data")

    private static func read(_ bytes: [UInt8], _ what: String) throws(ApplePayRefusal) -> JSONDocument {
        guard bytes.count <= TokenLimits.json else { throw .malformed("\(what) has \(bytes.count) bytes") }
        do throws(JSONSyntaxError) {
            return try JSONDocument(bytes)
        } catch {
            throw .malformed("\(what) is no JSON object at byte \(error.offset): \(error.problem)")
        }
    }

    /// JSON text, or base64 of it, in which line breaks may stand as some encoders write them.
    private static func decode(_ text: [UInt8]) throws(ApplePayRefusal) -> [UInt8] {
        guard let first = text.first(where: { !Base64.isSpace($0) }) else { throw simulator }
        guard first != UInt8(ascii: "{") else { return text }
        guard let decoded = Base64.decodeStandard(Base64.withoutSpace(text)[...]) else {
            throw .malformed("paymentData is neither JSON nor base64")
        }
        return decoded
    }

    private static func identifier(_ json: JSONDocument) throws(ApplePayRefusal) -> String? {
        guard let node = json.root["transactionIdentifier"] else { return nil }
        if case .null = node { return nil }
        guard let text = json.string(node), text.utf8.count <= TokenLimits.identifier else {
            throw .malformed("transactionIdentifier is no short text")
        }
        return text
    }
}

/// Bounds on a payment token, checked before anything is decoded; Apple's are under 8 KB.
enum TokenLimits {
    /// Bytes of the whole token as JSON, and of its payment data once decoded.
    static let json = 32_768
    /// Octets of the signature.
    static let signature = 16_384
    /// Characters of the identifier that stands outside of the signature.
    static let identifier = 128
    /// Characters of texts that are only shown.
    static let display = 64
    /// Octets of the key that an RSA token wraps: moduli of 2048 to 4096 bits.
    static let wrappedKey = 256...512
    /// Octets of a transaction id.
    static let transactionID = 32
    /// Octets of the tag at the end of the encrypted data.
    static let tag = 16
}
