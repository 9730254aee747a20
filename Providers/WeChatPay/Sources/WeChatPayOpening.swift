import Domain
import FoundationEssentials
import ProviderKit

extension WeChatPayProvider {
    private struct Answer: Decodable {
        let code_url: String?
        let h5_url: String?
        let prepay_id: String?
    }

    func opening(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        if let fault = amountFault(attempt.amount) { throw .unfit(reason: fault.rawValue) }
        guard let mode = settings.modes.first(where: { attempt.accepts.contains($0.contract) }) else {
            throw .unfit(reason: "accept")
        }
        let app = try app(of: attempt, mode)
        let order = try order(attempt, mode, app)
        let answer: Answer
        do throws(WeChatPayFailure) {
            answer = try await api.post("/v3/pay/transactions/\(mode.rawValue)", order)
        } catch {
            throw await meaning(error, of: attempt)
        }
        let instruction: PaymentInstruction
        switch mode {
        case .native, .h5:
            guard let address = mode == .native ? answer.code_url : answer.h5_url, isPayable(address, mode) else {
                throw .outcomeUnknown
            }
            instruction = self.instruction(try await first(address, mode, attempt), mode, attempt)
        case .app, .jsapi:
            guard let prepay = WeChatPayText.word(answer.prepay_id) else { throw .outcomeUnknown }
            instruction = try sign(try await firstPrepay(prepay, app, attempt.payment), mode, attempt.payment)
        }
        return OpenedPayment(instruction: instruction, reference: nil)
    }

    /// The app of an attempt's order.
    ///
    /// - Throws: `unfit` for an app that is not of this mode; Paydesk has refused it before.
    private func app(of attempt: PaymentAttempt, _ mode: WeChatPaySettings.Mode) throws(ProviderError) -> String {
        let own = settings.apps(of: mode)
        guard mode == .app || mode == .jsapi, let named = attempt.payer?.appID else {
            guard own.count == 1 else { throw .unfit(reason: "app_id") }
            return own[0]
        }
        guard own.contains(named) else { throw .unfit(reason: "app_id") }
        return named
    }

    private func order(
        _ attempt: PaymentAttempt, _ mode: WeChatPaySettings.Mode, _ app: String
    ) throws(ProviderError) -> WeChatPayOrder {
        let payerAddress = attempt.payerAddress(orElse: settings.payerAddress)
        let openID = mode == .jsapi ? attempt.payer?.openID : nil
        if mode == .jsapi, openID == nil { throw .unfit(reason: "wechat_openid") }
        if mode == .h5, payerAddress == nil {
            context.log.write(.error, "wechat_pay: nobody knows the payer's address", ["setting": "h5_payer_address"])
            throw .unfit(reason: "payer_address_unknown")
        }
        let title = attempt.title.isBlank ? attempt.order.rawValue : WeChatPayText.title(attempt.title)
        return WeChatPayOrder(
            mchid: settings.mchid, appid: app, description: title,
            out_trade_no: attempt.payment.rawValue,
            time_expire: WeChatPayText.time(
                min(attempt.expiresAt, attempt.payment.madeAt.adding(seconds: Self.longestWait))),
            notify_url: context.notifyURL,
            amount: WeChatPayOrder.Amount(total: attempt.amount.value, currency: attempt.amount.currency.code),
            scene_info: mode == .h5 ? payerAddress.map { WeChatPayOrder.Scene(payer_client_ip: $0) } : nil,
            payer: openID.map { WeChatPayOrder.Payer(openid: $0) })
    }

    /// Maps a failure; an order number in use, or a paid order, is no refusal of this payment.
    private func meaning(_ failure: WeChatPayFailure, of attempt: PaymentAttempt) async -> ProviderError {
        guard case .refused(let refusal) = failure, refusal.isOfKnownOrder else {
            return failure.providerError(afterChange: true)
        }
        do throws(WeChatPayFailure) {
            let known = try await transaction(attempt.payment)
            return known == nil ? failure.providerError(afterChange: true) : .outcomeUnknown
        } catch {
            return .outcomeUnknown
        }
    }

