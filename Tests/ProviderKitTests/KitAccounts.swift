import Domain
import ProviderKit
import ProviderTesting

/// Makes accounts of small kinds that differ only in their manifests.
func account(
    _ id: String, _ routing: AccountRouting = AccountRouting(), enabled: Bool = true, isTest: Bool = false
) -> ConfiguredAccount {
    configured(id, OpenKind(), routing, enabled, isTest: isTest)
}

/// An account with a code to scan, a page inside WeChat, and parameters for apps, in this order.
func walletAccount() -> ConfiguredAccount { configured("wallet", WalletKind(), AccountRouting(), true) }

func yenAccount() -> ConfiguredAccount { configured("yen", YenKind(), AccountRouting(), true) }
func appleAccount() -> ConfiguredAccount { configured("apple", AppleKind(), AccountRouting(), true) }

private func configured(
    _ id: String, _ provider: any PaymentProvider, _ routing: AccountRouting, _ enabled: Bool, isTest: Bool = false
) -> ConfiguredAccount {
    ConfiguredAccount(
        id: AccountID(id)!, provider: provider, isTest: isTest, enabled: enabled, routing: routing,
        notifyToken: "token-\(id)")
}

/// A kind that is selected but never called.
private protocol SilentKind: PaymentProvider { init() }

extension SilentKind {
    init(account: ProviderAccount, context: ProviderContext) throws(ProviderSetupError) { self.init() }
    func open(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment { throw .unsupported }
    func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport { throw .unsupported }
    func cancel(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport { throw .unsupported }
    func refund(_ refund: RefundAttempt) async throws(ProviderError) -> RefundReport { throw .unsupported }
    func query(refund: RefundAttempt) async throws(ProviderError) -> RefundReport { throw .unsupported }
    func receive(_ notification: RawNotification) async throws(ProviderError) -> ReceivedNotification {
        throw .unsupported
    }
}

private struct OpenKind: SilentKind {
    static let manifest = ProviderManifest(
        kind: "open_kind", displayName: "Open", contractTypes: [.url], cancel: .none, refunds: .none, notifications: [],
        settings: SettingsSchema([]))
}

private struct WalletKind: SilentKind {
    static let manifest = ProviderManifest(
        kind: "wallet_kind", displayName: "Wallet", contractTypes: [.qr, .wechatJSAPI, .wechatApp], cancel: .none,
        refunds: .none, notifications: [], settings: SettingsSchema([]))

    var orderedContractTypes: [ContractType] { [.qr, .wechatJSAPI, .wechatApp] }
}

private struct YenKind: SilentKind {
    static let manifest = ProviderManifest(
        kind: "yen_kind", displayName: "Yen", contractTypes: [.url], currencies: [Currency("JPY")!], cancel: .none,
        refunds: .none, notifications: [], settings: SettingsSchema([]))
}

private struct AppleKind: SilentKind {
    static let manifest = ProviderManifest(
        kind: "apple_kind", displayName: "Apple", contractTypes: [.appleIAP], goods: .appleProducts, recurring: true,
        cancel: .none, refunds: .none, notifications: [], settings: SettingsSchema([]))
}
