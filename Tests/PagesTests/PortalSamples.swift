import Domain
import Foundation
import Testing

@testable import Pages

/// Pages of the portal, as the API answers what they show.
enum PortalSamples {
    static let now = Timestamp(1_795_680_000)

    /// Each page with a session, by name.
    static let names = [
        "overview", "overview of nothing", "order", "order open", "order refunded", "order of a store", "sub active",
        "sub ended", "sub trial", "sub grace", "sub charging", "sub confirm", "sub retry", "sub suspended",
        "sub cancelled", "sub changed", "sub store", "plans", "cancel", "cancel now", "change", "card methods",
        "card failed", "card cancelled", "card pay", "card redirect", "card qr", "card stripe", "card sandbox",
        "card checking", "card paid", "card replaced", "card none",
    ]

    static func frame(_ name: String, _ locale: PageLocale, words: String = "VIP monthly") throws -> PortalFrame {
        var frame = PortalFrame(
            try page(name), locale: locale, branding: try PageSessions.branding(), now: now)
        frame.own = PortalFrame.Own(
            session: "ses_1", csrf: "code", returnURL: "https://app.example/account?a=1")
        frame.place = place(name)
        frame.names = ["vip": words, "vip_year": "VIP yearly", "walkie": "Walkie-talkie"]
        frame.accounts = PageSessions.methods
        return frame
    }

    static func place(_ name: String) -> String {
        switch name.split(separator: " ").first {
        case "order": "/orders/ord_1"
        case "overview": ""
        case "card": "/subscriptions/sub_1/card"
        default: "/subscriptions/sub_1"
        }
    }

