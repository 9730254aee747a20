import Domain
import EPayProvider
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization

/// EPay's part in the conformance kit, in one of its modes.
struct EPayRehearsal: Rehearsal {
    let mode: String
    /// The HTTP method of notifications.
    let method: ProviderManifest.NotificationMethod
    let standIn: FakeEPayServer

    init(mode: String, method: ProviderManifest.NotificationMethod) {
        self.mode = mode
        self.method = method
        standIn = FakeEPayServer(way: mode == "mapi_url" ? ["payurl": "https://epay.example/pay/1"] : nil)
    }

    var secrets: [String] { [FakeEPayServer.key] }
    var payersCanFail: Bool { false }
    var namesCurrencies: Bool { false }

    func makeProvider(_ context: ProviderContext, upstream: UpstreamBehaviour) throws -> any PaymentProvider {
        let settings: [String: SettingValue] = ["mode": .text(mode), "type": .text("alipay")]
        let provider = try EPayProvider(account: EPayFixture.account(settings), context: context)
        return WatchedEPay(provider: provider, standIn: mode == "submit" ? standIn : nil)
    }

    func answer(
        _ request: OutgoingRequest, in context: ProviderContext
    ) async throws(HTTPTransportError) -> IncomingReply { standIn.answer(request) }

    func changesSomething(_ request: OutgoingRequest) -> Bool { request.method == "POST" }

    func act(_ act: PayerAct, on payment: ID<Payment>, in context: ProviderContext) async throws -> Bool {
        guard act == .succeed else { throw RehearsalGap("has payers that cannot fail") }
        return standIn.act(1, payment.rawValue)
    }

    func useUnknownStatus(of payment: ID<Payment>, in context: ProviderContext) async throws -> Bool {
        standIn.act(7, payment.rawValue)
    }

    func effects(of payment: ID<Payment>, in context: ProviderContext) async throws -> UpstreamEffects {
        standIn.state.withLock { state in
            guard let order = state.orders[payment.rawValue] else { return UpstreamEffects(payments: 0) }
            let money = Money(decimal: order.money, currency: cny(0).currency)
            return UpstreamEffects(payments: 1, refunds: (0..<order.refunds).compactMap { _ in money })
        }
    }

    func notification(
        _ event: RehearsedEvent, _ signing: RehearsedSignature, in context: ProviderContext
    ) async throws -> RawNotification? {
        guard var notice = notice(event) else { return nil }
        if event.hasUnknownFields { notice.fields["kit_unknown"] = "an = & unknown" }
        let text =
            switch signing {
            case .genuine: notice.text()
            case .forged: notice.text(signature: String(repeating: "0a", count: 16))
            case .missing: notice.text(signature: "")
            case .anothers: notice.text(key: "the0key0of0another")
            }
        return method == .get ? EPayNotice.get(text) : EPayNotice.post(text)
    }

    private func notice(_ event: RehearsedEvent) -> EPayNotice? {
        let payment = event.payment.payment.rawValue
        // An event is known by its trade.
        let trade = event.id.map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined().suffix(60)
        func notice(_ money: Money) -> EPayNotice { EPayNotice(payment, money: money.decimal, trade: String(trade)) }
        switch event.what {
        case .paymentSucceeded(let money): return notice(money)
        case .unknownStatus:
            var unknown = notice(event.payment.amount)
            unknown.fields["trade_status"] = "TRADE_TELEPORTED"
            return unknown
        case .foreignPaymentSucceeded(let money):
            var foreign = notice(money)
            foreign.fields["out_trade_no"] = "invoice-77"
            return foreign
        case .anothersPaymentSucceeded(let money):
            var anothers = notice(money)
            anothers.fields["pid"] = "1002"
            return anothers
        case .unreadable:
            var other = notice(event.payment.amount)
            other.fields = ["pid": FakeEPayServer.pid, "act": "another"]
            return other
        // The service tells of nothing but money that came.
        case .paymentFailed, .paymentCancelled, .paymentPending, .refundCreated, .refundSucceeded, .refundFailed,
            .disputeOpened, .disputeWon, .disputeLost:
            return nil
        }
    }
}

/// The provider, whose pages the payer's browser opens at the stand-in as soon as there are any.
struct WatchedEPay: PaymentProvider {
    static let manifest = EPayProvider.manifest

    let provider: EPayProvider
    let standIn: FakeEPayServer?

    init(provider: EPayProvider, standIn: FakeEPayServer?) {
        self.provider = provider
        self.standIn = standIn
    }

    init(account: ProviderAccount, context: ProviderContext) throws(ProviderSetupError) {
        self.init(provider: try EPayProvider(account: account, context: context), standIn: nil)
    }

    var contractTypes: Set<ContractType> { provider.contractTypes }

    func open(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        let opened = try await provider.open(attempt)
        if case .url(let address) = opened.instruction, let standIn, standIn.visit(address) != attempt.payment.rawValue
        {
            throw .rejected(reason: "the stand-in shows an error instead of the page")
        }
        return opened
    }

    func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        try await provider.query(payment)
    }

    func cancel(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        try await provider.cancel(payment)
    }

    func refund(_ refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        try await provider.refund(refund)
    }

    func query(refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        try await provider.query(refund: refund)
    }

    func receive(_ notification: RawNotification) async throws(ProviderError) -> ReceivedNotification {
        try await provider.receive(notification)
    }
}
