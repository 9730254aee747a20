public import Domain
public import ProviderKit

/// Alipay: `qr` contracts with `precreate`, `url` contracts with its pages for computers and phones, `alipay_app` contracts
/// with signed requests for its library inside an app.
///
/// It stores nothing: the payment's id is the trade's number and the refund's id that of the refund, so both can be
/// queried and repeated. A trade exists only after a payer has scanned or opened it, so the cancellation of an unopened
/// one cannot be definite.
public struct AlipayProvider: PaymentProvider {
    public static let manifest = ProviderManifest(
        kind: "alipay", displayName: "Alipay", contractTypes: [.qr, .url, .alipayApp],
        currencies: [.cny], cancel: .bestEffort, refunds: .partial,
        notifications: [.post], longestWait: AlipayProvider.longestWait, settings: AlipaySettings.schema)

    /// The seconds for which Alipay lets a trade wait (opendocs.alipay.com/open/02e7gq, `timeout_express`: up to 15 days).
    static let longestWait: Int64 = 15 * 86_400

    let settings: AlipaySettings
    let context: ProviderContext
    let api: AlipayAPI

    public init(account: ProviderAccount, context: ProviderContext) throws(ProviderSetupError) {
        settings = try AlipaySettings(account)
        self.context = context
        api = AlipayAPI(settings: settings, context: context)
    }

    /// Returns true for Alipay's sandbox, which has another gateway: `openapi-sandbox.dl.alipaydev.com` or, before
    /// 2023, `openapi.alipaydev.com`.
    public static func isTest(_ settings: ProviderSettings) -> Bool {
        WebAddress(settings.text("gateway"))?.isAt("alipaydev.com") ?? false
    }

    public var contractTypes: Set<ContractType> { Set(orderedContractTypes) }

    public var orderedContractTypes: [ContractType] { settings.modes.map(\.contract) }

    public func amountFault(_ amount: Money) -> AmountFault? { .of(amount, in: "CNY", 1...Self.amountLimit) }

    public func open(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        try await opening(attempt)
    }

    public func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        do throws(AlipayFailure) {
            return try report(try await api.trade(payment), payment)
        } catch {
            throw error.providerError(afterChange: false)
        }
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
        try await reading(notification)
    }

    /// - Parameter trade: nil where Alipay has none yet: the code may still be scanned, so the payment has not ended.
    func report(_ trade: AlipayTrade?, _ payment: ProviderReference) throws(AlipayFailure) -> PaymentReport {
        guard let trade else { return PaymentReport(payment: payment.payment, outcome: .pending(status: "not_found")) }
        return PaymentReport(
            payment: payment.payment, outcome: try trade.outcome(), reference: AlipayText.word(trade.trade_no))
    }
}
