import Crypto
package import Domain
package import FoundationEssentials
import Store

/// A symmetric secret of the Standard Webhooks specification: `whsec_` and the base64 of its bytes.
package struct WebhookSecret: Sendable {
    private static let prefix = "whsec_"
    private static let length = 32

    private let bytes: Data

    package init(random: RandomSource) { bytes = Data(random.bytes(Self.length)) }

    private init(bytes: Data) { self.bytes = bytes }

    /// The text that is shown to the partner once.
    package var text: String { Self.prefix + bytes.base64EncodedString() }

    /// A short digest that distinguishes secrets without revealing them.
    var fingerprint: String {
        let digest = SHA256.hash(data: bytes).prefix(4)
        return "sha256:" + Hex.encoded(digest)
    }

    /// Returns the value of `webhook-signature` for one secret: HMAC-SHA256 over `id.timestamp.body`.
    func signature(id: String, timestamp: Int64, body: Data) -> String {
        var code = HMAC<SHA256>(key: SymmetricKey(data: bytes))
        code.update(data: Data("\(id).\(timestamp).".utf8))
        code.update(data: body)
        return "v1," + Data(code.finalize()).base64EncodedString()
    }

    /// Returns the headers of a message that all these secrets sign.
    package static func headers(
        _ secrets: [WebhookSecret], id: String, timestamp: Int64, body: Data
    ) -> [(name: String, value: String)] {
        let signatures = secrets.map { $0.signature(id: id, timestamp: timestamp, body: body) }
        return [
            (name: "content-type", value: "application/json"), (name: "webhook-id", value: id),
            (name: "webhook-timestamp", value: String(timestamp)),
            (name: "webhook-signature", value: signatures.joined(separator: " ")),
        ]
    }

    func sealed(for webhook: ID<Webhook>, by keyRing: KeyRing) throws(GatewayError) -> Data {
        do { return try keyRing.seal(bytes, context: Self.place(webhook)) } catch { throw .internalError }
    }

    static func open(
        _ sealed: Data, of webhook: ID<Webhook>, by keyRing: KeyRing
    ) throws(GatewayError) -> WebhookSecret {
        do {
            return WebhookSecret(bytes: try keyRing.open(sealed, context: place(webhook)))
        } catch {
            throw .internalError
        }
    }

    private static func place(_ webhook: ID<Webhook>) -> String { "webhooks.secret/\(webhook)" }
}
