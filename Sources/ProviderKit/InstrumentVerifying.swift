public import Domain
public import FoundationEssentials
public import RefusalReasons

/// A provider whose contract a wallet answers with a token, which another account, the processor, charges.
public protocol InstrumentVerifying: PaymentProvider {
    /// The account that moves the money.
    var processor: AccountID { get }

    /// The form in which the processor is given tokens.
    var tokenForm: InstrumentForm { get }

    /// Verifies a token, offline and now.
    ///
    /// - Parameters:
    ///   - token: JSON as the client sent it.
    ///   - applicationData: what the payment's contract asked the wallet to sign.
    /// - Throws: ``InstrumentRefusal`` with the precise reason.
    func verify(token: Data, applicationData: Data) throws(InstrumentRefusal) -> VerifiedInstrument
}

/// A token that the wallet's maker has signed for one payment.
public struct VerifiedInstrument: Sendable {
    /// The signed id of the wallet's transaction; no two payments may have it.
    public let transactionID: String
    /// The amount that the payer agreed to; nil where the server has no key to decrypt it.
    public let amount: StatedAmount?
    public let instrument: Instrument

    public init(transactionID: String, amount: StatedAmount?, instrument: Instrument) {
        self.transactionID = transactionID
        self.amount = amount
        self.instrument = instrument
    }
}

/// An amount in minor units of a currency that is named by its ISO 4217 number, `156`.
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
    /// Finer words for the log, never a part of the token.
    public let detail: String
    /// The transaction of an instrument with which nothing is wrong but its time; one that was used in time finds its
    /// payment by it.
    public let transactionID: String?

    public init(_ reason: Reason, detail: String, transactionID: String? = nil) {
        self.reason = reason
        self.detail = detail
        self.transactionID = transactionID
    }
}
