/// A payment token as a client sent it, read and not verified.
///
/// Source: Apple, Payment Token Format Reference.
public struct ApplePayToken: Sendable {
    /// The token's version, which determines how it is signed and encrypted.
    public enum Version: String, CaseIterable, Sendable {
        case ec = "EC_v1"
        case rsa = "RSA_v1"
    }

    /// The card as the wallet shows it: unsigned, so for display only.
    public struct Method: Equatable, Sendable {
        public let displayName: String?
        public let network: String?
        public let type: String?
    }

    /// The JSON text of `paymentData`, byte for byte as it was received.
    public let paymentData: [UInt8]
    public let version: Version
    /// The identifier outside of the signature, as it was received.
    public let transactionIdentifier: String?
    public let method: Method
    /// The SHA-256 of the merchant key's SubjectPublicKeyInfo, which names the key.
    public let publicKeyHash: [UInt8]
    let fields: PaymentDataFields

    /// Reads a whole token or its `paymentData` alone.
    ///
    /// - Parameter json: `{paymentData, paymentMethod, transactionIdentifier}` or `{version, data, signature, header}`,
    ///   at most 32 KiB; `paymentData` is an object, a string with its JSON, or base64 of that JSON.
    public init(_ json: [UInt8]) throws(ApplePayRefusal) {
        let form = try TokenForm(json)
        fields = try PaymentDataFields(form)
        paymentData = form.paymentData
        version = fields.version
        publicKeyHash = fields.publicKeyHash
        transactionIdentifier = form.transactionIdentifier
        method = form.method
    }
}

extension ApplePayToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "ApplePayToken(\(version.rawValue))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
