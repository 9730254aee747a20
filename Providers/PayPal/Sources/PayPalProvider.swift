public import Domain
public import ProviderKit

/// PayPal (Orders v2): `url` contracts with PayPal's own page.
///
/// Every order has our payment id as `custom_id` and `invoice_id`, so that each of PayPal's objects can be traced to a
/// payment. Money only moves when Paydesk captures an order that its payer approved.
public struct PayPalProvider: PaymentProvider {
    /// The manifest; `cancel` is definite although PayPal cannot cancel an order, because a cancelled payment is never
    /// captured.
    public static let manifest = ProviderManifest(
        kind: "paypal", displayName: "PayPal", contractTypes: [.url], currencies: PayPalAmount.currencies,
        cancel: .definite, refunds: .partial, notifications: [.post], settings: PayPalSettings.schema)

    let settings: PayPalSettings
    let context: ProviderContext
    let api: PayPalAPI
    let ledger: PayPalLedger
    let certificates: PayPalCertificates

    public init(account: ProviderAccount, context: ProviderContext) throws(ProviderSetupError) {
        settings = try PayPalSettings(account)
        self.context = context
        api = PayPalAPI(settings: settings, context: context)
        ledger = PayPalLedger(book: context.book)
        certificates = PayPalCertificates(settings: settings, context: context)
    }

    /// Returns true for PayPal's sandbox, which has another host.
    public static func isTest(_ settings: ProviderSettings) -> Bool {
        WebAddress(settings.text("api_base"))?.isAt("sandbox.paypal.com") ?? false
    }

    public func amountFault(_ amount: Money) -> AmountFault? { PayPalAmount.fault(amount) }

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

extension PayPalProvider: OnlineDiagnosing {
    /// Fetches a token, and queries an order that does not exist.
    public func diagnose() async -> [Diagnosis] {
        do throws(PayPalFailure) {
            _ = try await api.order("PAYDESKDOCTOR")
            return [Diagnosis(.notice, "question", "PayPal has an order that nobody made.")]
        } catch {
            switch error {
            case .refused(let refusal) where refusal.isMissing:
                return [Diagnosis(.good, "question", "client_id and client_secret open \(settings.base).")]
            case .refused(let refusal):
                return [
                    Diagnosis(
                        refusal.status >= 500 || refusal.status == 429 ? .notice : .fault, "question",
                        "PayPal refused it with \(refusal.status) \(refusal.reason).")
                ]
            case .notSent, .unanswered:
                return [
                    Diagnosis(
                        .fault, "question",
                        "no token: \(settings.base) cannot be reached, or client_id and client_secret are not of its app "
                            + "(those of the sandbox open api-m.sandbox.paypal.com alone).")
                ]
            case .unproven, .unsayable: return [Diagnosis(.fault, "question", "the answer was about something else.")]
            }
        }
    }
}
