import AlipayProvider
import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization

/// Alipay's rehearsal for the conformance kit, in one of its modes.
struct AlipayRehearsal: Rehearsal {
    let settings: [String: SettingValue]
    let standIn: FakeAlipayServer

    /// - Parameter mode: a mode, or several with spaces between them.
    init(mode: String, hasCertificates: Bool = false) {
        let certificates =
            hasCertificates ? AlipayFixture.certificateMode(alipay: AlipayTestCertificates.alipayCertificate) : [:]
        let modes = mode.split(separator: " ").map { SettingValue.text(String($0)) }
        let own: [String: SettingValue] = modes.count == 1 ? ["mode": .text(mode)] : ["modes": .list(modes)]
        settings = certificates.merging(own) { $1 }
        standIn = FakeAlipayServer(certificate: hasCertificates ? AlipayTestCertificates.alipayNumber : nil)
    }

    var secrets: [String] { [AlipayTestCertificates.applicationPKCS8] }

    func makeProvider(_ context: ProviderContext, upstream: UpstreamBehaviour) throws -> any PaymentProvider {
        let provider = try AlipayProvider(account: AlipayFixture.account(settings), context: context)
        return WatchedAlipay(provider: provider, standIn: standIn)
    }

    func answer(
        _ request: OutgoingRequest, in context: ProviderContext
    ) async throws(HTTPTransportError) -> IncomingReply { standIn.answer(request) }

    func changesSomething(_ request: OutgoingRequest) -> Bool { !request.url.contains("query") }

    func act(_ act: PayerAct, on payment: ID<Payment>, in context: ProviderContext) async throws -> Bool {
        // A payer cannot make a trade fail, so it expires.
        standIn.act(act == .succeed ? "TRADE_SUCCESS" : "TRADE_CLOSED", payment.rawValue)
    }

    func useUnknownStatus(of payment: ID<Payment>, in context: ProviderContext) async throws -> Bool {
        standIn.act("TRADE_TELEPORTED", payment.rawValue)
    }

    func effects(of payment: ID<Payment>, in context: ProviderContext) async throws -> UpstreamEffects {
        standIn.state.withLock { state in
            UpstreamEffects(
                payments: state.offers[payment.rawValue] == nil ? 0 : 1,
                refunds: state.trades[payment.rawValue]?.refunds.map { cny(Int64($0.fen)) } ?? [])
        }
    }

    /// Adds a field to the signed node and one outside; the new text is signed.
    func addingUnknownFields(to reply: IncomingReply) -> IncomingReply? {
        guard let object = try? JSONSerialization.jsonObject(with: reply.body) as? [String: Any],
            let (name, node) = object.first(where: { $0.key.hasSuffix("_response") }),
            let json = try? JSONSerialization.data(withJSONObject: node), let more = UnknownFields.adding(to: json)
        else { return nil }
        var signed = FakeAlipayServer.reply(
            String(name.dropLast("_response".count)), more, certificate: standIn.certificate)
        signed.body = Data(#"{"kit_unknown":{"sign":"x","a":[1,"]"]},"#.utf8) + signed.body.dropFirst()
        return signed
    }

    func notification(
        _ event: RehearsedEvent, _ signing: RehearsedSignature, in context: ProviderContext
    ) async throws -> RawNotification? {
        guard var notice = notice(event) else { return nil }
        notice.fields["notify_id"] = "notify of \(event.id)"
        notice.fields["notify_time"] = "2026-11-21 18:00:\(context.time.now.rawValue % 60)"
        if event.hasUnknownFields { notice.fields["kit_unknown"] = "an = & unknown" }
        if standIn.certificate != nil { notice.fields["alipay_cert_sn"] = standIn.certificate }
        switch signing {
        case .genuine: return notice.raw()
        case .forged: return notice.raw(signature: Data(repeating: 7, count: 256).base64EncodedString())
        case .missing: return notice.raw(by: nil)
        case .anothers: return notice.raw(by: AlipayTestCertificates.stranger)
        }
    }

    private func notice(_ event: RehearsedEvent) -> AlipayNotice? {
        let payment = event.payment.payment.rawValue
        func notice(_ status: String, _ amount: Money? = nil) -> AlipayNotice {
            let amount = amount ?? event.payment.amount
            var notice = AlipayNotice(payment, status, amount: amount.decimal)
            if amount.currency.code != "CNY" { notice.fields["trans_currency"] = amount.currency.code }
            return notice
        }
        switch event.what {
        case .paymentSucceeded(let amount): return notice("TRADE_SUCCESS", amount)
        case .paymentCancelled: return notice("TRADE_CLOSED")
        case .paymentPending: return notice("WAIT_BUYER_PAY")
        case .unknownStatus: return notice("TRADE_TELEPORTED")
        case .foreignPaymentSucceeded(let amount):
            var foreign = notice("TRADE_SUCCESS", amount)
            foreign.fields["out_trade_no"] = "invoice-77"
            return foreign
        case .anothersPaymentSucceeded(let amount):
            var anothers = notice("TRADE_SUCCESS", amount)
            anothers.fields["app_id"] = "2021000000000002"
            return anothers
        case .refundSucceeded(let id, let amount):
            // The provider queries the amount, so the fake server must have the refund.
            standIn.state.withLock { state in
                var trade = state.trades[payment] ?? FakeAlipayServer.Trade(amount: event.payment.amount.decimal)
                if !trade.refunds.contains(where: { $0.number == id.rawValue }) {
                    trade.refunds.append((number: id.rawValue, fen: Int(amount.value)))
                }
                state.trades[payment] = trade
            }
            var refund = notice("TRADE_SUCCESS")
            refund.fields["out_biz_no"] = id.rawValue
            refund.fields["refund_fee"] = amount.decimal
            refund.fields["gmt_refund"] = "2026-11-21 18:30:00.123"
            return refund
        case .unreadable:
            var other = notice("TRADE_SUCCESS")
            other.fields = [
                "app_id": FakeAlipayServer.appID, "seller_id": FakeAlipayServer.sellerID, "service": "another",
            ]
            return other
        // Alipay sends no notifications of these.
        case .paymentFailed, .refundCreated, .refundFailed, .disputeOpened, .disputeWon, .disputeLost: return nil
        }
    }
}

/// The provider, with a payer who opens each page, and starts Alipay for each app's request, at once.
struct WatchedAlipay: PaymentProvider {
    static let manifest = AlipayProvider.manifest

    let provider: AlipayProvider
    let standIn: FakeAlipayServer

    init(provider: AlipayProvider, standIn: FakeAlipayServer) {
        self.provider = provider
        self.standIn = standIn
    }

    init(account: ProviderAccount, context: ProviderContext) throws(ProviderSetupError) {
        self.init(provider: try AlipayProvider(account: account, context: context), standIn: FakeAlipayServer())
    }

    var contractTypes: Set<ContractType> { provider.contractTypes }
    var orderedContractTypes: [ContractType] { provider.orderedContractTypes }

    func open(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        let opened = try await provider.open(attempt)
        if case .url(let address) = opened.instruction, standIn.visit(address) != attempt.payment.rawValue {
            throw .rejected(reason: "the stand-in shows an error instead of the page")
        }
        if case .alipayApp(let text) = opened.instruction, standIn.start(text) != attempt.payment.rawValue {
            throw .rejected(reason: "the stand-in shows an error instead of its cashier")
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
