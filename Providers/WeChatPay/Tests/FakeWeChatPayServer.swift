import Crypto
import Domain
import Foundation
import ProviderKit
import Synchronization
import _CryptoExtras

/// A fake of WeChat Pay's API v3 by its documentation: stateful, strict, with a signature on every answer.
///
/// It reads requests with its own code, so that it finds mistakes in the provider's signatures and bodies.
final class FakeWeChatPayServer: Sendable {
    static let mchid = "1900000001"
    static let appid = "wx00planted0app01"
    /// A mobile app, a service account and a mini program of the merchant's.
    static let mobile = "wx00planted0mobile"
    static let office = "wx00planted0office"
    static let mini = "wx00planted0mini0"
    /// The app of each payer's openid; the last is the conformance kit's.
    static let openIDs = [
        "oPayer0of0the0office": office, "oPayer0of0the0mini": mini, "oConformance0of0the0kit": office,
    ]
    static let apiKey = "planted0APIv3key0of0the0standin0"

    struct Order {
        let number: String
        let total: Int64
        let body: Data
        let mode: String
        var appid = FakeWeChatPayServer.appid
        var state = "NOTPAY"
        var transaction: String { "4200\(number.suffix(10))" }
    }

    struct Refund {
        let number: String
        let order: String
        let amount: Int64
        var status = "PROCESSING"
        var id: String { "5030\(number.suffix(10))" }
    }

    struct State {
        var orders: [Order] = []
        var refunds: [Refund] = []
        /// The next answers to URLs that contain this text, instead of its own.
        var scripted: [(part: String, reply: IncomingReply)] = []
        var seal = WeChatPaySeal.platform
        /// The certificates that it serves.
        var certificates = [WeChatPayTestCertificates.platform]
        var codes = 0
        var fetches = 0
    }

    let state = Mutex(State())

    func script(_ part: String, _ reply: IncomingReply) { state.withLock { $0.scripted.append((part, reply)) } }

    /// Makes an answer with the usual signature.
    func signed(_ status: Int, _ object: Any?, now: Int64) -> IncomingReply {
        Self.signed(status, object, state.withLock { $0.seal }, now)
    }

    static func signed(_ status: Int, _ object: Any?, _ seal: WeChatPaySeal, _ now: Int64) -> IncomingReply {
        let body = object.flatMap { try? JSONSerialization.data(withJSONObject: $0, options: .sortedKeys) } ?? Data()
        return IncomingReply(
            status: status,
            headers: [
                (name: "Content-Type", value: "application/json; charset=utf-8"),
                (name: "Request-ID", value: "08F78BB5AF0610D3-0"),
            ] + seal.headers(body, at: now), body: body)
    }

    static func no(_ status: Int, _ code: String) -> (Int, Any?) { (status, ["code": code, "message": "文字"]) }

