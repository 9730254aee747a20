package import Domain

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
    package var metadata: [String: String]
    /// The payer's address; nil where it is not known.
    package var payerAddress: IPAddress?

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
        self.metadata = metadata
        self.payerAddress = payerAddress
    }
}
