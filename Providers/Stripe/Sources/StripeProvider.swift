public import Domain
public import ProviderKit

/// Stripe: `stripe` contracts with PaymentIntents, `url` contracts with Checkout Sessions on Stripe's own page.
///
/// It stores nothing. Objects have our payment and order ids in their metadata, so that each can be traced to a
/// payment, and every change has an idempotency key from the payment's or refund's id.
public struct StripeProvider: PaymentProvider {
    public static let manifest = ProviderManifest(
        kind: "stripe", displayName: "Stripe", contractTypes: [.stripe, .url], currencies: StripeAmount.currencies,
        mandates: true, cancel: .definite, refunds: .partial, notifications: [.post], instruments: [.encrypted],
        settings: StripeSettings.schema)

    let settings: StripeSettings
    let context: ProviderContext
    let api: StripeAPI
    let locator: StripeLocator
    let isTestInProduction: Bool

    public init(account: ProviderAccount, context: ProviderContext) throws(ProviderSetupError) {
        try self.init(account: account, context: context) { try? await Task.sleep(for: $0) }
    }

    /// - Parameter pause: waits before a call is repeated; tests do not wait.
    package init(
        account: ProviderAccount, context: ProviderContext, pause: @escaping @Sendable (Duration) async -> Void
    ) throws(ProviderSetupError) {
        settings = try StripeSettings(account)
        self.context = context
        api = StripeAPI(settings: settings, context: context, pause: pause)
        locator = StripeLocator(api: api, mode: settings.mode, time: context.time)
        isTestInProduction = !account.isDevelopment && !settings.isLive
        if isTestInProduction {
            context.log.write(
                .warning, "stripe: a test key in production mode: whoever knows Stripe's test cards pays with them")
        }
    }

    public static func isTest(_ settings: ProviderSettings) -> Bool {
        StripeSettings.isLive(settings.text("secret_key"), StripeSettings.secretPrefixes) == false
    }

    public var contractTypes: Set<ContractType> { [settings.mode.contract] }

    public func amountFault(_ amount: Money) -> AmountFault? { StripeAmount.chargeFault(amount) }

    public func open(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        try await opening(attempt)
    }

    public func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        guard let known = try await find(payment) else {
            // Its opening may be under way, so the payment has not ended.
            return PaymentReport(payment: payment.payment, outcome: .notFound)
        }
        return try await report(known, payment.payment)
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
        try StripeSignature(secrets: settings.webhookSecrets).verify(
            notification, now: notification.receivedAt ?? context.time.now)
        return try await StripeEvents(self).reading(notification.body)
    }
}

extension StripeProvider {
    var customers: StripeCustomers { StripeCustomers(api: api, time: context.time) }
    var methods: StripeMethods { StripeMethods(api: api, isLive: settings.isLive) }

    /// Reads the current state of a payment; nil where Stripe has none.
    ///
    /// - Throws: `unproven` for another payment's object.
    func find(_ payment: ProviderReference) async throws(ProviderError) -> StripePayment? {
        do throws(StripeFailure) {
            guard let reference = payment.reference else { return try await locator.payment(payment.payment) }
            let known = try await api.payment(reference)
            try known.check(payment.payment, isLive: settings.isLive)
            return known
        } catch {
            throw error.providerError(afterChange: false)
        }
    }

    /// Makes the report of a payment in its current state, with the mandate that a paid one has left behind.
    ///
    /// A refused charge of a mandate is ended at Stripe first, so that nobody can confirm it.
    func report(_ known: StripePayment, _ payment: ID<Payment>) async throws(ProviderError) -> PaymentReport {
        do throws(StripeFailure) {
            if known.chargesMandate { return try await settled(known, payment) }
            return known.report(payment, leaving: try await methods.mandate(leftBy: known))
        } catch {
            throw error.providerError(afterChange: false)
        }
    }

    /// Returns whether Stripe may have forgotten the idempotency key of a call at this time.
    func isBeyondKeys(_ time: Timestamp) -> Bool { context.time.now > time.adding(seconds: StripeAPI.keyLife) }
}
