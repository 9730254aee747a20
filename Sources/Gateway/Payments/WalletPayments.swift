import Domain
import FoundationEssentials
import ProviderKit
import Store

/// An attempt to pay an order with a wallet's token.
struct WalletPayment: Sendable {
    let payment: Payment
    let account: ConfiguredAccount
    let provider: any InstrumentVerifying
    let request: ApplePayRequest
}

/// The attempts whose contracts are paid with a wallet's token.
struct WalletPayments: Sendable {
    let store: StoreAccess
    let registry: ProviderRegistry
    let contracts: Contracts

    static let noContract: LocalizedText =
        "the order has no Apple Pay contract that is open; make one by checkout"

    /// Lists an order's attempts that are paid with a wallet's token, newest first.
    func payments(of order: ID<Order>) async throws(GatewayError) -> [WalletPayment] {
        let records = try await store.read { db in try db.payments.list(of: order).value() }
        var found: [WalletPayment] = []
        for record in records.reversed() {
            guard let account = registry[record.payment.account],
                let provider = account.provider as? any InstrumentVerifying,
                case .applePay(let request)? = try contracts.instruction(record)
            else { continue }
            found.append(
                WalletPayment(payment: record.payment, account: account, provider: provider, request: request))
        }
        return found
    }
}
