public import Domain
public import FoundationEssentials
public import RefusalReasons

/// A provider whose contracts are paid with a wallet's token, which another account, the processor, charges.
public protocol InstrumentVerifying: PaymentProvider {
    /// The account that charges the tokens.
    var processor: AccountID { get }

    /// The form of the tokens for the processor.
    var tokenForm: InstrumentForm { get }

    /// Verifies a token, offline, at the current time.
    ///
    /// - Parameters:
    ///   - token: the client's JSON, unchanged.
    ///   - applicationData: the data of the payment's contract, which the wallet has signed.
    /// - Throws: ``InstrumentRefusal`` with the precise reason.
    func verify(token: Data, applicationData: Data) throws(InstrumentRefusal) -> VerifiedInstrument
}

/// A token that the wallet's vendor has signed for one payment.
public struct VerifiedInstrument: Sendable {
    /// The signed id of the wallet's transaction; no two payments may have it.
    public let transactionID: String
    /// The amount that the payer authorized; nil where the server has no key to decrypt it.
    public let amount: StatedAmount?
    public let instrument: Instrument

    public init(transactionID: String, amount: StatedAmount?, instrument: Instrument) {
        self.transactionID = transactionID
        self.amount = amount
        self.instrument = instrument
    }
}

/// An amount in minor units, with the ISO 4217 number of its currency, `156`.
public struct StatedAmount: Sendable, Equatable {
    public let value: Int64
    public let currencyNumber: String

    public init(value: Int64, currencyNumber: String) {
        self.value = value
        self.currencyNumber = currencyNumber
    }

    package func equals(_ money: Money) -> Bool {
        value == money.value && currencyNumber == money.currency.number
    }
}

/// The reason why a token is refused.
public struct InstrumentRefusal: Error, Sendable, Equatable {
    public typealias Reason = PaymentTokenRefusalReason

    public let reason: Reason
    /// Details for the log, without any part of the token.
    public let detail: String
    /// The transaction of a token whose only fault is its age, by which a token that was used in time finds its
    /// payment.
    public let transactionID: String?

    public init(_ reason: Reason, detail: String, transactionID: String? = nil) {
        self.reason = reason
        self.detail = detail
        self.transactionID = transactionID
    }
}
