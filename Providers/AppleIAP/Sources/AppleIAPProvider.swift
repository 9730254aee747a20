public import Domain
public import ProviderKit

/// Apple's In-App Purchase: the app buys through StoreKit and sends what Apple signed.
///
/// Opening a payment makes no call: it returns the products, and the token by which the purchase finds its user.
public struct AppleIAPProvider: PaymentProvider {
    public static let manifest = ProviderManifest(
        kind: "apple_iap", displayName: "Apple In-App Purchase", contractTypes: [.appleIAP], goods: .appleProducts,
        recurring: true, cancel: .none, refunds: .none, notifications: [.post], settings: AppleIAPSettings.schema)

    private static let hint = """
        Use StoreKit to purchase the given product_ids with app_account_token, \
        then POST signedData to attach.
        """

    let trust: AppleIAPTrust
    /// The server API of each app, in the order of the settings; empty without a key.
    package let serverAPIs: [AppStoreServerAPI]
    /// The client of Apple's External Purchase Server API; nil without a key.
    let externalPurchaseAPI: ExternalPurchaseAPI?
    public let externalPurchases: ExternalPurchaseRules
    let sharedSecrets: SharedSecrets
    let offers: AppStoreOffers
    /// The client of verifyReceipt; nil where it is not used.
    let verifyReceipt: VerifyReceiptClient?
    public let syncInterval: Int64
    let time: TimeSource
    /// The kind's manifest; an account that asks an App Store in a box follows business time, as the box does.
    public let manifest: ProviderManifest
    let log: ProviderLog

    public init(account: ProviderAccount, context: ProviderContext) throws(ProviderSetupError) {
        try self.init(account: account, context: context) { try? await Task.sleep(for: $0) }
    }

    /// - Parameter pause: waits for Apple's rate limits; tests do not wait.
    package init(
        account: ProviderAccount, context: ProviderContext, pause: @escaping @Sendable (Duration) async -> Void
    ) throws(ProviderSetupError) {
        try AppleIAPSettings.check(account)
        trust = try AppleIAPTrust(account)
        serverAPIs = try AppStoreServerAPI.all(account, context, pause: pause)
        externalPurchaseAPI = try ExternalPurchaseAPI(account, context)
        externalPurchases = ExternalPurchaseSettings.rules(
            of: account, trust: trust, reachable: externalPurchaseAPI?.environments ?? [])
        time = context.time
        let asksBox = serverAPIs.contains(where: \.isBox)
        var manifest = Self.manifest
        manifest.followsBusinessTime = asksBox
        self.manifest = manifest
        log = context.log
        sharedSecrets = SharedSecrets(account.settings)
        offers = AppStoreOffers(account)
        verifyReceipt = VerifyReceiptClient(
            account.settings.object("api").text("verify_receipt_url"), http: context.http, time: context.time)
        let interval = (account.settings.integer("sync_interval_hours") ?? 12) * 3_600
        syncInterval = asksBox ? max(interval, Self.boxInterval) : interval
    }

    /// The least seconds between two questions to the App Store in a box: a move of the clock stops at each, and the
    /// end of a period is asked about in any case.
    ///
    /// It is less than the 30 days for which Apple's sandbox keeps notifications.
    private static let boxInterval: Int64 = 28 * 86_400

    /// Returns true where purchases of Production are not accepted.
    public static func isTest(_ settings: ProviderSettings) -> Bool {
        settings["environments"] != nil && !settings.texts("environments").contains("Production")
    }

    /// Returns nil for every amount: Apple sets the price.
    public func amountFault(_ amount: Money) -> AmountFault? { nil }

    public func open(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        guard !attempt.appleProductIDs.isEmpty else { throw .rejected(reason: "no_apple_product") }
        guard let token = attempt.appAccountToken, !token.isEmpty else {
            throw .rejected(reason: "no_app_account_token")
        }
        return OpenedPayment(
            instruction: .appleIAP(
                productIDs: attempt.appleProductIDs, appAccountToken: token, hint: Self.hint),
            reference: nil)
    }

    /// Returns `accepted` always: Apple reports a payment by the signed purchase itself, and does not know our payment
    /// ids.
    public func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        PaymentReport(payment: payment.payment, outcome: .accepted)
    }

    /// Throws `unsupported`: only the customer can stop a purchase in StoreKit.
    public func cancel(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport { throw .unsupported }

    public func refund(_ refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        throw .rejected(reason: "refund_by_apple_only")
    }

    public func query(refund: RefundAttempt) async throws(ProviderError) -> RefundReport { throw .unsupported }
}
