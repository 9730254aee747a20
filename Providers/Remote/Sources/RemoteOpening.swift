import Domain
import ProviderKit

extension RemoteProvider {
    private static let textLimit = 1_024
    /// Schemes that browsers or phones execute or open as files.
    private static let refusedSchemes: Set<String> = [
        "about", "blob", "content", "data", "file", "filesystem", "intent", "javascript", "vbscript", "view-source",
    ]

    func opening(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        let rules = try await rules()
        // The plugin no longer follows the rules that are pinned, so no new payment is opened.
        guard manifestState == .pinned else { throw .unavailable }
        if let fault = rules.amountFault(attempt.amount) { throw .unfit(reason: fault.rawValue) }
        let accepts = Set(rules.contract_types).intersection(attempt.accepts)
        guard !accepts.isEmpty else { throw .unfit(reason: "contract_not_accepted") }
        guard attempt.mandate == nil || rules.chargesMandates else { throw .unfit(reason: "no_mandates") }
        var request = RemoteRequest(.open)
        request.payment_id = attempt.payment.rawValue
        request.order_id = attempt.order.rawValue
        request.amount = attempt.amount
        request.title = attempt.title
        request.platform = attempt.platform.rawValue
        request.return_url = attempt.returnURL
        request.payer_address = attempt.payerAddress
        request.notify_url = context.notifyURL
        request.expires_at = attempt.expiresAt.rawValue
        request.accepts = accepts.map(\.rawValue).sorted()
        request.mandate_request = attempt.mandate.map(RemoteMandateRequest.init)
        let opened: RemoteOpened = try await api.send(request)
        let reference = ProviderReference(payment: attempt.payment, reference: nil, amount: attempt.amount)
        let report = try report(opened.payment, reference, lost: .outcomeUnknown)
        guard opened.payment.amount == attempt.amount else {
            throw lie("another amount", .badMoney, attempt.payment, .outcomeUnknown)
        }
        if case .pending("not_found") = report.outcome {
            throw lie("opened, and not found", .unreadable, attempt.payment, .outcomeUnknown)
        }
        guard let instruction = instruction(opened.contract), accepts.contains(instruction.type) else {
            throw lie("a contract that cannot be shown", .unreadable, attempt.payment, .outcomeUnknown)
        }
        return OpenedPayment(instruction: instruction, reference: report.reference, outcome: report.outcome)
    }

    /// - Returns: nil for another type, and for an address that no client may get.
    func instruction(_ contract: RemoteOpened.Contract) -> PaymentInstruction? {
        switch contract.type {
        case "url":
            guard let text = contract.checkout_url, let address = WebAddress(text), address.isWeb, isSecure(address)
            else { return nil }
            return .url(checkoutURL: text)
        case "qr":
            guard let text = contract.text, (1...Self.textLimit).contains(text.utf8.count),
                text.utf8.allSatisfy(\.isVisible)
            else { return nil }
            // A code has the address of a page or of an app, or a text for a wallet.
            if let address = WebAddress(text) {
                guard address.isWeb ? isSecure(address) : !Self.refusedSchemes.contains(address.scheme) else {
                    return nil
                }
            }
            return .qr(text: text)
        default: return nil
        }
    }

    private func isSecure(_ address: WebAddress) -> Bool { address.scheme == "https" || settings.isDevelopment }
}
