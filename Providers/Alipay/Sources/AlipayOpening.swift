import Domain
import ProviderKit

extension AlipayProvider {
    private struct Precreated: Decodable {
        let out_trade_no: String?
        let qr_code: String?
    }

    /// The largest amount of a trade, in fen.
    static let amountLimit: Int64 = 10_000_000_000

    func opening(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        if let fault = amountFault(attempt.amount) { throw .unfit(reason: fault.rawValue) }
        guard let mode = settings.modes.first(where: { attempt.accepts.contains($0.contract) }) else {
            throw .unfit(reason: "accept")
        }
        let instruction: PaymentInstruction
        switch mode {
        case .precreate: instruction = .qr(text: try await precreate(attempt))
        case .page: instruction = .url(checkoutURL: try address(attempt, isPhone: false))
        case .wap: instruction = .url(checkoutURL: try address(attempt, isPhone: true))
        case .web:
            let isPhone = [.ios, .android].contains(attempt.platform)
            instruction = .url(checkoutURL: try address(attempt, isPhone: isPhone))
        case .app: instruction = .alipayApp(orderString: try orderString(attempt))
        }
        return OpenedPayment(instruction: instruction, reference: nil)
    }

    private func precreate(_ attempt: PaymentAttempt) async throws(ProviderError) -> String {
        do throws(AlipayFailure) {
            let made: Precreated = try await api.call(
                "alipay.trade.precreate", content(attempt, productCode: settings.productCode),
                more: ["notify_url": context.notifyURL])
            guard made.out_trade_no == attempt.payment.rawValue else { throw .foreign }
            guard let code = made.qr_code, let address = WebAddress(code), address.isWeb else {
                throw .unsayable("bad_code")
            }
            return code
        } catch {
            throw error.providerError(afterChange: true)
        }
    }

    /// Makes a page's address with a signature, without a call.
    ///
    /// Its time is that of the payment, so that a repeated opening makes the same address.
    private func address(_ attempt: PaymentAttempt, isPhone: Bool) throws(ProviderError) -> String {
        var content = content(
            attempt, productCode: settings.productCode ?? (isPhone ? "QUICK_WAP_WAY" : "FAST_INSTANT_TRADE_PAY"))
        // The address for a payer who leaves the page without paying.
        if isPhone { content["quit_url"] = attempt.returnURL }
        let request = AlipayRequest(
            isPhone ? "alipay.trade.wap.pay" : "alipay.trade.page.pay", content, at: attempt.payment.madeAt, settings,
            more: ["notify_url": context.notifyURL, "return_url": attempt.returnURL ?? ""])
        guard let request else { throw .unavailable }
        return request.address(settings.gateway)
    }

    /// Makes a request for Alipay's library with a signature, without a call.
    ///
    /// The library takes it as it is; the trade exists once the payer stands before Alipay's cashier. Source:
    /// opendocs.alipay.com/open/02e7gq (`alipay.trade.app.pay`).
    private func orderString(_ attempt: PaymentAttempt) throws(ProviderError) -> String {
        let content = content(attempt, productCode: settings.productCode ?? "QUICK_MSECURITY_PAY")
        let request = AlipayRequest(
            "alipay.trade.app.pay", content, at: attempt.payment.madeAt, settings,
            more: ["notify_url": context.notifyURL])
        guard let request else { throw .unavailable }
        return request.text
    }

    private func content(_ attempt: PaymentAttempt, productCode: String?) -> [String: String] {
        let subject = AlipayText.subject(attempt.title)
        var content = [
            "out_trade_no": attempt.payment.rawValue, "total_amount": attempt.amount.decimal,
            "subject": subject.isBlank ? attempt.order.rawValue : subject,
            "time_expire": AlipayText.time(
                min(attempt.expiresAt, attempt.payment.madeAt.adding(seconds: Self.longestWait))),
        ]
        content["product_code"] = productCode
        return content
    }

    func cancelling(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        do throws(AlipayFailure) {
            try await api.close(payment)
            return PaymentReport(payment: payment.payment, outcome: .cancelled)
        } catch {
            let meaning = error.providerError(afterChange: true)
            guard case .rejected = meaning else { throw meaning }
        }
        // Alipay has no such trade yet, or it has ended: its current state is the answer.
        return try await query(payment)
    }
}
