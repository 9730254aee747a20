import Domain
import Foundation

/// The names, helps and icons of ways to pay; `Assets/sdk/methods.js` does the same in the browser.
struct MethodWords {
    let t: PageTexts

    /// Returns a way's own name: a brand's in the payer's language, else the account's display name.
    func name(_ method: MethodFacts) -> String {
        switch (method.type, method.kind) {
        case (.applePay, _): t["method_apple_pay"]
        case (.appleIAP, _): t["method_app_store"]
        case (_, "alipay"): t["method_alipay"]
        case (_, "wechat_pay"): t["method_wechat_pay"]
        case (_, "paypal"): t["method_paypal"]
        case (.stripe, "stripe"): t["method_card"]
        default: method.display_name.isEmpty ? method.account : method.display_name
        }
    }

    /// Returns the words of a list, in which every name stands once: a card's form, else the account, tells two apart.
    func words(_ methods: [MethodFacts]) -> [(name: String, help: String, icon: String)] {
        func twice(_ names: [String]) -> Set<String> {
            Set(Dictionary(grouping: names) { $0 }.filter { $0.value.count > 1 }.keys)
        }
        var words = methods.map { self.words($0) }
        let same = twice(words.map(\.name))
        for index in words.indices where same.contains(words[index].name) && methods[index].type == .stripe {
            words[index].name = t.fill("method_card_of", ["name": words[index].name])
        }
        let rest = twice(words.map(\.name))
        for index in words.indices where rest.contains(words[index].name) {
            words[index].name = t.fill(
                "between", ["first": words[index].name, "second": methods[index].account])
        }
        return words
    }

    func words(_ method: MethodFacts) -> (name: String, help: String, icon: String) {
        let name = name(method)
        let sandbox = method.kind == "sandbox" ? t["method_sandbox_help"] : nil
        switch method.type {
        case .none: return (t["method_none"], t["method_none_help"], "gift")
        case .applePay: return (name, t["method_apple_pay_help"], "phone")
        case .appleIAP: return (name, t["method_app_store_help"], "phone")
        case .stripe: return (name, sandbox ?? t["method_card_help"], "card")
        case .qr: return (t.fill("method_qr", ["name": name]), sandbox ?? t["method_qr_help"], "scan")
        case .url:
            let key = name.count > 24 ? "method_url_help_long" : "method_url_help"
            return (name, sandbox ?? t.fill(key, ["name": name]), method.kind == "epay" ? "bank" : "out")
        // No page offers what an app hands to a wallet's library.
        case .wechatJSAPI, .wechatApp, .alipayApp: return (name, t["method_wechat_help"], "phone")
        }
    }
}

/// The methods as a browser can use them.
package struct UsableMethods: Sendable {
    package let items: [MethodFacts]
    /// True where methods were left out because WeChat's browser cannot pay by them.
    package let isPartOf: Bool

    /// - Parameter agent: the text of `User-Agent`.
    package init(_ methods: [MethodFacts], agent: String) {
        let browser = PayerBrowser(agent: agent)
        let rest = methods.filter { ![.wechatJSAPI, .wechatApp, .alipayApp].contains($0.type) }
        if browser.isWeChat {
            let first = methods.filter { browser.paysByWeChat && $0.type == .wechatJSAPI }
            let others = rest.filter { $0.kind != "wechat_pay" }
            items = first + others
            isPartOf = first.isEmpty && others.count < rest.count
            return
        }
        func isLink(_ method: MethodFacts) -> Bool {
            browser.isAlipay && method.kind == "alipay" && method.type == .url
        }
        items = rest.filter(isLink) + rest.filter { !isLink($0) }
        isPartOf = false
    }
}

extension MethodFacts {
    /// Returns the address that opens a code's own app on the same phone; nil where there is none.
    func appAddress(of text: String) -> String? {
        switch kind {
        case "alipay":
            let unreserved = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-_.!~*'()"))
            let code = text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
            return "alipays://platformapi/startapp?saId=10000007&qrcode=\(code)"
        case "wechat_pay": return "weixin://"
        default: return text.hasPrefix("https://") || text.hasPrefix("http://") ? text : nil
        }
    }
}
