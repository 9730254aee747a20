public import Domain
public import ProviderKit

/// PayPal (Orders v2): `url` contracts to PayPal's own page.
///
/// Our payment id travels in every order as `custom_id` and `invoice_id`, so that whatever PayPal says can be traced to a
/// payment of ours. Money moves when Paydesk captures an order that its payer approved, and at no other time.
public struct PayPalProvider: PaymentProvider {
    /// `cancel` is definite although PayPal cancels no order: a payment that was cancelled is never captured again.
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

    /// PayPal's sandbox is another host.
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
    /// Gets a token, and asks for an order that cannot be there.
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
