/// The decrypted payment data of a token.
///
/// Card data is shown to closures only, and overwritten when the last reference to this object is released; that is
/// best effort, see `CardData`. No card data is in a description, a dump or an error, and it cannot be encoded.
public final class DecryptedToken: Sendable {
    public enum Kind: String, CaseIterable, Sendable {
        case threeDSecure = "3DSecure"
        case emv = "EMV"
    }

    public let kind: Kind
    /// The numeric code of ISO 4217: three digits.
    public let currencyNumeric: String
    /// The amount in the currency's minor units, never negative.
    public let amountMinor: Int64
    public let deviceManufacturerIdentifier: String?
    public let cardholderName: String?
    /// The id of the merchant's own token of the card, for recurring payments.
    public let merchantTokenIdentifier: String?
    public let hasMerchantTokenMetadata: Bool
    /// The share of each merchant, where one token pays several.
    public let authenticationResponses: [AuthenticationResponse]
    private let bytes: WipedBytes
    private let layout: CardLayout

    /// Unknown fields are ignored.
    init(_ payment: PaymentReader) throws(ApplePayRefusal) {
        guard let kind = Kind(rawValue: try payment.required("paymentDataType")) else {
            throw payment.wrong("paymentDataType")
        }
        guard let currency = try payment.digits("currencyCode", 1...3) else { throw payment.wrong("currencyCode") }
        let code = String(decoding: currency, as: UTF8.self)
        currencyNumeric = String(repeating: "0", count: 3 - code.count) + code
        amountMinor = try payment.amount("transactionAmount")
        deviceManufacturerIdentifier = try payment.text("deviceManufacturerIdentifier")
        cardholderName = try payment.text("cardholderName")
        merchantTokenIdentifier = try payment.text("merchantTokenIdentifier")
        hasMerchantTokenMetadata = payment.has("merchantTokenMetadata")
        var responses: [AuthenticationResponse] = []
        for response in try payment.objects("authenticationResponses") {
            responses.append(try AuthenticationResponse(response))
        }
        authenticationResponses = responses
        var found: [UInt8] = []
        do throws(ApplePayRefusal) {
            layout = try CardLayout(payment, kind, into: &found)
        } catch {
            WipedBytes.wipe(&found)
            throw error
        }
        self.kind = kind
        bytes = WipedBytes(taking: &found)
    }

    /// Shows the card to a closure.
    public func withCard<Value>(_ body: (borrowing CardData) throws -> Value) rethrows -> Value {
        try bytes.withBytes { try body(CardData($0, layout)) }
    }
}

/// The share of one of several merchants, with the proof that the payer agreed.
public struct AuthenticationResponse: Sendable {
    public let merchantIdentifier: String
    /// The amount as text, unchanged from Apple's message.
    public let transactionAmount: String
    private let bytes: WipedBytes

    init(_ response: PaymentReader) throws(ApplePayRefusal) {
        merchantIdentifier = try response.required("merchantIdentifier")
        transactionAmount = try response.required("transactionAmount")
        var found: [UInt8] = []
        guard try response.base64("authenticationData", into: &found) != nil else {
            throw response.wrong("authenticationData")
        }
        bytes = WipedBytes(taking: &found)
    }

    /// Shows the cryptogram, decoded, to a closure.
    public func withAuthenticationData<Value>(
        _ body: (ArraySlice<UInt8>) throws -> Value
    ) rethrows -> Value {
        try bytes.withBytes { try body($0[...]) }
    }
}

extension CardLayout {
    /// Appends the card's parts; a part that belongs to the other kind of payment is refused.
    init(_ payment: PaymentReader, _ kind: DecryptedToken.Kind, into bytes: inout [UInt8]) throws(ApplePayRefusal) {
        bytes.reserveCapacity(1_024)
        guard let number = try payment.digits("applicationPrimaryAccountNumber", 12...19) else {
            throw payment.wrong("applicationPrimaryAccountNumber")
        }
        accountNumber = Self.append(number, to: &bytes)
        guard let expiry = try payment.digits("applicationExpirationDate", 6...6) else {
            throw payment.wrong("applicationExpirationDate")
        }
        let pairs = stride(from: expiry.startIndex, to: expiry.endIndex, by: 2).map {
            Int(expiry[$0] - 0x30) * 10 + Int(expiry[$0 + 1] - 0x30)
        }
        (year, month) = (2_000 + pairs[0], pairs[1])
        guard (1...12).contains(month), (1...31).contains(pairs[2]) else {
            throw payment.wrong("applicationExpirationDate")
        }
        guard let data = try payment.object("paymentData") else { throw payment.wrong("paymentData") }
        switch kind {
        case .threeDSecure:
            for name in ["emvData", "encryptedPINData"] where data.has(name) { throw data.wrong(name) }
            cryptogram = try data.base64("onlinePaymentCryptogram", into: &bytes)
            eci = try data.digits("eciIndicator", 1...2).map { Self.append($0, to: &bytes) }
        case .emv:
            for name in ["onlinePaymentCryptogram", "eciIndicator"] where data.has(name) { throw data.wrong(name) }
            guard let range = try data.base64("emvData", into: &bytes) else { throw data.wrong("emvData") }
            emvData = range
            encryptedPIN = try data.hex("encryptedPINData", into: &bytes)
        }
    }

    private static func append(_ part: ArraySlice<UInt8>, to bytes: inout [UInt8]) -> Range<Int> {
        let start = bytes.count
        bytes.append(contentsOf: part)
        return start..<bytes.count
    }
}

extension DecryptedToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "DecryptedToken(\(kind.rawValue))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension AuthenticationResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "AuthenticationResponse" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
