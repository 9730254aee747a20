import Domain
import FoundationEssentials
public import ProviderKit

/// Apple Pay: the contract for a payment sheet, merchant sessions, and the verification of tokens; another account
/// charges them.
///
/// Opening a payment makes no call. Before a token is charged nothing can be paid, so a cancellation is definite; after
/// that the processor has the payment.
public struct ApplePayProvider: PaymentProvider {
    public static let manifest = ProviderManifest(
        kind: "apple_pay", displayName: "Apple Pay", contractTypes: [.applePay], cancel: .definite, refunds: .none,
        notifications: [], settings: ApplePaySettings.schema)

    /// Returns true for Apple's hosts for tests, `apple-pay-gateway-cert.apple.com` and
    /// `cn-apple-pay-gateway-cert.apple.com`; otherwise the account that charges the tokens decides.
    public static func isTest(_ settings: ProviderSettings) -> Bool {
        WebAddress(settings.text("gateway"))?.host.hasSuffix("apple-pay-gateway-cert.apple.com") ?? false
    }

    private static let applicationDataBytes = 32

    let settings: ApplePaySettings
    let trust: ApplePayTrust
    let context: ProviderContext

    public init(account: ProviderAccount, context: ProviderContext) throws(ProviderSetupError) {
        settings = try ApplePaySettings(account)
        trust = try ApplePayTrust(settings, time: context.time)
        self.context = context
    }

    public func open(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        let new = WalletContract(applicationData: Data(context.random.bytes(Self.applicationDataBytes)))
        let kept = try await change(attempt.payment) { $0 == nil ? new : nil } ?? new
        guard !kept.isClosed else { throw .rejected(reason: "payment_closed") }
        return OpenedPayment(
            instruction: .applePay(
                ApplePayRequest(
                    merchantIdentifier: settings.merchantIdentifier, countryCode: settings.countryCode,
                    amount: attempt.amount, label: settings.displayName,
                    supportedNetworks: settings.supportedNetworks,
                    merchantCapabilities: settings.merchantCapabilities,
                    applicationData: kept.applicationData.base64EncodedString())),
            reference: nil)
    }

    /// Returns the stored state; a payment whose token is charged is queried at the processor instead.
    public func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        let isClosed = try await WalletContract.read(context.book.value(payment.payment.rawValue))?.isClosed ?? false
        return PaymentReport(payment: payment.payment, outcome: isClosed ? .cancelled : .accepted)
    }

    public func cancel(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        _ = try await change(payment.payment) { known in
            WalletContract(applicationData: known?.applicationData ?? Data(), isClosed: true)
        }
        return PaymentReport(payment: payment.payment, outcome: .cancelled)
    }

    public func refund(_ refund: RefundAttempt) async throws(ProviderError) -> RefundReport { throw .unsupported }

    public func query(refund: RefundAttempt) async throws(ProviderError) -> RefundReport { throw .unsupported }

    public func receive(_ notification: RawNotification) async throws(ProviderError) -> ReceivedNotification {
        throw .unsupported
    }

    /// Replaces the stored record of a payment; the closure returns nil to leave it unchanged.
    private func change(
        _ payment: ID<Payment>, _ change: @escaping @Sendable (WalletContract?) -> WalletContract?
    ) async throws(ProviderError) -> WalletContract? {
        let stored = try await context.book.update(payment.rawValue) { data in
            let known = data.flatMap { try? JSONDecoder().decode(WalletContract.self, from: $0) }
            // An unreadable entry stays unchanged, and the call below fails.
            guard data == nil || known != nil, let next = change(known) else { return nil }
            return try? JSONEncoder().encode(next)
        }
        return try WalletContract.read(stored)
    }
}

/// The stored record of a payment, so that a repeated opening returns the same contract, which a wallet may have used.
private struct WalletContract: Codable, Sendable {
    let applicationData: Data
    var isClosed = false

    private enum CodingKeys: String, CodingKey {
        case applicationData = "application_data"
        case isClosed = "closed"
    }

    static func read(_ data: Data?) throws(ProviderError) -> WalletContract? {
        guard let data else { return nil }
        guard let contract = try? JSONDecoder().decode(WalletContract.self, from: data) else { throw .unavailable }
        return contract
    }
}