    private static func page(_ name: String) throws -> PortalFrame.Page {
        let parts = name.split(separator: " ", maxSplits: 1).map(String.init)
        switch (parts[0], parts.count > 1 ? parts[1] : "") {
        case ("overview", let more): return try overview(isEmpty: more == "of nothing")
        case ("order", let more): return .order(try decode(order(more)))
        case ("sub", let more): return try subscription(more)
        case ("plans", _): return .subscription(try sub(), try plans(), .plans)
        case ("cancel", "now"):
            return .subscription(
                try sub(#""status":"in_grace_period","failed_at":1795500000,"expires_at":1795490000"#), [],
                .question(.cancel))
        case ("cancel", _): return .subscription(try sub(), [], .question(.cancel))
        case ("change", _): return .subscription(try sub(), try plans(), .question(.change(try plans()[1])))
        case (_, let stage): return .card(try sub(), try card(stage))
        }
    }

    // MARK: Facts

    static func decode<Value: Decodable>(_ text: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }

    /// Makes an object of JSON with further members over its own.
    private static func merged(_ text: String, _ more: String) throws -> String {
        let own = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let other = try #require(JSONSerialization.jsonObject(with: Data("{\(more)}".utf8)) as? [String: Any])
        let data = try JSONSerialization.data(withJSONObject: own.merging(other) { $1 })
        return String(decoding: data, as: UTF8.self)
    }

    static func sub(_ more: String = "") throws -> SubscriptionFacts {
        let text = #"""
            {"id":"sub_1","source":"paydesk","sku":"vip","status":"active","product_id":null,"will_renew":true,
            "expires_at":1798272000,"grace_expires_at":null,"environment":"Production","is_family_shared":false,
            "orders":["ord_0","ord_1"],"period":{"unit":"month","count":1},"trial":false,"next_charge_at":1798272000,
            "next_amount":{"value":3990,"currency":"CNY"},"cancel_at_period_end":false,"change_to":null,
            "price_change":null,"failed_at":null,"refusal":null,
            "payment_method":{"label":null,"brand":"visa","last4":"4242"},"ended_at":null,"end_reason":null}
            """#
        return try decode(try merged(text, more))
    }

    private static func subscription(_ name: String) throws -> PortalFrame.Page {
        let refused = #""failed_at":1795500000,"next_charge_at":1795900000,"expires_at":1795490000"#
        let more =
            switch name {
            case "ended": #""status":"expired","ended_at":1795000000,"will_renew":false,"next_charge_at":null"#
            case "trial": #""trial":true"#
            case "grace": #""status":"in_grace_period","grace_expires_at":1795900000,"refusal":"soft",\#(refused)"#
            case "charging": #""status":"in_grace_period","grace_expires_at":1795900000"#
            case "confirm":
                #""status":"in_grace_period","grace_expires_at":1795900000,"refusal":"action_required",\#(refused)"#
            case "retry": #""status":"in_billing_retry","refusal":"hard",\#(refused)"#
            case "suspended": #""status":"suspended","will_renew":false,"next_charge_at":null"#
            case "cancelled":
                #""will_renew":false,"cancel_at_period_end":true,"next_charge_at":null,"next_amount":null"#
            case "changed": #""change_to":"vip_year","price_change":null"#
            case "store": #""source":"app_store","status":"in_billing_retry","payment_method":null,"period":null"#
            default: #""price_change":{"amount":{"value":4990,"currency":"CNY"},"applies_at":1798272000}"#
            }
        return .subscription(try sub(more), name == "store" ? [] : try plans(), .facts)
    }

    static func plans() throws -> [PlanFacts] {
        try decode(
            #"""
            [{"sku":"vip","name":"VIP monthly","description":"","amount":{"value":3990,"currency":"CNY"},
              "period":{"unit":"month","count":1},"present":true,"next":true},
             {"sku":"vip_year","name":"VIP yearly","description":"All year","amount":{"value":39900,"currency":"CNY"},
              "period":{"unit":"year","count":1},"present":false,"next":false}]
            """#)
    }

    static func order(_ more: String) -> String {
        let (status, origin, refunds, returned) =
            switch more {
            case "open": ("open", "checkout", "[]", "null")
            case "refunded":
                (
                    "partially_refunded", "checkout",
                    #"[{"status":"succeeded","amount":{"value":1000,"currency":"CNY"},"created_at":1795680010},"#
                        + #"{"status":"failed","amount":{"value":7,"currency":"CNY"},"created_at":1795680010}]"#,
                    #"{"value":1000,"currency":"CNY"}"#
                )
            case "of a store": ("paid", "purchase", "[]", "null")
            default: ("paid", "checkout", "[]", "null")
            }
        let isPaid = status != "open"
        return #"""
            {"id":"ord_1","status":"\#(status)","next_action":"none","origin":"\#(origin)","sku":"walkie","quantity":2,
            "days":null,"environment":"Production","amount":{"value":3990,"currency":"CNY"},
            "charged":null,"refunded":\#(returned),"provider":"alipay_main","subscription_id":null,
            "created_at":1795679000,"paid_at":\#(isPaid ? "1795679990" : "null"),"refunds":\#(refunds),
            "payments":[{"id":"pay_1","provider":"alipay_main","status":"succeeded","failure":null}]}
            """#
    }

    private static func overview(isEmpty: Bool) throws -> PortalFrame.Page {
        func grant(_ id: Int, _ sku: String, _ status: String, _ end: String, renews: Bool = false) -> String {
            #"{"id":"grt_\#(id)","sku":"\#(sku)","status":"\#(status)","starts_at":1795679990,"expires_at":\#(end),"#
                + #""perpetual":\#(end == "null"),"will_renew":\#(renews)}"#
        }
        let statuses = [
            "active", "expired", "revoked", "suspended", "scheduled", "upgraded", "in_grace_period", "in_billing_retry",
        ]
        let grants =
            [grant(100, "walkie", "active", "null"), grant(101, "vip", "active", "1798272000", renews: true)]
            + statuses.enumerated().map { grant($0, "vip", $1, $1 == "expired" ? "1790000000" : "1798272000") }
        let subs = [try sub(), try sub(#""id":"sub_2","source":"app_store","payment_method":null,"period":null"#)]
        let orders: [OrderFacts] = try ["", "open", "refunded"].map { try decode(order($0)) }
        return .overview(
            OverviewFacts(
                entitlements: isEmpty ? [] : try decode("[\(grants.joined(separator: ","))]"),
                balances: isEmpty ? [:] : ["coins": 320, "spent": 0],
                testBalances: isEmpty ? [:] : ["coins": 20], subscriptions: isEmpty ? [] : subs,
                orders: isEmpty ? [] : orders, nextCursor: isEmpty ? nil : "ord_0", isLater: !isEmpty))
    }

    private static func card(_ name: String) throws -> CardFacts {
        func contract(_ type: String, _ more: String) -> String {
            #"{"type":"\#(type)","payment_id":null,"setup_id":"stp_1","setup":true,"provider":"box","status":"pending","#
                + #""amount":{"value":0,"currency":"CNY"},"expires_at":1795766400,\#(more)}"#
        }
        func stripe(_ key: String) -> String {
            contract("stripe", #""stripe":{"publishable_key":"\#(key)","client_secret":"seti_secret"}"#)
        }
        let methods = #"[{"account":"box","kind":"sandbox","display_name":"Sandbox","type":"url"}]"#
        let code = #""checkout_url":"https://qr.example/1","qr_image_url":"https://pay.example/x.svg""#
        let (stage, order, running): (String, Bool, String) =
            switch name {
            case "redirect": ("open", false, contract("url", #""checkout_url":"https://box.example/?a=1&b=2""#))
            case "qr": ("open", false, contract("qr", code))
            case "stripe": ("open", false, stripe("pk_test_x"))
            case "sandbox": ("open", false, stripe("pk_sandbox_x"))
            case "checking": ("checking", false, "null")
            case "paid": ("paid", true, "null")
            case "replaced": ("paid", false, "null")
            case "pay": ("methods", true, "null")
            default: ("methods", false, "null")
            }
        let failed = ["failed", "cancelled"].contains(name) ? #""\#(name)""# : "null"
        return try decode(
            #"""
            {"state":"\#(stage)","isRunning":true,"order_id":\#(order ? #""ord_2""# : "null"),
            "amount":\#(order ? #"{"value":3990,"currency":"CNY"}"# : "null"),"contract":\#(running),
            "failed":\#(failed),"failure":null,
            "methods":\#(name == "none" ? "[]" : methods)}
            """#)
    }
}
