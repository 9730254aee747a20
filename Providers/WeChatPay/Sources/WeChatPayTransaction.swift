import Domain
import ProviderKit

/// A payment of WeChat Pay's, in an answer or in a notification; other fields are ignored.
struct WeChatPayTransaction: Decodable, Sendable {
    struct Amount: Decodable, Sendable {
        let total: Int64?
        let currency: String?
    }

    let mchid: String?
    let appid: String?
    let out_trade_no: String
    let transaction_id: String?
    let trade_state: String
    let amount: Amount?

    var payment: ID<Payment>? { ID<Payment>(out_trade_no) }

    /// - Throws: `unsayable` for a success without an exact amount.
    func outcome() throws(WeChatPayFailure) -> PaymentOutcome {
        switch trade_state {
        case "NOTPAY": .accepted
        case "USERPAYING": .processing
        // A refunded payment was paid; its refunds are reported separately.
        case "SUCCESS", "REFUND": .succeeded(try paid())
        // The order stays open, and the payer may try again until it is closed.
        case "PAYERROR": .tryFailed(reason: "PAYERROR")
        case "CLOSED", "REVOKED": .cancelled
        default: .pending(status: WeChatPayText.word(trade_state) ?? "unknown_status")
        }
    }

    private func paid() throws(WeChatPayFailure) -> Money {
        guard let total = amount?.total, total > 0, let currency = Currency(amount?.currency ?? "CNY") else {
            throw .unsayable("bad_amount")
        }
        return Money(value: total, currency: currency)
    }

    /// - Parameter apps: the app of the payment, or all of the account's where it is not known.
    /// - Throws: `unproven` for another merchant or app.
    func check(_ settings: WeChatPaySettings, apps: Set<String>) throws(WeChatPayFailure) {
        guard mchid == settings.mchid else { throw .unproven(.otherMerchant) }
        guard let appid, apps.contains(appid) else { throw .unproven(.otherApp) }
    }

    /// - Throws: `foreign` for another payment or another merchant.
    func report(
        _ expected: ID<Payment>, _ settings: WeChatPaySettings, apps: Set<String>
    ) throws(WeChatPayFailure) -> PaymentReport {
        try check(settings, apps: apps)
        guard payment == expected else { throw .foreign }
        return PaymentReport(payment: expected, outcome: try outcome(), reference: WeChatPayText.word(transaction_id))
    }
}
