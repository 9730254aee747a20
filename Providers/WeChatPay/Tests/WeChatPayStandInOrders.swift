import Foundation
import ProviderKit
import Synchronization

/// Orders and refunds of the fake server.
extension FakeWeChatPayServer {
    static func make(_ mode: String, _ call: FakeWeChatPayServerCall, _ state: inout State) -> (Int, Any?) {
        guard let bound = apps[mode] else { return no(404, "NOT_FOUND") }
        let object = call.object
        var known: Set<String> = [
            "mchid", "appid", "description", "out_trade_no", "time_expire", "notify_url", "amount",
        ]
        if mode == "h5" { known.insert("scene_info") }
        if mode == "jsapi" { known.insert("payer") }
        let amount = object["amount"] as? [String: Any] ?? [:]
        guard Set(object.keys).isSubset(of: known), object["mchid"] as? String == mchid,
            let app = object["appid"] as? String, let title = object["description"] as? String,
            (1...127).contains(title.utf8.count), let number = object["out_trade_no"] as? String, isNumber(number),
            let total = amount["total"] as? Int64, total > 0, amount["currency"] as? String == "CNY",
            Set(amount.keys) == ["total", "currency"], let hook = object["notify_url"] as? String,
            hook.hasPrefix("https://"), !hook.contains("?"), isTime(object["time_expire"] as? String ?? ""),
            mode != "h5" || isScene(object["scene_info"]),
            mode != "jsapi" || (object["payer"] as? [String: String])?.keys.first == "openid"
        else { return no(400, "PARAM_ERROR") }
        guard bound.contains(app) else { return no(400, "APPID_MCHID_NOT_MATCH") }
        let openID = (object["payer"] as? [String: String])?["openid"]
        guard mode != "jsapi" || openIDs[openID ?? ""] == app else { return no(400, "PARAM_ERROR") }
        if let index = state.orders.firstIndex(where: { $0.number == number }) {
            let order = state.orders[index]
            switch order.state {
            case "CLOSED": return no(400, "ORDER_CLOSED")
            case "SUCCESS", "REFUND": return no(400, "ORDERPAID")
            default: guard order.body == call.body, order.mode == mode else { return no(400, "INVALID_REQUEST") }
            }
        } else {
            state.orders.append(Order(number: number, total: total, body: call.body, mode: mode, appid: app))
        }
        if mode == "app" || mode == "jsapi" { return (200, ["prepay_id": "wx26112410\(number.suffix(20))"]) }
        // Each call makes another code, and each code pays this order.
        state.codes += 1
        return mode == "native"
            ? (200, ["code_url": "weixin://wxpay/bizpayurl?pr=p4lpSuKzz\(state.codes)"])
            : (
                200,
                ["h5_url": "https://wx.tenpay.com/cgi-bin/mmpayweb-bin/checkmweb?prepay_id=wx\(state.codes)&package=9"]
            )
    }

    /// The apps that are bound to the merchant, by mode.
    private static let apps = ["native": [appid], "h5": [appid], "app": [mobile, appid], "jsapi": [office, mini]]

