import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import WeChatPayProvider

/// WeChat Pay's rehearsal for the conformance kit.
struct WeChatPayRehearsal: Rehearsal {
    let settings: [String: SettingValue]
    let standIn = FakeWeChatPayServer()
    private let seal: WeChatPaySeal

    init(_ settings: [String: SettingValue]) {
        self.settings = settings
        let seal = settings["public_key"] == nil ? WeChatPaySeal.platform : .publicKey
        self.seal = seal
        standIn.state.withLock { $0.seal = seal }
    }

    private var mode: String {
        if case .text(let mode)? = settings["mode"] { mode } else { "native" }
    }

    /// The app of the payments that the kit opens: the first of the account's first mode.
    private var app: String {
        switch mode {
        case "app": FakeWeChatPayServer.mobile
        case "jsapi": FakeWeChatPayServer.office
        default: FakeWeChatPayServer.appid
        }
    }

    var secrets: [String] { [FakeWeChatPayServer.apiKey, WeChatPayTestCertificates.merchantKey] }
    var signatureWindow: Int64? { 300 }

    func makeProvider(_ context: ProviderContext, upstream: UpstreamBehaviour) throws -> any PaymentProvider {
        try WeChatPayProvider(account: WeChatPayFixture.account(settings), context: context)
    }

    func answer(
        _ request: OutgoingRequest, in context: ProviderContext
    ) async throws(HTTPTransportError) -> IncomingReply {
        standIn.answer(request, now: context.time.now.rawValue)
    }

    func changesSomething(_ request: OutgoingRequest) -> Bool { request.method == "POST" }

    /// Adds fields and signs the answer again, with the same time.
    func addingUnknownFields(to reply: IncomingReply) -> IncomingReply? {
        guard let body = UnknownFields.adding(to: reply.body),
            let time = reply.headers.first(where: { $0.name == "Wechatpay-Timestamp" }).flatMap({ Int64($0.value) })
        else { return nil }
        return IncomingReply(status: reply.status, headers: seal.headers(body, at: time), body: body)
    }

    func act(_ act: PayerAct, on payment: ID<Payment>, in context: ProviderContext) async throws -> Bool {
        standIn.act(succeed: act == .succeed, on: payment.rawValue)
    }

    func useUnknownStatus(of payment: ID<Payment>, in context: ProviderContext) async throws -> Bool {
        standIn.state.withLock { state in
            for index in state.orders.indices where state.orders[index].number == payment.rawValue {
                state.orders[index].state = "TELEPORTED"
            }
        }
        return true
    }

    func effects(of payment: ID<Payment>, in context: ProviderContext) async throws -> UpstreamEffects {
        standIn.state.withLock { state in
            UpstreamEffects(
                payments: state.orders.count { $0.number == payment.rawValue },
                refunds: state.refunds.filter { $0.order == payment.rawValue }.map { cny($0.amount) })
        }
    }

    func notification(
        _ event: RehearsedEvent, _ signature: RehearsedSignature, in context: ProviderContext
    ) async throws -> RawNotification? {
        guard var body = body(event) else { return nil }
        if event.hasUnknownFields { body = UnknownFields.adding(to: body) ?? body }
        let now = context.time.now.rawValue
        var headers = seal.headers(body, at: now)
        switch signature {
        case .genuine: break
        case .forged: headers[3].value = Data(repeating: 0x0A, count: 256).base64EncodedString()
        case .missing: headers.remove(at: 3)
        case .anothers: headers = WeChatPaySeal(.stranger).headers(body, at: now)
        }
        return FakeWeChatPayServer.notification(body, headers)
    }

    /// - Returns: nil for the events that WeChat Pay does not send: failures, waiting payments and disputes.
    private func body(_ event: RehearsedEvent) -> Data? {
        let (payment, id) = (event.payment.payment.rawValue, "EV-\(event.id)")
        func paid(
            _ amount: Money, number: String? = nil, state: String = "SUCCESS", more: [String: Any] = [:]
        ) -> Data {
            let order = FakeWeChatPayServer.Order(
                number: number ?? payment, total: amount.value, body: Data(), mode: mode, appid: app, state: state)
            var object = order.json.merging(more) { $1 }
            object["amount"] = ["total": amount.value, "currency": amount.currency.code]
            return sealed("TRANSACTION.SUCCESS", object, id, event.hasUnknownFields)
        }
        func refund(_ refund: ID<Refund>, _ amount: Money, _ status: String) -> Data {
            let made = FakeWeChatPayServer.Refund(
                number: refund.rawValue, order: payment, amount: amount.value, status: status)
            return sealed(
                "REFUND.\(status)", made.notice(total: event.payment.amount.value), id, event.hasUnknownFields)
        }
        switch event.what {
        case .paymentSucceeded(let amount): return paid(amount)
        case .unknownStatus: return paid(event.payment.amount, state: "TELEPORTED")
        case .foreignPaymentSucceeded(let amount): return paid(amount, number: "invoice-77")
        case .anothersPaymentSucceeded(let amount): return paid(amount, more: ["mchid": "1900000009"])
        case .refundSucceeded(let id, let amount): return refund(id, amount, "SUCCESS")
        case .refundFailed(let id, let amount): return refund(id, amount, "CLOSED")
        case .unreadable: return Data("[1, 2".utf8)
        case .paymentFailed, .paymentCancelled, .paymentPending, .refundCreated, .disputeOpened, .disputeWon,
            .disputeLost:
            return nil
        }
    }

    /// Encrypts an object; the unknown fields are inside as well.
    private func sealed(_ type: String, _ object: [String: Any], _ id: String, _ hasMore: Bool) -> Data {
        let plain = (try? JSONSerialization.data(withJSONObject: object, options: .sortedKeys)) ?? Data()
        return FakeWeChatPayServer.event(
            type, plain: hasMore ? UnknownFields.adding(to: plain) ?? plain : plain, id: id)
    }
}
