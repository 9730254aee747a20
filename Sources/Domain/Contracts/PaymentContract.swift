/// The type of a payment contract: the way in which a client is asked to pay.
public enum ContractType: String, Sendable, Codable, CaseIterable {
    case appleIAP = "apple_iap"
    case stripe, url, qr
    case applePay = "apple_pay"
    /// Parameters for a wallet's library inside an app, or inside WeChat.
    case alipayApp = "alipay_app"
    case wechatApp = "wechat_app"
    case wechatJSAPI = "wechat_jsapi"
    /// The contract of an order whose amount is 0.
    case none

    /// The types that a client without `accept` can get.
    package static let base: Set<ContractType> = [.appleIAP, .stripe, .url, .qr]
    /// The types that an app hands to a wallet's library, or a page to WeChat.
    package static let wallets: Set<ContractType> = [.alipayApp, .wechatApp, .wechatJSAPI]
    /// The types that a client can ask for.
    package static let known = allCases.filter { $0 != .none }
}

extension ContractType {
    /// Returns whether clients of a platform can act on such a contract.
    package func fits(_ platform: Platform) -> Bool {
        switch self {
        case .alipayApp, .wechatApp: platform == .ios || platform == .android
        case .wechatJSAPI: platform == .web
        case .appleIAP, .stripe, .url, .qr, .applePay, .none: true
        }
    }

    /// True where Apple sells digital goods itself: an app for iOS starts another wallet for other goods only.
    package func isApplesOwn(on platform: Platform) -> Bool {
        platform == .ios && (self == .alipayApp || self == .wechatApp)
    }
}

/// The provider's part of a payment contract: the action that the client takes.
public enum PaymentInstruction: Hashable, Sendable {
    case appleIAP(productIDs: [String], appAccountToken: String, hint: String)
    /// `method` is the one payment method type that the account offers; nil where it has several, or leaves it to Stripe.
    case stripe(publishableKey: String, clientSecret: String, method: String? = nil)
    case url(checkoutURL: String)
    /// The text to encode as a QR code.
    case qr(text: String)
    case applePay(ApplePayRequest)
    /// The signed request that an app hands to Alipay's library as it is.
    case alipayApp(orderString: String)
    case wechatApp(WeChatAppParameters)
    case wechatJSAPI(WeChatJSAPIParameters)
    case none

    public var type: ContractType {
        switch self {
        case .appleIAP: .appleIAP
        case .stripe: .stripe
        case .url: .url
        case .qr: .qr
        case .applePay: .applePay
        case .alipayApp: .alipayApp
        case .wechatApp: .wechatApp
        case .wechatJSAPI: .wechatJSAPI
        case .none: .none
        }
    }
}

/// The typed payment contract: a tagged union on `type` (`api.md` section 3).
package struct PaymentContract: Sendable, Equatable {
    package let order: ID<Order>
    package let payment: ID<Payment>?
    package let provider: AccountID?
    package let status: Payment.State
    package let recurring: Bool
    package let amount: Money
    package let expiresAt: Timestamp
    package let pollAfterMilliseconds: Int64
    package let instruction: PaymentInstruction
    /// The address at which the SVG of a `qr` contract is served.
    package let qrImageURL: String?
    /// The part about the renewals by Paydesk; nil for other contracts.
    package private(set) var renewal: RecurringContract?

    package init(
        order: ID<Order>, payment: ID<Payment>?, provider: AccountID?, status: Payment.State, recurring: Bool,
        amount: Money,
        expiresAt: Timestamp, pollAfterMilliseconds: Int64, instruction: PaymentInstruction, qrImageURL: String? = nil,
        renewal: RecurringContract? = nil
    ) {
        self.order = order
        self.payment = payment
        self.provider = provider
        self.status = status
        self.recurring = recurring
        self.amount = amount
        self.expiresAt = expiresAt
        self.pollAfterMilliseconds = pollAfterMilliseconds
        self.instruction = instruction
        self.qrImageURL = qrImageURL
        self.renewal = renewal
    }

    /// Returns this contract with the terms of renewals in a language, `en` or `zh-Hans`.
    package func speaking(_ language: String) -> PaymentContract {
        var spoken = self
        spoken.renewal = renewal?.speaking(language)
        return spoken
    }
}

