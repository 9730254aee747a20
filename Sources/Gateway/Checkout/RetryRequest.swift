package import Domain

/// A request for another attempt to pay an open order.
package struct RetryRequest: Sendable {
    package var platform: Platform
    package var currency: Currency?
    package var provider: String?
    package var accept: Set<ContractType>
    package var returnURL: String?
    /// The payer's address; nil where it is not known.
    package var payerAddress: IPAddress?

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
    }
}