    private static func isNumber(_ text: String) -> Bool {
        (6...32).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                String(UnicodeScalar($0)).range(of: "[0-9A-Za-z_*|-]", options: .regularExpression) != nil
            }
    }

    private static func isTime(_ text: String) -> Bool {
        text.range(of: #"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00$"#, options: .regularExpression) != nil
            && ISO8601DateFormatter().date(from: text) != nil
    }

    private static func isScene(_ scene: Any?) -> Bool {
        let scene = scene as? [String: Any] ?? [:]
        return scene["payer_client_ip"] is String && (scene["h5_info"] as? [String: String])?["type"] == "Wap"
    }

    static func close(_ number: String, _ call: FakeWeChatPayServerCall, _ state: inout State) -> (Int, Any?) {
        guard call.object["mchid"] as? String == mchid, call.object.count == 1 else { return no(400, "PARAM_ERROR") }
        guard let index = state.orders.firstIndex(where: { $0.number == number }) else {
            return no(404, "ORDER_NOT_EXIST")
        }
        switch state.orders[index].state {
        case "SUCCESS", "REFUND": return no(400, "ORDERPAID")
        case "CLOSED": return no(400, "ORDER_CLOSED")
        case "USERPAYING": return no(202, "USERPAYING")
        default:
            state.orders[index].state = "CLOSED"
            return (204, nil)
        }
    }

    static func refund(_ call: FakeWeChatPayServerCall, _ state: inout State) -> (Int, Any?) {
        let (object, amount) = (call.object, call.object["amount"] as? [String: Any] ?? [:])
        let names = object.keys.filter { ["out_trade_no", "transaction_id"].contains($0) }
        let rest = Set(object.keys).subtracting(names)
        guard names.count == 1, rest == ["out_refund_no", "notify_url", "amount"],
            let number = object["out_refund_no"] as? String, isNumber(number),
            let order = object["out_trade_no"] as? String
                ?? state.orders.first(where: { $0.transaction == object["transaction_id"] as? String })?.number,
            let value = amount["refund"] as? Int64, value > 0,
            amount["currency"] as? String == "CNY"
        else { return no(400, "PARAM_ERROR") }
        guard let index = state.orders.firstIndex(where: { $0.number == order }) else {
            return no(404, "RESOURCE_NOT_EXISTS")
        }
        guard ["SUCCESS", "REFUND"].contains(state.orders[index].state),
            amount["total"] as? Int64 == state.orders[index].total
        else { return no(400, "INVALID_REQUEST") }
        if let made = state.refunds.first(where: { $0.number == number }) {
            guard made.amount == value, made.order == order else { return no(400, "INVALID_REQUEST") }
            return (200, made.json(state))
        }
        let given = state.refunds.filter { $0.order == order && $0.status != "CLOSED" }.map(\.amount).reduce(0, +)
        guard given + value <= state.orders[index].total else { return no(400, "INVALID_REQUEST") }
        let made = Refund(number: number, order: order, amount: value)
        state.refunds.append(made)
        state.orders[index].state = "REFUND"
        return (200, made.json(state))
    }

    /// Pays or is declined like the payer.
    ///
    /// - Returns: false where nothing can be paid any more.
    func act(succeed: Bool, on number: String) -> Bool {
        state.withLock { state in
            guard let index = state.orders.firstIndex(where: { $0.number == number }),
                ["NOTPAY", "USERPAYING", "PAYERROR"].contains(state.orders[index].state)
            else { return false }
            state.orders[index].state = succeed ? "SUCCESS" : "PAYERROR"
            return true
        }
    }

    /// Makes a notification's body like WeChat Pay.
    static func event(
        _ type: String, _ object: Any, id: String = "EV-1", key: String = apiKey, nonce: String = "fdasflkja484",
        associated: String? = nil
    ) -> Data {
        let plain = (try? JSONSerialization.data(withJSONObject: object, options: .sortedKeys)) ?? Data()
        return event(type, plain: plain, id: id, key: key, nonce: nonce, associated: associated)
    }

    static func event(
        _ type: String, plain: Data, id: String = "EV-1", key: String = apiKey, nonce: String = "fdasflkja484",
        associated: String? = nil
    ) -> Data {
        let kind = type.hasPrefix("REFUND") ? "refund" : "transaction"
        var resource = WeChatPayTestCertificates.sealed(plain, key, nonce: nonce, associated: associated ?? kind)
        resource["original_type"] = kind
        let fields: [String: Any] = [
            "id": id, "create_time": "2025-01-14T21:06:40+08:00", "resource_type": "encrypt-resource",
            "event_type": type, "summary": "支付成功", "resource": resource,
        ]
        return (try? JSONSerialization.data(withJSONObject: fields, options: .sortedKeys)) ?? Data()
    }

    static func notification(_ body: Data, _ headers: [(name: String, value: String)]) -> RawNotification {
        RawNotification(
            method: .post,
            headers: [(name: "content-type", value: "application/json")]
                + headers.map { (name: $0.name.lowercased(), value: $0.value) }, body: body)
    }
}

extension FakeWeChatPayServer.Order {
    var isPaid: Bool { ["SUCCESS", "REFUND"].contains(state) }

    var json: [String: Any] {
        var fields: [String: Any] = [
            "mchid": FakeWeChatPayServer.mchid, "appid": appid, "out_trade_no": number,
            "trade_state": state, "trade_state_desc": "文字", "promotion_detail": [Any](),
            "amount": ["total": total, "currency": "CNY"],
        ]
        if ["SUCCESS", "REFUND"].contains(state) {
            fields["transaction_id"] = transaction
            fields["trade_type"] = mode == "h5" ? "MWEB" : mode.uppercased()
            fields["bank_type"] = "OTHERS"
            fields["success_time"] = "2025-01-14T21:06:40+08:00"
            fields["payer"] = ["openid": "planted-openid-of-the-payer"]
            fields["amount"] = [
                "total": total, "payer_total": total, "currency": "CNY", "payer_currency": "CNY",
            ]
        }
        return fields
    }
}

extension FakeWeChatPayServer.Refund {
    /// Returns the refund in the form of the API's answers.
    func json(_ state: FakeWeChatPayServer.State) -> [String: Any] {
        let total = state.orders.first { $0.number == order }?.total ?? amount
        return [
            "refund_id": id, "out_refund_no": number, "out_trade_no": order, "transaction_id": "4200x",
            "channel": "ORIGINAL", "user_received_account": "零钱", "create_time": "2025-01-14T21:06:40+08:00",
            "status": status, "funds_account": "AVAILABLE",
            "amount": [
                "total": total, "refund": amount, "payer_total": total, "payer_refund": amount,
                "settlement_refund": amount, "settlement_total": total, "discount_refund": 0, "currency": "CNY",
            ],
        ]
    }

    /// Returns the refund in the form of a notification.
    func notice(total: Int64, mchid: String = FakeWeChatPayServer.mchid) -> [String: Any] {
        [
            "mchid": mchid, "out_trade_no": order, "transaction_id": "4200x", "out_refund_no": number,
            "refund_id": id, "refund_status": status, "success_time": "2025-01-14T21:06:40+08:00",
            "user_received_account": "招商银行信用卡0403",
            "amount": ["total": total, "refund": amount, "payer_total": total, "payer_refund": amount],
        ]
    }
}
