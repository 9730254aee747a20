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

extension Gateway {
    /// An order's attempts whose contracts a wallet answers, newest first.
    func walletPayments(_ order: ID<Order>) async throws(GatewayError) -> [WalletPayment] {
        let records = try await read { db in try db.payments.list(of: order).value() }
        var found: [WalletPayment] = []
        for record in records.reversed() {
            guard let account = registry[record.payment.account],
                let provider = account.provider as? any InstrumentVerifying,
                case .applePay(let request)? = try instruction(record)
            else { continue }
            found.append(
                WalletPayment(payment: record.payment, account: account, provider: provider, request: request))
        }
        return found
    }
}
