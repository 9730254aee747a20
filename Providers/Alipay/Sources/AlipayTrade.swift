import Domain
import ProviderKit

/// The answer of `alipay.trade.query`; other fields are ignored.
struct AlipayTrade: Decodable, Sendable {
    let out_trade_no: String?
    let trade_no: String?
    let trade_status: String?
    let total_amount: String?
    /// The currency of `total_amount` where it is not CNY.
    let trans_currency: String?
    /// The time of the payment; only a paid trade has it.
    let send_pay_date: String?

    /// - Throws: `unproven` for a success without an exact amount.
    func outcome() throws(AlipayFailure) -> PaymentOutcome {
        switch trade_status {
        case "WAIT_BUYER_PAY": .accepted
        case "TRADE_SUCCESS", "TRADE_FINISHED": .succeeded(try amount())
        // The trade was closed unpaid, or was paid and refunded in full, which does not undo the payment.
        case "TRADE_CLOSED": (send_pay_date ?? "").isEmpty ? .cancelled : .succeeded(try amount())
        default: .pending(status: AlipayText.word(trade_status) ?? "unknown_status")
        }
    }

    private func amount() throws(AlipayFailure) -> Money {
        guard let money = AlipayText.money(total_amount, trans_currency) else { throw .unproven(.badMoney) }
        return money
    }
}

extension AlipayAPI {
    private struct Closed: Decodable {
        let out_trade_no: String?
    }

    /// Finds a trade by Alipay's number where it is known, otherwise by ours; nil where Alipay has none.
    func trade(_ payment: ProviderReference) async throws(AlipayFailure) -> AlipayTrade? {
        let trade: AlipayTrade
        do throws(AlipayFailure) {
            trade = try await call("alipay.trade.query", payment.names)
        } catch {
            if case .refused(let refusal) = error, refusal.isMissing { return nil }
            throw error
        }
        guard trade.out_trade_no == payment.payment.rawValue, payment.isAbout(trade.trade_no) else { throw .foreign }
        return trade
    }

    /// Closes an unpaid trade.
    func close(_ payment: ProviderReference) async throws(AlipayFailure) {
        let closed: Closed = try await call("alipay.trade.close", payment.names)
        guard closed.out_trade_no ?? payment.payment.rawValue == payment.payment.rawValue else { throw .foreign }
    }
}

extension ProviderReference {
    /// The parameters that name a trade in a call: our number, and Alipay's where it is known, which then takes
    /// precedence.
    var names: [String: String] {
        var names = ["out_trade_no": payment.rawValue]
        names["trade_no"] = reference.flatMap(AlipayText.word)
        return names
    }

    /// Returns whether an answer about this trade is about the requested one.
    func isAbout(_ trade: String?) -> Bool {
        guard let own = reference, let trade else { return true }
        return own == trade
    }
}
