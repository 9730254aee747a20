import Crypto
import Foundation
import ProviderKit
import Synchronization

/// A plugin in memory with scripted answers, which it signs with its own code.
final class ScriptedPlugin: Sendable {
    static let secret = "whsec_" + Data(repeating: 0x11, count: 32).base64EncodedString()
    static let nextSecret = "whsec_" + Data(repeating: 0x22, count: 24).base64EncodedString()
    static let foreignSecret = "whsec_" + Data(repeating: 0x33, count: 32).base64EncodedString()

    /// An answer before it is signed.
    struct Said {
        var status = 200
        var body: [String: Any]
        var id: String
        var time: Int64
        var secrets: [String]
        var isSigned = true
        /// The whole answer, instead of the signed one.
        var raw: IncomingReply?

        subscript(_ object: String, _ member: String) -> Any? {
            get { (body[object] as? [String: Any])?[member] }
            set {
                var inner = body[object] as? [String: Any] ?? [:]
                inner[member] = newValue
                body[object] = inner
            }
        }
    }

    typealias Twist = @Sendable (inout Said) -> Void

    struct Asked: Sendable {
        let path: String
        let isGenuine: Bool
        let body: Data
    }

    private struct State {
        var twists: [String: Twist] = [:]
        var secrets = [ScriptedPlugin.secret]
        var asked: [Asked] = []
    }

    private let state = Mutex(State())
    /// False for a plugin that was written before mandates.
    private let hasMandates: Bool

    init(hasMandates: Bool = false) { self.hasMandates = hasMandates }

    /// The calls that arrived, with their paths.
    var asked: [Asked] { state.withLock { $0.asked } }

    /// Sets the secrets: the first signs, all verify.
    func use(secrets: [String]) { state.withLock { $0.secrets = secrets } }

    /// Changes the answers to a call from now on; nil restores the true ones.
    func twist(_ call: String, _ twist: Twist?) { state.withLock { $0.twists[call] = twist } }

    func answer(_ request: OutgoingRequest, now: Int64) -> IncomingReply {
        let headers = Dictionary(request.headers.map { ($0.name, $0.value) }) { first, _ in first }
        let call = request.url.replacing("https://plugin.example/v1/", with: "")
        let (twist, secrets) = state.withLock { ($0.twists[call], $0.secrets) }
        let id = headers["webhook-id"] ?? ""
        let isGenuine = secrets.contains {
            headers["webhook-signature"]
                == Self.signature(id, headers["webhook-timestamp"] ?? "", request.body, secret: $0)
        }
        state.withLock { $0.asked.append(Asked(path: call, isGenuine: isGenuine, body: request.body)) }
        guard isGenuine, let asked = try? JSONSerialization.jsonObject(with: request.body) as? [String: Any] else {
            return IncomingReply(status: 401)
        }
        var said = Said(body: truth(call, asked), id: "re_\(id)", time: now, secrets: [secrets[0]])
        twist?(&said)
        return said.raw ?? Self.reply(said)
    }

    /// Returns the true answer about a waiting payment, or a completed refund.
    private func truth(_ call: String, _ asked: [String: Any]) -> [String: Any] {
        let payment = asked["payment_id"] ?? ""
        switch call {
        case "manifest":
            let old: [String: Any] = [
                "protocol": 1, "display_name": "Scripted", "contract_types": ["url", "qr"],
                "currencies": ["CNY", "USD"], "cancel": "definite", "refunds": "partial", "notifications": true,
            ]
            return hasMandates ? old.merging(["mandates": true]) { $1 } : old
        case _ where call.hasPrefix("setups/") || call.hasPrefix("mandates/"):
            return Self.mandateTruth(call, asked)
        case "payments/open":
            return [
                "payment": [
                    "payment_id": payment, "status": "waiting", "amount": asked["amount"] ?? "", "reference": "P-1",
                ],
                "contract": ["type": "url", "checkout_url": "https://plugin.example/pay/1"],
            ]
        case "refunds/make", "refunds/query":
            return [
                "refund": [
                    "payment_id": payment, "refund_id": asked["refund_id"] ?? "", "status": "succeeded",
                    "amount": asked["amount"] ?? "", "reference": "R-1",
                ]
            ]
        default: return ["payment": ["payment_id": payment, "status": "waiting", "amount": asked["amount"] ?? ""]]
        }
    }

    /// Returns the true answer about a set-up that waits, and about a mandate whose charges succeed.
    private static func mandateTruth(_ call: String, _ asked: [String: Any]) -> [String: Any] {
        let setup: [String: Any] = [
            "setup_id": asked["setup_id"] ?? "", "status": call == "setups/cancel" ? "cancelled" : "waiting",
            "reference": "S-1",
        ]
        switch call {
        case "setups/open":
            return ["setup": setup, "contract": ["type": "url", "checkout_url": "https://plugin.example/pay/1"]]
        case "mandates/charge":
            return [
                "payment": [
                    "payment_id": asked["payment_id"] ?? "", "status": "succeeded", "amount": asked["amount"] ?? "",
                    "reference": "C-1",
                ]
            ]
        case "mandates/charges": return ["charges": [Any]()]
        case "mandates/verify", "mandates/revoke": return ["mandate": asked["mandate"] ?? ""]
        default: return ["setup": setup]
        }
    }

    private static func reply(_ said: Said) -> IncomingReply {
        let body = (try? JSONSerialization.data(withJSONObject: said.body, options: [.sortedKeys])) ?? Data()
        guard said.isSigned else { return IncomingReply(status: said.status, body: body) }
        return IncomingReply(
            status: said.status, headers: headers(said.id, said.time, body, secrets: said.secrets), body: body)
    }

    static func headers(
        _ id: String, _ time: Int64, _ body: Data, secrets: [String] = [secret]
    ) -> [(name: String, value: String)] {
        let signatures = secrets.map { signature(id, "\(time)", body, secret: $0) }.joined(separator: " ")
        return [
            (name: "webhook-id", value: id), (name: "webhook-timestamp", value: "\(time)"),
            (name: "webhook-signature", value: signatures),
        ]
    }

    static func signature(_ id: String, _ time: String, _ body: Data, secret: String) -> String {
        let key = SymmetricKey(data: Data(base64Encoded: String(secret.dropFirst(6))) ?? Data())
        let signed = Data("\(id).\(time).".utf8) + body
        return "v1," + Data(HMAC<SHA256>.authenticationCode(for: signed, using: key)).base64EncodedString()
    }

    /// Makes a notification of this plugin.
    static func notice(
        _ body: String, id: String = "evt_1", time: Int64, secrets: [String] = [secret]
    ) -> RawNotification {
        let bytes = Data(body.utf8)
        return RawNotification(method: .post, headers: headers(id, time, bytes, secrets: secrets), body: bytes)
    }
}
