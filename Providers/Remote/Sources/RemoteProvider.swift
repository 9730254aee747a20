public import Domain
import FoundationEssentials
public import ProviderKit

/// A plugin: a payment method outside of the binary that implements the protocol of `Providers/Remote/openapi.yaml`.
///
/// The plugin states the capabilities of its account, and each of its messages is checked here.
public struct RemoteProvider: PaymentProvider {
    /// The manifest with everything that a plugin can do; an account's own manifest comes from its plugin.
    public static let manifest = ProviderManifest(
        kind: "remote", displayName: "Remote plugin", contractTypes: [.url, .qr], mandates: true,
        cancel: .bestEffort, refunds: .partial, notifications: [.post], settings: RemoteSettings.schema)

    let account: ProviderAccount
    let settings: RemoteSettings
    let context: ProviderContext
    let api: RemoteAPI
    let pin: RemotePin

    public init(account: ProviderAccount, context: ProviderContext) throws(ProviderSetupError) {
        try self.init(account: account, context: context, pin: RemotePin())
    }

    init(account: ProviderAccount, context: ProviderContext, pin: RemotePin) throws(ProviderSetupError) {
        self.account = account
        settings = try RemoteSettings(account)
        self.context = context
        api = RemoteAPI(settings: settings, context: context)
        self.pin = pin
    }

    /// Returns the setting `test`: only the operator knows whether the plugin moves real money.
    public static func isTest(_ settings: ProviderSettings) -> Bool { settings.boolean("test") }

    public var manifest: ProviderManifest { pin.manifest?.applied(to: Self.manifest) ?? Self.manifest }

    /// The contract types; empty until the manifest is known and after the plugin states another one, so that no
    /// checkout selects the account.
    public var contractTypes: Set<ContractType> {
        guard manifestState == .pinned, let known = pin.manifest else { return [] }
        return Set(known.contract_types)
    }

    public func amountFault(_ amount: Money) -> AmountFault? {
        pin.manifest.map { $0.amountFault(amount) } ?? (amount.value > 0 ? nil : .notPositive)
    }

    public func open(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        try await opening(attempt)
    }

    public func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        let answer: RemotePaymentAnswer = try await api.send(RemoteRequest(.query, payment))
        return try report(answer.payment, payment, lost: .unavailable)
    }

    public func cancel(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        guard try await rules().cancel != .none else { throw .unsupported }
        let answer: RemotePaymentAnswer = try await api.send(RemoteRequest(.cancel, payment))
        return try report(answer.payment, payment, lost: .outcomeUnknown)
    }

    public func refund(_ refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        try await refunding(refund)
    }

    public func query(refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        try await asking(refund)
    }

    public func receive(_ notification: RawNotification) async throws(ProviderError) -> ReceivedNotification {
        guard pin.manifest?.notifications ?? true else { throw .unsupported }
        return try reading(notification)
    }

    /// Returns the pinned manifest, and fetches it where there is none yet.
    func rules() async throws(ProviderError) -> RemoteManifest {
        if let known = pin.manifest { return known }
        _ = await fetchManifest(keeps: false)
        guard let known = pin.manifest else { throw .unavailable }
        return known
    }

    /// - Parameter lost: the error for an answer about something else.
    func report(
        _ said: RemotePayment, _ payment: ProviderReference, lost: ProviderError
    ) throws(ProviderError) -> PaymentReport {
        guard said.payment_id == payment.payment.rawValue else {
            throw lie("about another payment", .otherPayment, payment.payment, lost)
        }
        guard let outcome = said.outcome else {
            throw lie("a success without its amount", .badMoney, payment.payment, lost)
        }
        return said.report(of: payment.payment, outcome, log: context.log)
    }

    /// Returns the error for a genuine answer that contradicts the request, which counts as no answer.
    func lie(
        _ what: String, _ reason: UnprovenReason, _ payment: ID<Payment>, _ lost: ProviderError
    ) -> ProviderError {
        lie(what, reason, ["payment": payment.rawValue], lost)
    }

    /// - Parameter subject: the request's own ids.
    func lie(
        _ what: String, _ reason: UnprovenReason, _ subject: [String: String], _ lost: ProviderError
    ) -> ProviderError {
        context.log.write(
            .error, "remote: the plugin contradicts itself",
            subject.merging(["answer": what, "reason": reason.word]) { $1 })
        return lost
    }
}
