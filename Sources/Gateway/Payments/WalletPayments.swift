import Domain
import FoundationEssentials
import ProviderKit
import Store

/// An attempt to pay an order that a wallet's token answers.
struct WalletPayment: Sendable {
    let payment: Payment
    let account: ConfiguredAccount
    let provider: any InstrumentVerifying
    let request: ApplePayRequest
}

/// The attempts of orders whose contracts a wallet answers.
struct WalletPayments: Sendable {
    let store: StoreAccess
    let registry: ProviderRegistry
    let contracts: Contracts

    static let noContract: LocalizedText =
        "the order has no Apple Pay contract that is open; make one by checkout"

    /// An order's attempts whose contracts a wallet answers, newest first.
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
