import Domain
import ProviderKit

extension EPayProvider {
    func opening(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        if let fault = amountFault(attempt.amount) { throw .unfit(reason: fault.rawValue) }
        let name = EPayText.name(attempt.title)
        var fields = [
            "pid": settings.pid, "out_trade_no": attempt.payment.rawValue, "notify_url": context.notifyURL,
            "return_url": attempt.returnURL ?? context.publicURL,
            "name": name.isBlank ? attempt.order.rawValue : name, "money": attempt.amount.decimal,
        ]
        fields["type"] = settings.type
        guard settings.mode != .submit else {
            // The address is signed here, without a call.
            return OpenedPayment(
                instruction: .url(checkoutURL: "\(settings.submitURL)?\(settings.signature.signed(fields))"),
                reference: nil)
        }
        fields["clientip"] = attempt.payerAddress(orElse: settings.clientIP) ?? "127.0.0.1"
        fields["device"] = [.ios, .android].contains(attempt.platform) ? "mobile" : "pc"
        let opened: EPayOpened
        do throws(EPayFailure) { opened = try await api.open(fields) } catch {
            throw error.providerError(afterChange: true)
        }
        return OpenedPayment(
            instruction: try instruction(opened), reference: EPayText.word(opened.trade_no?.text))
    }

    /// - Throws: `rejected` where the service returns another way to pay, which was shown to nobody.
    private func instruction(_ opened: EPayOpened) throws(ProviderError) -> PaymentInstruction {
        let ways = (
            code: Self.code(opened.qrcode), page: Self.usable(opened.payurl, isPage: true),
            scheme: Self.usable(opened.urlscheme)
        )
        switch (settings.mode, ways.code, ways.page ?? ways.scheme) {
        case (.mapiQR, let code?, _): return .qr(text: code)
        case (.mapiQR, nil, _?): return try refuse("answer_is_no_qrcode", "mapi_url")
        case (_, _, let page?): return .url(checkoutURL: page)
        case (_, _?, nil): return try refuse("answer_is_no_url", "mapi_qr")
        case (_, nil, nil): throw .outcomeUnknown
        }
    }

    private func refuse(_ reason: String, _ mode: String) throws(ProviderError) -> PaymentInstruction {
        context.log.write(.error, "epay: this channel answers another contract", ["use_mode": mode])
        throw .rejected(reason: reason)
    }

    /// Returns a text for a QR code: an address that a client may get, or a text for a wallet, such as the address of a
    /// USDT wallet.
    private static func code(_ text: String?) -> String? {
        guard let text, text.hasBytes(1...1_024, where: \.isVisible)
        else { return nil }
        return WebAddress(text) == nil && !text.contains(":") ? text : usable(text)
    }

    /// Returns an address that a client may get: of a web page, or of an app such as `weixin://`.
    private static func usable(_ text: String?, isPage: Bool = false) -> String? {
        guard let text, let address = WebAddress(text), address.isWeb || !isPage,
            !["javascript", "data", "file", "vbscript", "blob", "about"].contains(address.scheme)
        else { return nil }
        return text
    }
}
