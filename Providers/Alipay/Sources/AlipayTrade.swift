import Domain
import ProviderKit

/// A trade as `alipay.trade.query` answers; what is not named here is passed over.
struct AlipayTrade: Decodable, Sendable {
    let out_trade_no: String?
    let trade_no: String?
    let trade_status: String?
    let total_amount: String?
    /// The currency of `total_amount` where it is not CNY.
    let trans_currency: String?
    /// When the money came; only a trade that was paid has it.
    let send_pay_date: String?

    /// - Throws: `badMoney` for a success without an amount that can be said exactly.
    func outcome() throws(AlipayFailure) -> PaymentOutcome {
        switch trade_status {
        case "WAIT_BUYER_PAY": .accepted
        case "TRADE_SUCCESS", "TRADE_FINISHED": .succeeded(try amount())
        // Closed unpaid, or paid and given back wholly: that does not undo the payment.
        case "TRADE_CLOSED": (send_pay_date ?? "").isEmpty ? .cancelled : .succeeded(try amount())
        default: .pending(status: AlipayText.word(trade_status) ?? "unknown_status")
        }
    }

    private func amount() throws(AlipayFailure) -> Money {
        guard let money = AlipayText.money(total_amount, trans_currency) else { throw .badMoney }
        return money
    }
}

extension AlipayAPI {
    private struct Closed: Decodable {
        let out_trade_no: String?
    }

    /// A trade by our number; nil where Alipay has none.
    func trade(_ payment: ID<Payment>) async throws(AlipayFailure) -> AlipayTrade? {
        let trade: AlipayTrade
        do throws(AlipayFailure) {
            trade = try await call("alipay.trade.query", ["out_trade_no": payment.rawValue])
        } catch {
            if case .refused(let refusal) = error, refusal.isMissing { return nil }
            throw error
        }
        guard trade.out_trade_no == payment.rawValue else { throw .foreign }
        return trade
    }

    /// Closes a trade that nobody has paid yet.
    func close(_ payment: ID<Payment>) async throws(AlipayFailure) {
        let closed: Closed = try await call("alipay.trade.close", ["out_trade_no": payment.rawValue])
        guard closed.out_trade_no ?? payment.rawValue == payment.rawValue else { throw .foreign }
    }
}
