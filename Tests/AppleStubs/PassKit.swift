// Declarations of PassKit that PaydeskApplePay uses, as iOS 15 has them; bodies end the process.
// https://developer.apple.com/documentation/passkit/apple-pay
public import Foundation

public let PKPaymentErrorDomain = "PKPassKitErrorDomain"

public struct PKPaymentNetwork: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static var amex: PKPaymentNetwork { fatalError() }
    public static var cartesBancaires: PKPaymentNetwork { fatalError() }
    public static var chinaUnionPay: PKPaymentNetwork { fatalError() }
    public static var discover: PKPaymentNetwork { fatalError() }
    public static var eftpos: PKPaymentNetwork { fatalError() }
    public static var electron: PKPaymentNetwork { fatalError() }
    public static var elo: PKPaymentNetwork { fatalError() }
    public static var girocard: PKPaymentNetwork { fatalError() }
    public static var interac: PKPaymentNetwork { fatalError() }
    public static var JCB: PKPaymentNetwork { fatalError() }
    public static var mada: PKPaymentNetwork { fatalError() }
    public static var maestro: PKPaymentNetwork { fatalError() }
    public static var masterCard: PKPaymentNetwork { fatalError() }
    public static var mir: PKPaymentNetwork { fatalError() }
    public static var privateLabel: PKPaymentNetwork { fatalError() }
    public static var visa: PKPaymentNetwork { fatalError() }
    public static var vPay: PKPaymentNetwork { fatalError() }
}

public struct PKMerchantCapability: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }
}

open class PKPaymentSummaryItem: NSObject {
    public init(label: String, amount: NSDecimalNumber) {}
}

open class PKPaymentRequest: NSObject {
    open var merchantIdentifier = ""
    open var countryCode = ""
    open var currencyCode = ""
    open var supportedNetworks: [PKPaymentNetwork] = []
    open var merchantCapabilities = PKMerchantCapability(rawValue: 0)
    open var paymentSummaryItems: [PKPaymentSummaryItem] = []
    open var applicationData: Data?

    override public init() {}
}

open class PKPaymentMethod: NSObject {
    open var network: PKPaymentNetwork? { nil }
    open var displayName: String? { nil }
}

open class PKPaymentToken: NSObject {
    open var paymentMethod: PKPaymentMethod { fatalError() }
    open var transactionIdentifier: String { fatalError() }
    open var paymentData: Data { fatalError() }
}

open class PKPayment: NSObject {
    open var token: PKPaymentToken { fatalError() }
}

public enum PKPaymentAuthorizationStatus: Int, Sendable {
    case success
    case failure
}

open class PKPaymentAuthorizationResult: NSObject {
    public init(status: PKPaymentAuthorizationStatus, errors: [any Error]?) {}
}

public protocol PKPaymentAuthorizationControllerDelegate: AnyObject {
    // The form with `async` of the requirement with a completion handler.
    func paymentAuthorizationController(
        _ controller: PKPaymentAuthorizationController, didAuthorizePayment payment: PKPayment
    ) async -> PKPaymentAuthorizationResult

    func paymentAuthorizationControllerDidFinish(_ controller: PKPaymentAuthorizationController)
}

open class PKPaymentAuthorizationController: NSObject {
    open weak var delegate: (any PKPaymentAuthorizationControllerDelegate)?

    public init(paymentRequest: PKPaymentRequest) {}

    open class func canMakePayments() -> Bool { fatalError() }
    open class func canMakePayments(usingNetworks networks: [PKPaymentNetwork]) -> Bool { fatalError() }
    open func present() async -> Bool { fatalError() }
    open func dismiss(completion: (@Sendable () -> Void)? = nil) {}
}
