import Crypto
import Foundation

/// Standard Webhooks: the first secret signs, all verify, so that one can replace another.
struct Secrets: Sendable {
    static let window: Int64 = 300

    private let keys: [SymmetricKey]

    /// - Parameter text: `whsec_…` with commas between; nil for what is none.
    init?(_ text: String) {
        let texts = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        keys = texts.compactMap { text in
            guard text.hasPrefix("whsec_") else { return nil }
            return Data(base64Encoded: String(text.dropFirst(6))).map { SymmetricKey(data: $0) }
        }
        guard !keys.isEmpty, keys.count == texts.count else { return nil }
    }

    func headers(_ id: String, at now: Int64, _ body: Data) -> [String: String] {
        let code = HMAC<SHA256>.authenticationCode(for: Self.signed(id, "\(now)", body), using: keys[0])
        return [
            "content-type": "application/json", "webhook-id": id, "webhook-timestamp": "\(now)",
            "webhook-signature": "v1," + Data(code).base64EncodedString(),
        ]
    }

    func isGenuine(id: String, timestamp: String, signatures: String, _ body: Data, at now: Int64) -> Bool {
        guard let time = Int64(timestamp), (now - Self.window...now + Self.window).contains(time) else { return false }
        let signed = Self.signed(id, timestamp, body)
        let codes = signatures.split(separator: " ").prefix(16).compactMap { word in
            word.hasPrefix("v1,") ? Data(base64Encoded: String(word.dropFirst(3))) : nil
        }
        return keys.contains { key in
            codes.contains { HMAC<SHA256>.isValidAuthenticationCode($0, authenticating: signed, using: key) }
        }
    }

    private static func signed(_ id: String, _ timestamp: String, _ body: Data) -> Data {
        Data("\(id).\(timestamp).".utf8) + body
    }
}
