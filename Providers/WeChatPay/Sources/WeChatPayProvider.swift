public import Domain
public import ProviderKit

/// WeChat Pay (API v3): `qr` contracts with native payment, `url` contracts with H5 payment, and the parameters for apps
/// and for pages and mini programs inside WeChat.
///
/// Our payment and refund ids are its order numbers, so that everything can be queried by our own ids and every
/// repetition is the same order. Each of its messages is verified with its platform certificates or its public key
/// before it is read.
public struct WeChatPayProvider: PaymentProvider {
    /// The manifest; `cancel` is best effort, because an order may be too recent to be closed, or be paid while it is
    /// closed.
    public static let manifest = ProviderManifest(
        kind: "wechat_pay", displayName: "WeChat Pay", contractTypes: [.qr, .url, .wechatApp, .wechatJSAPI],
        currencies: [.cny], cancel: .bestEffort, refunds: .partial,
        notifications: [.post], longestWait: WeChatPayProvider.longestWait, settings: WeChatPaySettings.schema)

    /// The seconds for which WeChat Pay keeps an order open (pay.weixin.qq.com/doc/v3/merchant/4013070347, `time_expire`).
    static let longestWait: Int64 = 7 * 86_400

    let settings: WeChatPaySettings
    let context: ProviderContext
    let api: WeChatPayAPI

    public init(account: ProviderAccount, context: ProviderContext) throws(ProviderSetupError) {
        settings = try WeChatPaySettings(account)
        self.context = context
        api = WeChatPayAPI(settings: settings, context: context)
    }

    public var contractTypes: Set<ContractType> { Set(orderedContractTypes) }

    public var orderedContractTypes: [ContractType] { settings.modes.map(\.contract) }

    /// Checks the amount: WeChat Pay's `total` is an integer of fen with up to 10 digits.
    public func amountFault(_ amount: Money) -> AmountFault? { .of(amount, in: "CNY", 1...9_999_999_999) }

    public func open(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        try await opening(attempt)
    }

    public func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        try await asking(payment)
    }

    public func cancel(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        try await cancelling(payment)
    }

    public func refund(_ refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        try await refunding(refund)
    }

    public func query(refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        try await asking(refund)
    }

    public func receive(_ notification: RawNotification) async throws(ProviderError) -> ReceivedNotification {
        try await verify(notification)
        return try await reading(notification.body)
    }
}

extension WeChatPayProvider: WalletBinding, PayerAuthorizing {
    public func appIDs(of type: ContractType) -> [String] {
        guard type == .wechatApp || type == .wechatJSAPI, let mode = settings.mode(of: type) else { return [] }
        return settings.apps(of: mode)
    }

    public func needsOpenID(_ type: ContractType) -> Bool { type == .wechatJSAPI }

    public var authorization: (any PayerAuthorization)? {
        settings.authorization.map { WeChatAuthorization(settings: $0, context: context) }
    }
}
