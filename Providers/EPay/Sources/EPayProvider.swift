public import Domain
public import ProviderKit

/// EPay (易支付): `url` contracts with `submit`, `url` and `qr` contracts with `mapi`.
///
/// It stores nothing: the payment's id is the order's number. The service cannot close an order, and makes only full
/// refunds, if any.
public struct EPayProvider: PaymentProvider {
    public static let manifest = ProviderManifest(
        kind: "epay", displayName: "EPay", contractTypes: [.url, .qr],
        currencies: [.cny], cancel: .none, refunds: .full, notifications: [.get, .post],
        settings: EPaySettings.schema)

    let settings: EPaySettings
    let context: ProviderContext
    let api: EPayAPI

    public init(account: ProviderAccount, context: ProviderContext) throws(ProviderSetupError) {
        settings = try EPaySettings(account)
        self.context = context
        api = EPayAPI(settings: settings, context: context)
    }

    public var contractTypes: Set<ContractType> { [settings.mode.contract] }

    /// Checks the amount; services store it as DECIMAL(10,2).
    public func amountFault(_ amount: Money) -> AmountFault? { .of(amount, in: "CNY", 1...9_999_999_999) }

    public func open(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        try await opening(attempt)
    }

    public func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        do throws(EPayFailure) {
            var order = try await api.order(payment.payment, payment.reference)
            if payment.reference != nil, order?.isPaid != true {
                // Each visit of the page can make another trade with our number, and any of them may have been paid.
                let other = try await api.order(payment.payment, nil)
                if other?.isPaid == true { order = other }
            }
            guard let order else {
                // The payer may not have opened the page yet, so the payment has not ended.
                return PaymentReport(payment: payment.payment, outcome: .pending(status: "not_found"))
            }
            // The payment's trade is known once one is paid.
            return PaymentReport(
                payment: payment.payment, outcome: try order.outcome(),
                reference: order.isPaid ? EPayText.word(order.trade_no?.text) : nil)
        } catch {
            throw error.providerError(afterChange: false)
        }
    }

    public func cancel(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        throw .unsupported
    }

    public func refund(_ refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        try await refunding(refund)
    }

    public func query(refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        try await asking(refund)
    }

    public func receive(_ notification: RawNotification) async throws(ProviderError) -> ReceivedNotification {
        try reading(notification)
    }
}

extension EPayOrder {
    fileprivate var isPaid: Bool { state == .paid || state == .refunded }

    /// - Throws: `unproven` for a success without an exact amount.
    fileprivate func outcome() throws(EPayFailure) -> PaymentOutcome {
        switch state {
        case .unpaid: return .accepted
        case .other(let word): return .pending(status: "status_\(word)")
        // A refund does not undo the payment.
        case .paid, .refunded:
            guard let money = EPayText.money(money?.text) else { throw .unproven(.badMoney) }
            return .succeeded(money)
        }
    }
}
