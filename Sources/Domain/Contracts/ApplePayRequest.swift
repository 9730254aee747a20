/// The payment request with which `ApplePaySession` on the web, or `PKPaymentRequest` in an app, shows its sheet.
///
/// Source: Apple, Apple Pay on the Web, ApplePayPaymentRequest; PassKit, PKPaymentRequest.
public struct ApplePayRequest: Hashable, Sendable, Codable {
    /// The line that the payer agrees to.
    public struct Total: Hashable, Sendable, Codable {
        /// The merchant's name.
        public let label: String
        /// Major units as a decimal string, `39.90`.
        public let amount: String

        public init(label: String, amount: String) {
            self.label = label
            self.amount = amount
        }
    }

    public let merchantIdentifier: String
    /// ISO 3166-1 alpha-2.
    public let countryCode: String
    public let currencyCode: String
    /// Apple's names of card networks, `visa`.
    public let supportedNetworks: [String]
    /// Apple's names of capabilities, `supports3DS`.
    public let merchantCapabilities: [String]
    public let total: Total
    /// Base64 of random bytes; the wallet signs their digest, which binds its token to this payment.
    public let applicationData: String

    private enum CodingKeys: String, CodingKey {
        case merchantIdentifier = "merchant_identifier"
        case countryCode = "country_code"
        case currencyCode = "currency_code"
        case supportedNetworks = "supported_networks"
        case merchantCapabilities = "merchant_capabilities"
        case total
        case applicationData = "application_data"
    }

    public init(
        merchantIdentifier: String, countryCode: String, amount: Money, label: String, supportedNetworks: [String],
        merchantCapabilities: [String], applicationData: String
    ) {
        self.merchantIdentifier = merchantIdentifier
        self.countryCode = countryCode
        currencyCode = amount.currency.code
        self.supportedNetworks = supportedNetworks
        self.merchantCapabilities = merchantCapabilities
        total = Total(label: label, amount: amount.decimal)
        self.applicationData = applicationData
    }
}
