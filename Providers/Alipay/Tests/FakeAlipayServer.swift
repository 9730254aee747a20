import Domain
import Foundation
import ProviderKit
import Synchronization
import TestSupport
import _CryptoExtras

/// A fake of Alipay's gateway by its documentation: it verifies requests and signs its answers.
///
/// It reads requests and builds the signed text with its own code, so that it finds the provider's mistakes.
final class FakeAlipayServer: Sendable {
    static let appID = "2021000000000001"
    static let sellerID = "2088000000000001"

    struct Trade {
        var status = "WAIT_BUYER_PAY"
        let amount: String
        var isPaid = false
        /// The refunds, each number once.
        var refunds: [(number: String, fen: Int)] = []
        var refunded: Int { refunds.reduce(0) { $0 + $1.fen } }
    }

    struct State {
        /// The codes and pages that payers can open, by number.
        var offers: [String: String] = [:]
        /// The trades whose code or page a payer has opened.
        var trades: [String: Trade] = [:]
        var notifyURLs: [String: String] = [:]
        /// The methods of the calls.
        var calls: [String] = []
        var forms: [[String: String]] = []
        /// The status in the answer about a known refund; nil leaves it out.
        var refundStatus: String? = "REFUND_SUCCESS"
    }

    let state = Mutex(State())
    /// The number of the certificate in certificate mode.
    let certificate: String?
    let key: _RSA.Signing.PublicKey

    init(certificate: String? = nil, key: _RSA.Signing.PublicKey = AlipayTestCertificates.application.publicKey) {
        self.certificate = certificate
        self.key = key
    }

    func answer(_ request: OutgoingRequest) -> IncomingReply {
        let form = Self.form(request.url.split(separator: "?", maxSplits: 1).dropFirst().first.map(String.init) ?? "")
            .merging(Self.form(String(decoding: request.body, as: UTF8.self))) { first, _ in first }
        let method = form["method"] ?? ""
        if let word = refusal(form) {
            // Alipay does not sign these.
            return reply(method, ["code": "40002", "msg": "Invalid Arguments", "sub_code": word], isSigned: false)
        }
        let content =
            (try? JSONSerialization.jsonObject(with: Data((form["biz_content"] ?? "").utf8))) as? [String: String]
            ?? [:]
        let node = state.withLock { state -> [String: String] in
            state.calls.append(method)
            state.forms.append(form)
            switch method {
            case "alipay.trade.precreate": return Self.precreate(content, form, &state)
            case "alipay.trade.query": return Self.query(content, state)
            case "alipay.trade.close": return Self.close(content, &state)
            case "alipay.trade.refund": return Self.refund(content, &state)
            case "alipay.trade.fastpay.refund.query": return Self.refundQuery(content, state)
            default: return ["code": "40004", "sub_code": "ACQ.INVALID_PARAMETER"]
            }
        }
        return reply(method, node.merging(["msg": "A/B"]) { first, _ in first })
    }

    /// Opens the address of a page like the payer's browser; returns nil where Alipay shows an error.
    func visit(_ address: String) -> String? {
        guard address.hasPrefix("https://openapi.alipay.com/gateway.do?") else { return nil }
        return open(
            String(address.split(separator: "?", maxSplits: 1)[1]), ["alipay.trade.page.pay", "alipay.trade.wap.pay"])
    }

    /// Takes an app's request like Alipay's library; returns nil where Alipay shows an error.
    func start(_ text: String) -> String? {
        let form = Self.form(text)
        guard form["return_url"] == nil, form["biz_content"]?.contains("quit_url") == false else { return nil }
        return open(text, ["alipay.trade.app.pay"])
    }

    private func open(_ text: String, _ methods: [String]) -> String? {
        let form = Self.form(text)
        guard refusal(form) == nil, methods.contains(form["method"] ?? ""),
            let content = try? JSONSerialization.jsonObject(with: Data((form["biz_content"] ?? "").utf8)),
            let fields = content as? [String: String], let number = fields["out_trade_no"],
            let amount = fields["total_amount"], fields["product_code"] != nil
        else { return nil }
        return state.withLock { state in
            state.offers[number] = amount
            return number
        }
    }

    /// Scans a code and acts like the payer; only a waiting trade changes.
    func act(_ status: String, _ number: String) -> Bool {
        state.withLock { state in
            guard let amount = state.offers[number] else { return false }
            var trade = state.trades[number] ?? Trade(amount: amount)
            guard trade.status == "WAIT_BUYER_PAY" else { return false }
            trade.status = status
            trade.isPaid = status == "TRADE_SUCCESS"
            state.trades[number] = trade
            return true
        }
    }

    private func refusal(_ form: [String: String]) -> String? {
        guard form["app_id"] == Self.appID else { return "isv.invalid-app-id" }
        guard form["sign_type"] == "RSA2", form["charset"] == "utf-8", form["version"] == "1.0",
            form["timestamp"]?.wholeMatch(of: /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/) != nil
        else { return "isv.invalid-parameter" }
        guard (form["app_cert_sn"] != nil) == (certificate != nil) else { return "isv.missing-app-cert-sn" }
        let text = form.filter { $0.key != "sign" && !$0.value.isEmpty }.sorted { $0.key < $1.key }
            .map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        return AlipayTestCertificates.verifies(text, form["sign"] ?? "", by: key) ? nil : "isv.invalid-signature"
    }

    static func form(_ text: String) -> [String: String] { FormText.fields(text) }

