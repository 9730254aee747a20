import Domain
import FoundationEssentials
import ProviderKit

/// Calls of the service.
///
/// Its answers are not signed: only https proves their origin. `act=order` has the key in its URL, which is therefore
/// never logged and in no error.
struct EPayAPI: Sendable {
    private static let replyLimit = 64 << 10
    private static let good: Set<String> = ["1"]
    /// The codes of a successful refund: 0 in the common implementation, 1 in others.
    private static let goodRefund: Set<String> = ["0", "1"]

    let settings: EPaySettings
    let context: ProviderContext

    /// - Throws: `refused` where the service makes no order.
    func open(_ fields: [String: String]) async throws(EPayFailure) -> EPayOpened {
        let body = settings.signature.signed(fields)
        return try await call("mapi", settings.mapiURL, body: body) { $0.code }
    }

    /// Finds an order by our number, and by the service's where it is known, which then takes precedence; nil where the
    /// service has none, or refuses the query.
    func order(_ payment: ID<Payment>, _ reference: String?) async throws(EPayFailure) -> EPayOrder? {
        var fields = [
            "act": "order", "pid": settings.pid, "key": settings.key.value, "out_trade_no": payment.rawValue,
        ]
        let trade = reference.flatMap(EPayText.word)
        fields["trade_no"] = trade
        let query = FormFields.encoded(fields)
        let order: EPayOrder
        do throws(EPayFailure) {
            order = try await call("act=order", "\(settings.apiURL)?\(query)") { $0.code }
        } catch {
            if case .refused = error { return nil }
            throw error
        }
        guard order.pid?.text ?? settings.pid == settings.pid else { throw .unproven(.otherMerchant) }
        guard order.out_trade_no?.text == payment.rawValue, trade == nil || order.trade_no?.text ?? trade == trade
        else {
            throw .unproven(.otherPayment)
        }
        return order
    }

    func refund(_ payment: ProviderReference) async throws(EPayFailure) {
        var fields = [
            "pid": settings.pid, "key": settings.key.value, "out_trade_no": payment.payment.rawValue,
            "money": payment.amount.decimal,
        ]
        fields["trade_no"] = payment.reference.flatMap(EPayText.word)
        let _: EPayRefunded = try await call(
            "act=refund", "\(settings.apiURL)?act=refund", body: FormFields.encoded(fields), good: Self.goodRefund
        ) { $0.code }
    }

    /// Returns whether the service knows the merchant and its key.
    func merchant() async throws(EPayFailure) -> Bool {
        struct Merchant: Decodable {
            let code: EPayValue
            let active: EPayValue?
        }
        let query = FormFields.encoded(["act": "query", "pid": settings.pid, "key": settings.key.value])
        let merchant: Merchant = try await call("act=query", "\(settings.apiURL)?\(query)") { $0.code }
        return merchant.active?.text != "0"
    }

    private func call<Value: Decodable>(
        _ name: String, _ url: String, body: String? = nil, good: Set<String> = Self.good, code: (Value) -> EPayValue
    ) async throws(EPayFailure) -> Value {
        var request = OutgoingRequest(
            method: body == nil ? "GET" : "POST", url: url,
            headers: [(name: "Accept", value: "application/json"), (name: "User-Agent", value: "paydesk")],
            maxReplyBytes: Self.replyLimit)
        if let body {
            request.headers.append((name: "Content-Type", value: "application/x-www-form-urlencoded"))
            request.body = Data(body.utf8)
        }
        let reply = try await ServiceClient<EPayRefusal>("epay", context: context).send(request, call: name)
        guard reply.status == 200, let value = try? UnambiguousJSON.decode(Value.self, from: reply.body) else {
            context.log.write(
                .warning, "epay: no answer of the service's", ["call": name, "status": "\(reply.status)"])
            throw .unanswered
        }
        guard good.contains(code(value).text) else {
            // The message is the service's free text, so only the code is logged.
            let word = EPayText.word(code(value).text) ?? "none"
            context.log.write(name == "act=order" ? .debug : .warning, "epay: refused", ["call": name, "code": word])
            throw .refused(EPayRefusal(code: word))
        }
        return value
    }
}
