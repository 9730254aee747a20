public import Domain

/// A payment provider: it translates between Paydesk's words and one payment service's.
///
/// It is stateless: all persistence, retries, routing, amount checks and policies are Paydesk's. Every call that
/// changes something carries an idempotency key, may be repeated with it, and must then have one effect.
public protocol PaymentProvider: Sendable {
    /// The manifest of this kind of provider.
    static var manifest: ProviderManifest { get }

    /// The manifest of this account: its kind's manifest, unless its service says more (``ManifestFetching``).
    var manifest: ProviderManifest { get }

    /// Takes one account whose settings fit the manifest's schema.
    ///
    /// - Throws: every fault that only this provider can see (a key of the wrong form, two settings that contradict).
    init(account: ProviderAccount, context: ProviderContext) throws(ProviderSetupError)

    /// Returns true where an account with these settings is in its provider's test mode, so that no real money
    /// moves: test keys, or a gateway or host for tests.
    ///
    /// A pure function of the settings. What such an account sells has the environment `Sandbox` and counts in no
    /// revenue, and production refuses the account unless `allow_test_accounts` is true.
    static func isTest(_ settings: ProviderSettings) -> Bool

    /// The contract types that this account, with its settings, makes; a subset of the manifest's.
    var contractTypes: Set<ContractType> { get }

    /// Returns the reason why this account can never charge exactly this amount: its currency, its last digits, or its
    /// bounds; nil where it can, as far as is known before anything is asked.
    ///
    /// A pure function of the amount and the settings: the cashier leaves the account out of what it offers.
    func amountFault(_ amount: Money) -> AmountFault?

    /// Opens a payment and says what the client must do.
    func open(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment

    /// Asks for the present state of a payment.
    func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport

    /// Makes a payment impossible, or reports why that is too late.
    func cancel(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport

    /// Gives money back.
    func refund(_ refund: RefundAttempt) async throws(ProviderError) -> RefundReport

    /// Asks for the present state of a refund.
    func query(refund: RefundAttempt) async throws(ProviderError) -> RefundReport

    /// Verifies a notification and says what it states.
    ///
    /// - Throws: ``ProviderError/unproven(_:)`` for anything that is not proven to come from the provider, now, or is not
    ///   about this account.
    func receive(_ notification: RawNotification) async throws(ProviderError) -> ReceivedNotification
}

extension PaymentProvider {
    public var manifest: ProviderManifest { Self.manifest }

    public static func isTest(_ settings: ProviderSettings) -> Bool { false }

    public var contractTypes: Set<ContractType> { Set(manifest.contractTypes) }

    public func amountFault(_ amount: Money) -> AmountFault? {
        guard manifest.currencies.isEmpty || manifest.currencies.contains(amount.currency) else { return .currency }
        return amount.value > 0 ? nil : .notPositive
    }
}

/// A provider that renders its own pay page, routed at `/{kind}/{payment_id}`.
public protocol PaymentPageServing: PaymentProvider {
    /// The page as the payer first sees it; nil when the payment is not known.
    func page(_ payment: ID<Payment>) async throws(ProviderError) -> PaymentPage?

    /// The payer's act, as the page's form sent it; nil when the payment is not known.
    func act(_ payment: ID<Payment>, form: [String: String]) async throws(ProviderError) -> PaymentPage?
}

/// The answer of a pay page.
public enum PaymentPage: Sendable, Equatable {
    /// A complete HTML document.
    case html(String)
    /// Back to the app (303).
    case redirect(String)
    /// The form was not understood (400), in words for the payer.
    case refused(String)
}

/// The errors of a provider call; closed, because what happens next depends on it.
public enum ProviderError: Error, Sendable, Equatable {
    /// Final: the provider said no. The reason is safe to show.
    case rejected(reason: String)
    /// The provider was not called: this account cannot take such a payment, and another one may. The reason is safe to
    /// show.
    case unfit(reason: String)
    /// The call had no effect; a later one may succeed.
    case unavailable
    /// The call may have taken effect: query before anything else.
    case outcomeUnknown
    /// A notification or an answer that is not believed; the call that was answered may have taken effect.
    case unproven(UnprovenReason)
    /// This provider has no such operation.
    case unsupported

    /// True where a message was not believed, for whichever reason.
    public var isUnproven: Bool { if case .unproven = self { true } else { false } }
}