    /// Answers like WeChat Pay; `now` is in seconds since 1970.
    func answer(_ request: OutgoingRequest, now: Int64) -> IncomingReply {
        let scripted: IncomingReply? = state.withLock { state in
            guard let index = state.scripted.firstIndex(where: { request.url.contains($0.part) }) else { return nil }
            return state.scripted.remove(at: index).reply
        }
        if let scripted { return scripted }
        let call = FakeWeChatPayServerCall(request)
        guard call.isGenuine(at: now) else {
            // This answer alone is not signed, because its caller is unknown.
            let body = Data(#"{"code":"SIGN_ERROR","message":"错误的签名"}"#.utf8)
            return IncomingReply(
                status: 401, headers: [(name: "Content-Type", value: "application/json")], body: body)
        }
        return state.withLock { state in
            let (status, object) = Self.route(call, &state)
            return Self.signed(status, object, state.seal, now)
        }
    }

    private static func route(_ call: FakeWeChatPayServerCall, _ state: inout State) -> (Int, Any?) {
        let path = call.path
        switch (call.method, path.count) {
        case ("GET", 1) where path == ["certificates"]: return certificates(&state)
        case ("POST", 3) where path.starts(with: ["pay", "transactions"]): return make(path[2], call, &state)
        case ("GET", 4) where path.starts(with: ["pay", "transactions", "out-trade-no"]):
            guard call.query == "mchid=\(mchid)" else { return no(400, "PARAM_ERROR") }
            return state.orders.first { $0.number == path[3] }.map { (200, $0.json) } ?? no(404, "ORDER_NOT_EXIST")
        case ("GET", 4) where path.starts(with: ["pay", "transactions", "id"]):
            guard call.query == "mchid=\(mchid)" else { return no(400, "PARAM_ERROR") }
            return state.orders.first { $0.transaction == path[3] && $0.isPaid }.map { (200, $0.json) }
                ?? no(404, "ORDER_NOT_EXIST")
        case ("POST", 5) where path.starts(with: ["pay", "transactions", "out-trade-no"]) && path[4] == "close":
            return close(path[3], call, &state)
        case ("POST", 3) where path == ["refund", "domestic", "refunds"]: return refund(call, &state)
        case ("GET", 4) where path.starts(with: ["refund", "domestic", "refunds"]):
            return state.refunds.first { $0.number == path[3] }.map { (200, $0.json(state)) }
                ?? no(404, "RESOURCE_NOT_EXISTS")
        default: return no(404, "NOT_FOUND")
        }
    }

    private static func certificates(_ state: inout State) -> (Int, Any?) {
        state.fetches += 1
        guard !state.certificates.isEmpty else { return no(404, "RESOURCE_NOT_EXISTS") }
        let items = state.certificates.map { pair -> [String: Any] in
            [
                "serial_no": pair.serial, "effective_time": "2020-01-01T00:00:00+08:00",
                "expire_time": "2050-01-01T00:00:00+08:00",
                "encrypt_certificate": WeChatPayTestCertificates.sealed(
                    Data(pair.pem.utf8), apiKey, associated: "certificate"),
            ]
        }
        return (200, ["data": items])
    }
}

/// A parsed request.
struct FakeWeChatPayServerCall {
    let method: String
    let target: String
    /// The path below `/v3/`.
    let path: [String]
    let query: String
    let body: Data
    private let headers: [(name: String, value: String)]

    init(_ request: OutgoingRequest) {
        method = request.method
        headers = request.headers
        body = request.body
        let afterScheme = request.url.split(separator: "//", maxSplits: 1).last ?? ""
        target = afterScheme.firstIndex(of: "/").map { String(afterScheme[$0...]) } ?? "/"
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        query = parts.count > 1 ? parts[1] : ""
        path = parts[0].split(separator: "/").dropFirst().map(String.init)
    }

    var name: String { "\(method) \(target.prefix { $0 != "?" })" }
    var object: [String: Any] { (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:] }

    func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }

    /// Returns true where the merchant signed it within five minutes.
    func isGenuine(at now: Int64) -> Bool {
        guard target.hasPrefix("/v3/"), let text = header("authorization"), header("accept") != nil,
            header("user-agent") != nil, method == "GET" || header("content-type") == "application/json",
            text.hasPrefix("WECHATPAY2-SHA256-RSA2048 ")
        else { return false }
        var fields: [String: String] = [:]
        for field in text.dropFirst("WECHATPAY2-SHA256-RSA2048 ".count).components(separatedBy: "\",") {
            let sides = field.components(separatedBy: "=\"")
            if sides.count == 2 { fields[sides[0]] = sides[1].replacing("\"", with: "") }
        }
        guard fields.count == 5, fields["mchid"] == FakeWeChatPayServer.mchid,
            fields["serial_no"] == WeChatPayTestCertificates.merchant.serial,
            let time = fields["timestamp"].flatMap({ Int64($0) }),
            abs(now - time) < 300, let nonce = fields["nonce_str"], (1...32).contains(nonce.count),
            let signature = fields["signature"].flatMap({ Data(base64Encoded: $0) })
        else { return false }
        let message = [method, target, "\(time)", nonce, String(decoding: body, as: UTF8.self), ""]
            .joined(separator: "\n")
        return WeChatPayTestCertificates.merchant.key.publicKey.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: signature), for: SHA256.hash(data: Data(message.utf8)),
            padding: .insecurePKCS1v1_5)
    }
}
