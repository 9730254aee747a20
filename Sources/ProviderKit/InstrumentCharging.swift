public import Domain

/// A provider that charges a wallet's token, such as one of Apple Pay.
///
/// Its manifest names the accepted forms. A charge opens the payment at this provider, with the idempotency key of
/// ``PaymentProvider/open(_:)``, so that a cancellation also stops it. Afterwards the payment is queried, cancelled and
/// refunded like any other of this account.
public protocol InstrumentCharging: PaymentProvider {
    /// Charges the token.
    ///
    /// - Throws: ``ProviderError/unavailable`` only where nothing was charged; ``ProviderError/outcomeUnknown`` after a
    ///   lost reply.
    func charge(_ charge: InstrumentCharge) async throws(ProviderError) -> PaymentReport
}

/// A payment to charge to a wallet's token.
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

    /// The idempotency key of the payment's opening.
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

/// The form in which a processor accepts a wallet's token: unchanged, or decrypted to the card's token.
public enum InstrumentForm: String, Sendable, Codable, CaseIterable {
    case encrypted, decrypted
}

/// An Apple Pay token as the wallet made it; its description shows nothing of it.
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

/// A card's token for one device or merchant, with the cryptogram of one payment: card data in the sense of PCI DSS.
///
/// Its description shows nothing of it. It cannot be encoded, and must not be stored after the charge.
public struct NetworkToken: Sendable {
    /// The digits of the token's number.
    public let accountNumber: SecretBytes
    public let expiryMonth: Int
    /// The year in four digits.
    public let expiryYear: Int
    /// The cryptogram's raw bytes; nil for a payment that a merchant starts.
    public let cryptogram: SecretBytes?
    /// The ECI, one or two digits; to be passed on where it is not nil.
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