    private func instruction(
        _ address: String, _ mode: WeChatPaySettings.Mode, _ attempt: PaymentAttempt
    ) -> PaymentInstruction {
        guard mode == .h5 else { return .qr(text: address) }
        guard let back = attempt.returnURL else { return .url(checkoutURL: address) }
        let mark = address.contains("?") ? "&" : "?"
        return .url(checkoutURL: "\(address)\(mark)redirect_url=\(PercentEncoding.encoded(back))")
    }

    private func isPayable(_ text: String, _ mode: WeChatPaySettings.Mode) -> Bool {
        guard let address = WebAddress(text), !address.host.isEmpty else { return false }
        if mode == .native { return address.scheme == "weixin" || address.scheme == "https" }
        return address.scheme == "https" || (address.isWeb && settings.base.hasPrefix("http://"))
    }
}

// Returns the same address in every repetition.
extension WeChatPayProvider {
    private struct Given: Codable {
        let address: String
        let until: Timestamp
    }

    /// Returns the first address that WeChat Pay gave for an order; each call returns another one, and all pay the same
    /// order.
    ///
    /// It is stored as long as it is valid, so that a repetition has the same answer.
    private func first(
        _ address: String, _ mode: WeChatPaySettings.Mode, _ attempt: PaymentAttempt
    ) async throws(ProviderError) -> String {
        let now = context.time.now
        // A code is valid for two hours and a page for five minutes; some of that is left for the payer.
        let given = Given(address: address, until: now.adding(seconds: mode == .native ? 6_600 : 240))
        guard let data = try? JSONEncoder().encode(given) else { throw .outcomeUnknown }
        let kept: Data?
        do throws(ProviderError) {
            kept = try await context.book.update("address/\(mode.rawValue)/\(attempt.payment.rawValue)") {
                old in
                let known = old.flatMap { try? JSONDecoder().decode(Given.self, from: $0) }
                return known.map { now < $0.until } ?? false ? nil : data
            }
        } catch {
            // The order was made nevertheless.
            throw .outcomeUnknown
        }
        return kept.flatMap { try? JSONDecoder().decode(Given.self, from: $0) }?.address ?? address
    }
}

/// Queries payments and closes them.
extension WeChatPayProvider {
    /// - Returns: nil where WeChat Pay has none.
    func transaction(
        _ payment: ID<Payment>, _ reference: String? = nil
    ) async throws(WeChatPayFailure) -> WeChatPayTransaction? {
        let place = reference.flatMap(WeChatPayText.word).map { "id/\($0)" } ?? "out-trade-no/\(payment.rawValue)"
        do throws(WeChatPayFailure) {
            return try await api.get("/v3/pay/transactions/\(place)?mchid=\(settings.mchid)")
        } catch {
            if case .refused(let refusal) = error, refusal.isMissing { return nil }
            throw error
        }
    }

    func asking(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        do throws(WeChatPayFailure) {
            guard let known = try await transaction(payment.payment, payment.reference) else {
                // Its opening may be under way, so the payment has not ended.
                return PaymentReport(payment: payment.payment, outcome: .pending(status: "not_found"))
            }
            return try known.report(payment.payment, settings, apps: try await apps(of: payment.payment))
        } catch {
            throw error.providerError(afterChange: false)
        }
    }

    func cancelling(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        let target = "/v3/pay/transactions/out-trade-no/\(payment.payment.rawValue)/close"
        let status: Int
        do throws(WeChatPayFailure) {
            status = try await api.status(target, WeChatPayClosing(mchid: settings.mchid))
        } catch {
            // It is paid, already closed, too recent to be closed, or missing: its current state is the answer.
            if case .refused(let refusal) = error, refusal.saysNo { return try await asking(payment) }
            throw error.providerError(afterChange: true)
        }
        // Another successful status means that it is not closed yet, because the payer is acting.
        guard status == 204 else { return try await asking(payment) }
        return PaymentReport(payment: payment.payment, outcome: .cancelled)
    }
}

extension WeChatPayRefusal {
    /// True where WeChat Pay's verified answer shows that it did nothing.
    fileprivate var saysNo: Bool {
        if isMissing { return true }
        if case .rejected = providerError(.outcomeUnknown) { return true }
        return false
    }
}
