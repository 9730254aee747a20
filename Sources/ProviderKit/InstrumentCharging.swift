public import Domain

/// A provider that charges what a wallet handed over, such as an Apple Pay token.
///
/// Its manifest names the forms that it takes. A charge is how this provider opens the payment: it has the same
/// idempotency key as ``PaymentProvider/open(_:)``, so that cancelling fences it, and afterwards the payment is queried,
/// cancelled and refunded like any other of this account.
public protocol InstrumentCharging: PaymentProvider {
    /// Takes the money.
    ///
    /// - Throws: ``ProviderError/unavailable`` only where nothing was charged; a reply that was lost is
    ///   ``ProviderError/outcomeUnknown``.
    func charge(_ charge: InstrumentCharge) async throws(ProviderError) -> PaymentReport
}

/// A payment to take from a wallet's token.
public struct InstrumentCharge: Sendable {
    public let payment: ID<Payment>
    public let order: ID<Order>
    public let amount: Money
    /// The title of the purchase, shown to the payer.
    public let title: String
    public let instrument: Instrument

    public init(payment: ID<Payment>, order: ID<Order>, amount: Money, title: String, instrument: Instrument) {
        self.payment = payment
        self.order = order
        self.amount = amount
        self.title = title
        self.instrument = instrument
    }

    /// The key of the payment's opening.
    public var idempotencyKey: String { "\(payment.rawValue)-open" }
}

/// The payment data that a processor charges.
public enum Instrument: Sendable {
    case applePayEncrypted(EncryptedToken)
    case networkToken(NetworkToken)

    public var form: InstrumentForm {
        switch self {
        case .applePayEncrypted: .encrypted
        case .networkToken: .decrypted
        }
    }
}

/// The form in which a processor takes a wallet's token: as it is, or decrypted to the card's token.
public enum InstrumentForm: String, Sendable, Codable, CaseIterable {
    case encrypted, decrypted
}

/// An Apple Pay token as the wallet made it; it shows nothing of itself.
public struct EncryptedToken: Sendable {
    /// The JSON text of `paymentData`, byte for byte as it was received.
    public let paymentData: [UInt8]
    /// The signed transaction id, lower-case hex.
    public let transactionID: String
    /// Unsigned, for display: `Visa 1111`.
    public let displayName: String?
    /// Unsigned, for display: `Visa`.
    public let network: String?

    public init(paymentData: [UInt8], transactionID: String, displayName: String?, network: String?) {
        self.paymentData = paymentData
        self.transactionID = transactionID
        self.displayName = displayName
        self.network = network
    }
}

extension EncryptedToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "EncryptedToken" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A card's token of one device or merchant, with the proof for one payment: card data in the sense of PCI DSS.
///
/// It shows nothing of itself, cannot be encoded, and must not be kept once the charge is made.
public struct NetworkToken: Sendable {
    /// The digits of the token's number.
    public let accountNumber: SecretBytes
    public let expiryMonth: Int
    /// Four digits.
    public let expiryYear: Int
    /// Raw bytes; a payment that a merchant starts has none.
    public let cryptogram: SecretBytes?
    /// The ECI: one or two digits; pass it on where it is not nil.
    public let electronicCommerceIndicator: String?
    /// The EMV data, where the wallet used EMV instead of 3-D Secure.
    public let emvData: SecretBytes?
    public let encryptedPIN: SecretBytes?
    public let deviceManufacturerID: String?
    /// The id of a token that can be charged again.
    public let merchantTokenID: String?

    public init(
        accountNumber: SecretBytes, expiryMonth: Int, expiryYear: Int, cryptogram: SecretBytes?,
        electronicCommerceIndicator: String?, emvData: SecretBytes? = nil, encryptedPIN: SecretBytes? = nil,
        deviceManufacturerID: String? = nil,
        merchantTokenID: String? = nil
    ) {
        self.accountNumber = accountNumber
        self.expiryMonth = expiryMonth
        self.expiryYear = expiryYear
        self.cryptogram = cryptogram
        self.electronicCommerceIndicator = electronicCommerceIndicator
        self.emvData = emvData
        self.encryptedPIN = encryptedPIN
        self.deviceManufacturerID = deviceManufacturerID
        self.merchantTokenID = merchantTokenID
    }
}

extension NetworkToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "NetworkToken" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