    func reply(_ method: String, _ node: [String: String], isSigned: Bool = true) -> IncomingReply {
        // Slashes are escaped, like Alipay's.
        let json = (try? JSONSerialization.data(withJSONObject: node)) ?? Data()
        return Self.reply(method, json, certificate: certificate, isSigned: isSigned)
    }

    static func reply(
        _ method: String, _ node: Data, certificate: String? = nil, isSigned: Bool = true,
        by key: _RSA.Signing.PrivateKey = AlipayTestCertificates.alipay
    ) -> IncomingReply {
        var text = #"{"\#(method.replacing(".", with: "_"))_response":\#(String(decoding: node, as: UTF8.self))"#
        if let certificate { text += #","alipay_cert_sn":"\#(certificate)""# }
        if isSigned { text += #","sign":"\#(AlipayTestCertificates.sign(node, by: key))""# }
        return IncomingReply(status: 200, body: Data("\(text)}".utf8))
    }
}

// The methods of the gateway.
extension FakeAlipayServer {
    static func fen(_ text: String?) -> Int {
        let parts = (text ?? "").split(separator: ".")
        guard parts.count == 2, parts[1].count == 2 else { return -1 }
        return (Int(parts[0]) ?? -1) * 100 + (Int(parts[1]) ?? -1)
    }

    static func yuan(_ fen: Int) -> String { String(format: "%d.%02d", fen / 100, fen % 100) }

    private static func no(_ word: String) -> [String: String] {
        ["code": "40004", "msg": "Business Failed", "sub_code": word, "sub_msg": "文/字"]
    }

    private static func precreate(
        _ content: [String: String], _ form: [String: String], _ state: inout State
    ) -> [String: String] {
        guard let number = content["out_trade_no"], let amount = content["total_amount"], fen(amount) > 0,
            let subject = content["subject"], !subject.isEmpty, !subject.contains(where: { "/=&".contains($0) })
        else { return no("ACQ.INVALID_PARAMETER") }
        if let trade = state.trades[number], trade.status != "WAIT_BUYER_PAY" {
            return no(trade.isPaid ? "ACQ.TRADE_HAS_SUCCESS" : "ACQ.TRADE_HAS_CLOSE")
        }
        guard state.offers[number] ?? amount == amount else { return no("ACQ.CONTEXT_INCONSISTENT") }
        state.offers[number] = amount
        state.notifyURLs[number] = form["notify_url"]
        return ["code": "10000", "out_trade_no": number, "qr_code": "https://qr.alipay.com/bax\(number.suffix(8))"]
    }

    private static func query(_ content: [String: String], _ state: State) -> [String: String] {
        guard let number = content["out_trade_no"], let trade = state.trades[number] else {
            return no("ACQ.TRADE_NOT_EXIST")
        }
        var node = [
            "code": "10000", "out_trade_no": number, "trade_no": "2026\(number.suffix(12))",
            "trade_status": trade.status, "total_amount": trade.amount, "buyer_logon_id": "pay***@example.com",
        ]
        if trade.isPaid { node["send_pay_date"] = "2026-11-21 10:00:00" }
        return node
    }

    private static func close(_ content: [String: String], _ state: inout State) -> [String: String] {
        guard let number = content["out_trade_no"], var trade = state.trades[number] else {
            return no("ACQ.TRADE_NOT_EXIST")
        }
        guard trade.status == "WAIT_BUYER_PAY" else { return no("ACQ.TRADE_STATUS_ERROR") }
        trade.status = "TRADE_CLOSED"
        state.trades[number] = trade
        return ["code": "10000", "out_trade_no": number]
    }

    private static func refund(_ content: [String: String], _ state: inout State) -> [String: String] {
        guard let number = content["out_trade_no"], var trade = state.trades[number] else {
            return no("ACQ.TRADE_NOT_EXIST")
        }
        guard trade.isPaid else { return no("ACQ.TRADE_STATUS_ERROR") }
        let request = content["out_request_no"] ?? number
        let amount = fen(content["refund_amount"])
        guard amount > 0 else { return no("ACQ.INVALID_PARAMETER") }
        let old = trade.refunds.first { $0.number == request }
        if let old, old.fen != amount { return no("ACQ.DISCORDANT_REPEAT_REQUEST") }
        if old == nil {
            guard trade.refunded + amount <= fen(trade.amount) else {
                return no("ACQ.REFUND_AMT_NOT_EQUAL_TOTAL")
            }
            trade.refunds.append((request, amount))
            if trade.refunded == fen(trade.amount) { trade.status = "TRADE_CLOSED" }
            state.trades[number] = trade
        }
        return [
            "code": "10000", "out_trade_no": number, "fund_change": old == nil ? "Y" : "N",
            "refund_fee": yuan(trade.refunded),
        ]
    }

    private static func refundQuery(_ content: [String: String], _ state: State) -> [String: String] {
        guard let number = content["out_trade_no"], let trade = state.trades[number] else {
            return no("ACQ.TRADE_NOT_EXIST")
        }
        let made = trade.refunds.first { $0.number == content["out_request_no"] }
        // Without such a refund Alipay answers with success and no fields.
        guard let made else { return ["code": "10000"] }
        var node = [
            "code": "10000", "out_trade_no": number, "out_request_no": made.number, "refund_amount": yuan(made.fen),
            "total_amount": trade.amount,
        ]
        node["refund_status"] = state.refundStatus
        return node
    }
}
