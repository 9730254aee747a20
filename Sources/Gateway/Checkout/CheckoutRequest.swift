package import Domain
import Store

/// A request for an order and its payment contract.
package struct CheckoutRequest: Sendable {
    package var sku: String
    package var quantity: Int64
    package var days: Int64?
    package var platform: Platform
    package var currency: Currency
    /// The id of an account or a provider kind.
    package var provider: String?
    /// The contract types that the client supports.
    package var accept: Set<ContractType>
    package var returnURL: String?
    /// The language of texts for the payer; nil for the SKU's default texts.
    package var locale: String?
    /// The language of a subscription's terms; nil for English.
    package var termsLocale: String?
    package var metadata: [String: String]
    /// The payer's address; nil where it is not known.
    package var payerAddress: IPAddress?
    /// The payer as a wallet knows them; nil where the caller names neither an app nor an openid.
    package var wallet: WalletPayer?
    /// The token of Apple's with which is bought outside of the App Store; nil for none.
    package var external: ExternalClaim?
    /// The session that orders, which has checked the return address; nil for other callers.
    var session: SessionOrder?

    package init(
        sku: String, quantity: Int64 = 1, days: Int64? = nil, platform: Platform, currency: Currency,
        provider: String? = nil, accept: Set<ContractType> = ContractType.base, returnURL: String? = nil,
        locale: String? = nil, metadata: [String: String] = [:], payerAddress: IPAddress? = nil
    ) {
        self.sku = sku
        self.quantity = quantity
        self.days = days
        self.platform = platform
        self.currency = currency
        self.provider = provider
        self.accept = accept
        self.returnURL = returnURL
        self.locale = locale
        termsLocale = locale
        self.metadata = metadata
        self.payerAddress = payerAddress
    }
}

extension CheckoutRequest {
    /// Returns the first of the caller's languages in which there are terms of subscriptions; nil for none.
    package static func termsLanguage(of languages: [String]) -> String? { SubscriptionLanguage.first(of: languages) }
}

/// A request for another attempt to pay an open order.
package struct RetryRequest: Sendable {
    package var platform: Platform
    package var currency: Currency?
    package var provider: String?
    package var accept: Set<ContractType>
    package var returnURL: String?
    /// The payer's address; nil where it is not known.
    package var payerAddress: IPAddress?
    /// The payer as a wallet knows them; an earlier attempt's is not taken over.
    package var wallet: WalletPayer?
    /// The session that makes the attempt, which has checked the return address; nil for other callers.
    var session: ID<Session>?
    /// The page of the calling session, to which it may return whatever `return_urls` says; nil for none.
    package var page: String?

    package init(
        platform: Platform, currency: Currency?, provider: String?, accept: Set<ContractType>, returnURL: String?,
        payerAddress: IPAddress? = nil
    ) {
        self.platform = platform
        self.currency = currency
        self.provider = provider
        self.accept = accept
        self.returnURL = returnURL
        self.payerAddress = payerAddress
    }

    /// A checkout's request, for the attempts after its first.
    init(_ request: CheckoutRequest) {
        self.init(
            platform: request.platform, currency: request.currency, provider: request.provider, accept: request.accept,
            returnURL: request.returnURL, payerAddress: request.payerAddress)
        wallet = request.wallet
        session = request.session?.session
    }
}

/// A request's attempt to get a contract for an order.
struct CheckoutAttempt: Sendable {
    let order: ID<Order>
    var request: RetryRequest
    let context: CallContext
    /// True for a checkout, whose key is bound to its order; the key of a retry is bound to its payment.
    let isCheckout: Bool

    /// Keeps the run's key where the run continues with another payment.
    ///
    /// - Throws: `requestInProgress` where another run has taken the key over.
    func keepKey(for payment: ID<Payment>, in tx: any Transaction, at now: Timestamp) throws {
        try tx.rebind(context, to: isCheckout ? order.rawValue : payment.rawValue, at: now)
    }
}

/// The order that a session makes next.
struct SessionOrder: Sendable {
    let session: ID<Session>
    /// Its number among the session's orders, from 1.
    let n: Int64
    /// The real time of the call.
    let at: Timestamp
}
