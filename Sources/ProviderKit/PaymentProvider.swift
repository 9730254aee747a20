public import Domain

/// A payment provider, which translates between Paydesk and a payment service.
///
/// It is stateless: persistence, retries, routing, checks of amounts and policies are Paydesk's. Every call that
/// changes something has an idempotency key, may be repeated with it, and must then have one effect.
public protocol PaymentProvider: Sendable {
    /// The manifest of this kind of provider.
    static var manifest: ProviderManifest { get }

    /// The manifest of this account: its kind's, unless the service states one (``ManifestFetching``).
    var manifest: ProviderManifest { get }

    /// Makes the provider of an account, whose settings fit the manifest's schema.
    ///
    /// - Throws: every fault that only this provider can find (a key of the wrong form, two settings that contradict
    ///   each other).
    init(account: ProviderAccount, context: ProviderContext) throws(ProviderSetupError)

    /// Returns true where an account with these settings is in its provider's test mode, so that no real money
    /// moves: test keys, or a gateway or host for tests.
    ///
    /// A pure function of the settings. What such an account sells has the environment `Sandbox` and counts in no
    /// revenue, and production refuses the account unless `allow_test_accounts` is true.
    static func isTest(_ settings: ProviderSettings) -> Bool

    /// The contract types that this account makes with its settings; a subset of the manifest's.
    var contractTypes: Set<ContractType> { get }

    /// The contract types of this account, the one first that it makes where a client accepts several.
    var orderedContractTypes: [ContractType] { get }

    /// Returns the reason why this account can never charge exactly this amount: its currency, its last digits, or its
    /// bounds; nil where it can, as far as is known without a call.
    ///
    /// A pure function of the amount and the settings; accounts with a reason are not offered for the amount.
    func amountFault(_ amount: Money) -> AmountFault?

    /// Opens a payment and returns the client's next step.
    func open(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment

    /// Queries the current state of a payment.
    func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport

    /// Makes a payment impossible, or reports the state that prevents it.
    func cancel(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport

    /// Refunds money.
    func refund(_ refund: RefundAttempt) async throws(ProviderError) -> RefundReport

    /// Queries the current state of a refund.
    func query(refund: RefundAttempt) async throws(ProviderError) -> RefundReport

    /// Verifies a notification and returns its facts.
    ///
    /// - Throws: ``ProviderError/unproven(_:)`` for a notification that is not proven to be the provider's, of this
    ///   time and about this account.
    func receive(_ notification: RawNotification) async throws(ProviderError) -> ReceivedNotification
}

extension PaymentProvider {
    public var manifest: ProviderManifest { Self.manifest }

    public static func isTest(_ settings: ProviderSettings) -> Bool { false }

    public var contractTypes: Set<ContractType> { Set(manifest.contractTypes) }

    public var orderedContractTypes: [ContractType] { contractTypes.sorted { $0.rawValue < $1.rawValue } }

    public func amountFault(_ amount: Money) -> AmountFault? {
        guard manifest.currencies.isEmpty || manifest.currencies.contains(amount.currency) else { return .currency }
        return amount.value > 0 ? nil : .notPositive
    }
}

/// A provider with pay pages of its own, at `/{kind}/{payment_id}`.
public protocol PaymentPageServing: PaymentProvider {
    /// Returns the page before the payer's action; nil where the payment is unknown.
    func page(_ payment: ID<Payment>) async throws(ProviderError) -> PaymentPage?

    /// Performs the payer's action from the page's form; nil where the payment is unknown.
    func act(_ payment: ID<Payment>, form: [String: String]) async throws(ProviderError) -> PaymentPage?

    /// Returns the page in a language of the visitor; without an implementation ``page(_:)``.
    func page(_ payment: ID<Payment>, for visitor: PageVisitor) async throws(ProviderError) -> PaymentPage?

    /// Performs the payer's action and answers in a language of the visitor; without an implementation
    /// ``act(_:form:)``.
    func act(
        _ payment: ID<Payment>, form: [String: String], for visitor: PageVisitor
    ) async throws(ProviderError) -> PaymentPage?
}

extension PaymentPageServing {
    public func page(_ payment: ID<Payment>, for visitor: PageVisitor) async throws(ProviderError) -> PaymentPage? {
        try await page(payment)
    }

    public func act(
        _ payment: ID<Payment>, form: [String: String], for visitor: PageVisitor
    ) async throws(ProviderError) -> PaymentPage? {
        try await act(payment, form: form)
    }
}

/// The browser that opens a pay page.
public struct PageVisitor: Sendable {
    /// Language tags (RFC 5646), the preferred first: the choice on the page, which is the parameter `lang` of its
    /// address, then those of `Accept-Language`.
    public let languages: [String]

    public init(languages: [String] = []) { self.languages = languages }
}

/// The answer of a pay page.
public enum PaymentPage: Sendable, Equatable {
    /// A complete HTML document.
    case html(String)
    /// A redirect to the app (303).
    case redirect(String)
    /// The refusal of an invalid form (400), with a text for the payer.
    case refused(String)
}

/// The errors of a provider call; closed, because Paydesk's next step depends on them.
public enum ProviderError: Error, Sendable, Equatable {
    /// The final refusal of the provider. The reason may be shown to users.
    case rejected(reason: String)
    /// The provider was not called, because this account cannot take such a payment; another one may. The reason may be
    /// shown to users.
    case unfit(reason: String)
    /// The call had no effect; a repetition may succeed.
    case unavailable
    /// The call may have taken effect; the state must be queried first.
    case outcomeUnknown
    /// A notification or an answer that is not proven; the call that it answers may have taken effect.
    case unproven(UnprovenReason)
    /// This provider has no such operation.
    case unsupported

    /// True for a message that is not proven, for whatever reason.
    public var isUnproven: Bool { if case .unproven = self { true } else { false } }
}
