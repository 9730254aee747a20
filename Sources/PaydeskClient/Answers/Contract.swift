public import Foundation

/// The typed answer of a checkout: how the payer pays (`api.md` section 3).
public struct Contract: Sendable, Equatable, Decodable {
    /// The way to pay, which the app switches over in one place.
    public enum Payment: Sendable, Equatable {
        /// Buy one of the products with StoreKit (``PurchaseCoordinator/purchase(contract:quantity:)``).
        case appleIAP(AppleProducts)
        /// Confirm with Stripe's own library.
        case stripe(StripePayment)
        /// Open the address.
        case url(URL)
        /// Show the code.
        case qr(QRCode)
        /// Show Apple's sheet (`ApplePayRequest` in `PaydeskApplePay`).
        case applePay(ApplePayTerms)
        /// Hand the text to Alipay's library as it is.
        case alipayApp(String)
        /// Fill the `PayReq` of WeChat's library.
        case wechatApp(WeChatAppPayment)
        /// Hand it to `WeixinJSBridge` of a page inside WeChat, or to `wx.requestPayment` of a mini program.
        case wechatJSAPI(WeChatPagePayment)
        /// No payment: the price is zero and the order is paid.
        case none
        /// A type of a newer server, and the contract as it came.
        case unknown(String, AttributeValue)
    }

    public let orderID: String
    public let paymentID: String?
    public let provider: String?
    public let status: String
    public let isRecurring: Bool
    public let amount: ClientMoney
    /// Seconds since 1970.
    public let expiresAt: Int64?
    public let pollAfterMilliseconds: Int64
    /// The sentence that the payer agrees to first, where the payment renews itself.
    public let terms: String?
    public let payment: Payment

    private enum CodingKeys: String, CodingKey {
        case type, provider, status, amount, terms, stripe
        case orderID = "order_id"
        case paymentID = "payment_id"
        case isRecurring = "recurring"
        case expiresAt = "expires_at"
        case pollAfter = "poll_after_ms"
        case checkoutURL = "checkout_url"
        case applePay = "apple_pay"
        case alipayApp = "alipay_app"
        case wechatApp = "wechat_app"
        case wechatJSAPI = "wechat_jsapi"
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        orderID = try members.decode(String.self, forKey: .orderID)
        paymentID = try members.decodeIfPresent(String.self, forKey: .paymentID)
        provider = try members.decodeIfPresent(String.self, forKey: .provider)
        status = try members.decode(String.self, forKey: .status)
        isRecurring = try members.decodeIfPresent(Bool.self, forKey: .isRecurring) ?? false
        amount = try members.decode(ClientMoney.self, forKey: .amount)
        expiresAt = try members.decodeIfPresent(Int64.self, forKey: .expiresAt)
        pollAfterMilliseconds = try members.decodeIfPresent(Int64.self, forKey: .pollAfter) ?? 2_000
        terms = try members.decodeIfPresent(String.self, forKey: .terms)
        payment =
            switch try members.decode(String.self, forKey: .type) {
            case "apple_iap": .appleIAP(try AppleProducts(from: decoder))
            case "stripe": .stripe(try members.decode(StripePayment.self, forKey: .stripe))
            case "url": .url(try members.decode(URL.self, forKey: .checkoutURL))
            case "qr": .qr(try QRCode(from: decoder))
            case "apple_pay": .applePay(try members.decode(ApplePayTerms.self, forKey: .applePay))
            case "alipay_app": .alipayApp(try members.decode(AlipayAppPayment.self, forKey: .alipayApp).orderString)
            case "wechat_app": .wechatApp(try members.decode(WeChatAppPayment.self, forKey: .wechatApp))
            case "wechat_jsapi": .wechatJSAPI(try members.decode(WeChatPagePayment.self, forKey: .wechatJSAPI))
            case "none": .none
            case let type: .unknown(type, try AttributeValue(from: decoder))
            }
    }
}

/// Products of the App Store, one of which pays an order.
public struct AppleProducts: Sendable, Equatable, Decodable {
    public let productIDs: [String]
    /// The token that names the user inside what Apple signs.
    public let appAccountToken: UUID

    enum CodingKeys: String, CodingKey {
        case productIDs = "product_ids"
        case appAccountToken = "app_account_token"
    }
}

/// The material that Stripe's library takes.
public struct StripePayment: Sendable, Equatable, Decodable {
    public let publishableKey: String
    public let clientSecret: String
    /// The payment method type, where the account offers exactly one.
    public let method: String?

    enum CodingKeys: String, CodingKey {
        case method
        case publishableKey = "publishable_key"
        case clientSecret = "client_secret"
    }
}

/// A code that another device scans.
public struct QRCode: Sendable, Equatable, Decodable {
    /// The text to encode.
    public let content: String
    /// The code as an image.
    public let imageURL: URL?

    enum CodingKeys: String, CodingKey {
        case content = "checkout_url"
        case imageURL = "qr_image_url"
    }
}

/// The members of Apple's payment request (`api.md` section 8).
public struct ApplePayTerms: Sendable, Equatable, Decodable {
    public struct Total: Sendable, Equatable, Decodable {
        public let label: String
        /// Major units, as Apple takes them: "39.90".
        public let amount: String
    }

    public let merchantIdentifier: String
    public let countryCode: String
    public let currencyCode: String
    /// Networks by Apple's names in JavaScript: "visa", "chinaUnionPay".
    public let supportedNetworks: [String]
    public let merchantCapabilities: [String]
    public let total: Total
    /// Base64; binds the wallet's token to this payment.
    public let applicationData: String

    enum CodingKeys: String, CodingKey {
        case total
        case merchantIdentifier = "merchant_identifier"
        case countryCode = "country_code"
        case currencyCode = "currency_code"
        case supportedNetworks = "supported_networks"
        case merchantCapabilities = "merchant_capabilities"
        case applicationData = "application_data"
    }
}

/// A contract type that an app can act on, for `accept`.
public enum ContractType: String, Sendable, CaseIterable {
    case appleIAP = "apple_iap"
    case stripe
    case url
    case qr
    case applePay = "apple_pay"
    case alipayApp = "alipay_app"
    case wechatApp = "wechat_app"
    case wechatJSAPI = "wechat_jsapi"
}

/// The place where the client runs, for `platform`.
public enum ClientPlatform: String, Sendable, CaseIterable {
    case ios, android, web, desktop
}
