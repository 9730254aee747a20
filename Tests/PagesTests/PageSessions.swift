import Domain
import Foundation
import Testing

@testable import Pages

/// Sessions in every state, as the API answers them.
enum PageSessions {
    static let now = Timestamp(1_795_680_000)

    /// A state's name, the members of the session and, where it has one, the reason.
    static let states: [(name: String, session: String)] =
        [
            ("plans", #""state":"plans","skus":["vip_month","vip_year","day_pass"],"chosen":null"#),
            ("methods", #""state":"methods""#),
            (
                "methods retry",
                #""state":"methods","order":\#(order(status: "open", action: "retry", payment: "failed"))"#
            ),
            ("methods cancelled", #""state":"methods","order":\#(order(action: "retry", payment: "cancelled"))"#),
            (
                "qr",
                running("qr", #""checkout_url":"https://qr.example/t/1","qr_image_url":"https://pay.example/v1/x.svg""#)
            ),
            ("redirect", running("redirect", #""checkout_url":"https://paypal.example/?a=1&b=2""#, type: "url")),
            ("stripe", running("stripe", #""stripe":{"publishable_key":"pk_test_x","client_secret":"x"}"#)),
            ("stripe sandbox", running("stripe", #""stripe":{"publishable_key":"pk_sandbox_x","client_secret":"x"}"#)),
            ("apple_pay", running("apple_pay", #""x":1"#)),
            ("apple_iap", running("apple_iap", #""product_ids":["com.example.vip.month"]"#)),
            ("wechat_jsapi", running("wechat_jsapi", #""wechat_jsapi":{}"#)),
            ("checking", #""state":"checking","order":\#(order(action: "wait", payment: "unknown"))"#),
            (
                "paid",
                #""state":"paid","order":\#(paid),"granted":{"expires_at":1798272000,"perpetual":false,"units":{}}"#
            ),
            (
                "paid for good",
                #""state":"paid","order":\#(paid),"granted":{"expires_at":null,"perpetual":true,"units":{}}"#
            ),
            ("owned", #""state":"owned""#),
        ]
        + ["cancelled", "expired", "trial_used"].map {
            ("closed \($0)", #""state":"closed","reason":"\#($0)","order":\#(order(status: "closed"))"#)
        }
        + ["currency", "platform", "once", "no_account", "in_wechat"].map {
            ("unavailable \($0)", #""state":"unavailable","reason":"\#($0)""#)
        }
        + [
            "amount_mismatch", "dispute_open", "dispute_lost", "duplicate_payment", "duplicate_ownership",
            "late_payment", "held", "refunded", "partially_refunded",
        ].map { ("attention \($0)", #""state":"attention","reason":"\#($0)","order":\#(paid)"#) }

    static let paid = order(status: "paid", action: "none", payment: "succeeded")

    static func order(status: String = "open", action: String = "pay", payment: String = "pending") -> String {
        let failure = payment == "failed" ? #"{"reason":"declined","message":"The bank declined."}"# : "null"
        let paidAt = status == "paid" ? "1795679990" : "null"
        return #"""
            {"id":"ord_1","status":"\#(status)","next_action":"\#(action)","sku":"vip_month","quantity":1,"days":null,
            "environment":"Production","amount":{"value":3990,"currency":"CNY"},"charged":null,"refunded":null,
            "provider":"alipay_main","paid_at":\#(paidAt),"payments":[{"id":"pay_1","provider":"alipay_main",
            "status":"\#(payment)","failure":\#(failure)}]}
            """#
    }

    static func running(_ state: String, _ members: String, type: String? = nil) -> String {
        #"""
        "state":"\#(state)","order":\#(order()),"contract":{"type":"\#(type ?? state)","payment_id":"pay_1",
        "provider":"alipay_main","status":"pending","amount":{"value":3990,"currency":"CNY"},
        "expires_at":1795680872,\#(members)}
        """#
    }

    /// Makes the frame of a session's state.
    static func frame(_ members: String, _ locale: PageLocale, name: String = "VIP monthly") throws -> CashierFrame {
        let text = #"""
            {"id":"ses_1","quantity":1,"days":null,"currency":"CNY","return_url":"https://app.example/done?a=1&status=x#f",
            "cancel_url":null,"expires_at":1795681800,"terms":{},\#(members)}
            """#
        var json = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        if json["skus"] == nil {
            json["skus"] = ["vip_month"]
            json["chosen"] = ["sku": "vip_month"]
        }
        let data = try JSONSerialization.data(withJSONObject: json)
        let session = try JSONDecoder().decode(SessionFacts.self, from: data)
        var frame = CashierFrame(
            .cashier(try #require(session.state)), locale: locale, branding: try branding(), now: now)
        frame.session = session
        frame.reason = session.reason
        frame.own = CashierFrame.Own(token: "pds_token", csrf: "code")
        frame.products = try products(name)
        frame.methods = methods
        return frame
    }

    static func branding(_ name: String = "Aurora") throws -> BrandingFacts {
        try decode([
            "name": name, "support_url": "https://aurora.example/support", "merchant_lines": ["Aurora Ltd"],
            "test": false,
        ])
    }

    private static func decode<Value: Decodable>(_ json: Any) throws -> Value {
        try JSONDecoder().decode(Value.self, from: JSONSerialization.data(withJSONObject: json))
    }

    static func products(_ name: String) throws -> [ProductFacts] {
        func price(_ value: Int) -> [[String: Any]] { [["value": value, "currency": "CNY"]] }
        func product(_ sku: String, _ more: [String: Any]) -> [String: Any] {
            [
                "sku": sku, "name": name, "description": "Every book", "kind": "non_renewing", "duration_days": 30,
                "prices": price(3_990), "options": [Any](), "owned": false,
            ].merging(more) { $1 }
        }
        return try decode([
            product("vip_month", [:]), product("vip_year", ["owned": true, "duration_days": 365]),
            product(
                "day_pass",
                ["options": [["days": 7, "prices": price(900)], ["days": 90, "prices": price(6_900)]]]),
        ])
    }

    static let methods = [
        MethodFacts(account: "alipay_main", kind: "alipay", display_name: "Alipay", type: .qr),
        MethodFacts(account: "stripe_main", kind: "stripe", display_name: "Stripe", type: .stripe),
        MethodFacts(account: "paypal_main", kind: "paypal", display_name: "PayPal", type: .url),
    ]
}
