import Crypto
import Domain
import Foundation
import ProviderKit
import Synchronization
import TestSupport

/// A stand-in for an EPay service of the common dialect: it verifies what is sent and plays the payer's side.
///
/// It reads forms and builds the signed text by its own code, so that a mistake of the provider's shows.
final class FakeEPayServer: Sendable {
    static let pid = "1001"
    static let key = "planted0key0of0the0tests"
    static let base = "https://epay.example/pay"

    struct Order {
        let money: String
        let type: String
        var status = 0
        /// How often money went back.
        var refunds = 0
    }

    struct State {
        var orders: [String: Order] = [:]
        var calls: [String] = []
        var forms: [[String: String]] = []
        /// Beside its code, what mapi answers.
        var way: [String: String] = ["qrcode": "weixin://wxpay/bizpayurl?pr=AbC"]
    }

    let state = Mutex(State())
    private let joiner: String

    init(joiner: String = "", way: [String: String]? = nil) {
        self.joiner = joiner
        if let way { state.withLock { $0.way = way } }
    }

    func answer(_ request: OutgoingRequest) -> IncomingReply {
        let parts = request.url.split(separator: "?", maxSplits: 1).map(String.init)
        let form = Self.form(parts.count > 1 ? parts[1] : "")
            .merging(Self.form(String(decoding: request.body, as: UTF8.self))) { first, _ in first }
        return state.withLock { state in
            state.calls.append("\(request.method) \(parts[0].split(separator: "/").last ?? "") \(form["act"] ?? "")")
            state.forms.append(form)
            switch (parts[0], form["act"]) {
            case ("\(Self.base)/mapi.php", nil): return mapi(form, &state)
            case ("\(Self.base)/api.php", _) where form["pid"] != Self.pid || form["key"] != Self.key:
                return .json(["code": -3, "msg": "商户密钥错误"])
            case ("\(Self.base)/api.php", "order"?): return order(form, state)
            case ("\(Self.base)/api.php", "refund"?): return refund(form, &state)
            case ("\(Self.base)/api.php", "query"?):
                return .json(["code": 1, "pid": 1001, "key": Self.key, "active": 1, "money": "0.00"])
            default: return IncomingReply(status: 404)
            }
        }
    }

    /// What the payer's browser does with a signed address; nil where the service shows an error.
    func visit(_ address: String) -> String? {
        guard address.hasPrefix("\(Self.base)/submit.php?") else { return nil }
        let form = Self.form(String(address.split(separator: "?", maxSplits: 1)[1]))
        guard isGenuine(form) else { return nil }
        return state.withLock { make(form, &$0) }
    }

    /// The payer pays; only what waits changes.
    func act(_ status: Int, _ number: String) -> Bool {
        state.withLock { state in
            guard state.orders[number]?.status == 0 else { return false }
            state.orders[number]?.status = status
            return true
        }
    }

    private func make(_ form: [String: String], _ state: inout State) -> String? {
        guard let number = form["out_trade_no"], let money = form["money"], form["notify_url"] != nil,
            form["return_url"] != nil, let name = form["name"], (1...127).contains(name.utf8.count),
            state.orders[number].map({ $0.money == money }) ?? true
        else { return nil }
        if state.orders[number] == nil { state.orders[number] = Order(money: money, type: form["type"] ?? "alipay") }
        return number
    }

    private func mapi(_ form: [String: String], _ state: inout State) -> IncomingReply {
        guard isGenuine(form), form["type"] != nil, form["clientip"] != nil, let number = make(form, &state) else {
            return .json(["code": -1, "msg": "签名校验失败"])
        }
        let answer: [String: Any] = ["code": 1, "msg": "", "trade_no": Self.trade(number)]
        return .json(answer.merging(state.way) { $1 })
    }

    private func order(_ form: [String: String], _ state: State) -> IncomingReply {
        guard let number = form["out_trade_no"], let order = state.orders[number] else {
            return .json(["code": -1, "msg": "订单号不存在"])
        }
        return .json([
            "code": 1, "msg": "ok", "trade_no": Self.trade(number), "out_trade_no": number, "type": order.type,
            "pid": 1001, "name": "payer@example.com", "money": order.money, "status": order.status,
        ])
    }

    private func refund(_ form: [String: String], _ state: inout State) -> IncomingReply {
        guard let number = form["out_trade_no"], let order = state.orders[number], order.status == 1,
            form["money"] == order.money
        else { return .json(["code": -1, "msg": "当前订单不支持退款"]) }
        state.orders[number]?.status = 2
        state.orders[number]?.refunds += 1
        return .json(["code": 1, "msg": "退款成功"])
    }

    static func trade(_ number: String) -> String { "2026\(number.suffix(16))" }

    private func isGenuine(_ form: [String: String]) -> Bool {
        form["pid"] == Self.pid && form["sign_type"] == "MD5" && form["sign"] == Self.sign(form, joiner: joiner)
    }

    static func sign(_ form: [String: String], key: String = FakeEPayServer.key, joiner: String = "") -> String {
        let text = form.filter { !$0.value.isEmpty && $0.key != "sign" && $0.key != "sign_type" }
            .sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        let digits = Insecure.MD5.hash(data: Data((text + joiner + key).utf8))
        return Hex.encoded(digits, joiner.isEmpty ? .lower : .upper)
    }

    static func form(_ text: String) -> [String: String] { FormText.fields(text) }
}

extension IncomingReply {
    static func json(_ object: [String: Any]) -> IncomingReply {
        IncomingReply(status: 200, body: (try? JSONSerialization.data(withJSONObject: object)) ?? Data())
    }

    static func page(_ text: String) -> IncomingReply { IncomingReply(status: 200, body: Data(text.utf8)) }
}

/// A notification as services send it.
struct EPayNotice {
    var fields: [String: String]

    init(_ payment: String, money: String = "39.90", trade: String? = nil) {
        fields = [
            "pid": FakeEPayServer.pid, "trade_no": trade ?? FakeEPayServer.trade(payment), "out_trade_no": payment,
            "type": "alipay", "name": "会员 A&B=C +/", "money": money, "trade_status": "TRADE_SUCCESS", "param": "",
        ]
    }

    func text(key: String = FakeEPayServer.key, joiner: String = "", signature: String? = nil) -> String {
        var all = fields
        all["sign"] = signature ?? FakeEPayServer.sign(fields, key: key, joiner: joiner)
        all["sign_type"] = fields["sign_type"] ?? "MD5"
        func escaped(_ text: String) -> String { PercentEncoding.encoded(text).replacing("%20", with: "+") }
        return all.sorted { $0.key < $1.key }.map { "\(escaped($0.key))=\(escaped($0.value))" }.joined(separator: "&")
    }

    static func get(_ query: String) -> RawNotification {
        RawNotification(method: .get, query: query, headers: [], body: Data())
    }

    static func post(_ form: String) -> RawNotification {
        RawNotification(
            method: .post, headers: [(name: "content-type", value: "application/x-www-form-urlencoded")],
            body: Data(form.utf8))
    }
}