extension PaymentContract: Encodable {
    private enum CodingKeys: String, CodingKey {
        case order = "order_id"
        case payment = "payment_id"
        case provider, status, recurring, amount
        case expiresAt = "expires_at"
        case pollAfterMilliseconds = "poll_after_ms"
        case qrImageURL = "qr_image_url"
        case setup, setup_id, period, trial_days, next_charge_at, next_amount, terms
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(order, forKey: .order)
        try fields.encode(payment, forKey: .payment)
        try fields.encode(provider?.rawValue, forKey: .provider)
        try fields.encode(status.rawValue, forKey: .status)
        try fields.encode(recurring, forKey: .recurring)
        try fields.encode(amount, forKey: .amount)
        try fields.encode(expiresAt.rawValue, forKey: .expiresAt)
        try fields.encode(pollAfterMilliseconds, forKey: .pollAfterMilliseconds)
        try fields.encodeIfPresent(qrImageURL, forKey: .qrImageURL)
        if let renewal {
            try fields.encode(renewal.setup != nil, forKey: .setup)
            try fields.encode(renewal.setup, forKey: .setup_id)
            try fields.encode(renewal.period, forKey: .period)
            try fields.encode(renewal.trialDays, forKey: .trial_days)
            try fields.encode(renewal.nextChargeAt, forKey: .next_charge_at)
            try fields.encode(renewal.nextAmount, forKey: .next_amount)
            try fields.encode(renewal.terms, forKey: .terms)
        }
        try instruction.encode(to: encoder)
    }
}

extension PaymentInstruction: Codable {
    private enum CodingKeys: String, CodingKey {
        case type, stripe, hint
        case productIDs = "product_ids"
        case applePay = "apple_pay"
        case alipayApp = "alipay_app"
        case wechatApp = "wechat_app"
        case wechatJSAPI = "wechat_jsapi"
        case appAccountToken = "app_account_token"
        case checkoutURL = "checkout_url"
    }

    private struct Stripe: Codable {
        let publishable_key: String
        let client_secret: String
        let method: String?
    }

    private struct AlipayApp: Codable {
        let order_string: String
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(type, forKey: .type)
        switch self {
        case .appleIAP(let productIDs, let appAccountToken, let hint):
            try fields.encode(productIDs, forKey: .productIDs)
            try fields.encode(appAccountToken, forKey: .appAccountToken)
            try fields.encode(hint, forKey: .hint)
        case .stripe(let publishableKey, let clientSecret, let method):
            try fields.encode(
                Stripe(publishable_key: publishableKey, client_secret: clientSecret, method: method), forKey: .stripe)
        case .url(let address), .qr(let address):
            try fields.encode(address, forKey: .checkoutURL)
        case .applePay(let request):
            try fields.encode(request, forKey: .applePay)
        case .alipayApp(let orderString):
            try fields.encode(AlipayApp(order_string: orderString), forKey: .alipayApp)
        case .wechatApp(let parameters): try fields.encode(parameters, forKey: .wechatApp)
        case .wechatJSAPI(let parameters): try fields.encode(parameters, forKey: .wechatJSAPI)
        case .none:
            break
        }
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        switch try fields.decode(ContractType.self, forKey: .type) {
        case .appleIAP:
            self = .appleIAP(
                productIDs: try fields.decode([String].self, forKey: .productIDs),
                appAccountToken: try fields.decode(String.self, forKey: .appAccountToken),
                hint: try fields.decode(String.self, forKey: .hint))
        case .stripe:
            let stripe = try fields.decode(Stripe.self, forKey: .stripe)
            self = .stripe(
                publishableKey: stripe.publishable_key, clientSecret: stripe.client_secret, method: stripe.method)
        case .url: self = .url(checkoutURL: try fields.decode(String.self, forKey: .checkoutURL))
        case .qr: self = .qr(text: try fields.decode(String.self, forKey: .checkoutURL))
        case .none: self = .none
        case .applePay: self = .applePay(try fields.decode(ApplePayRequest.self, forKey: .applePay))
        case .alipayApp:
            self = .alipayApp(orderString: try fields.decode(AlipayApp.self, forKey: .alipayApp).order_string)
        case .wechatApp: self = .wechatApp(try fields.decode(WeChatAppParameters.self, forKey: .wechatApp))
        case .wechatJSAPI: self = .wechatJSAPI(try fields.decode(WeChatJSAPIParameters.self, forKey: .wechatJSAPI))
        }
    }
}
