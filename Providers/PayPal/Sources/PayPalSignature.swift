import Crypto
import Domain
import FoundationEssentials
import ProviderKit
import _CryptoExtras

/// The signature of PayPal's notifications: SHA256withRSA over `transmission id|time|webhook id|CRC32 of the body`.
///
/// Source: developer.paypal.com/api/rest/webhooks/rest. A CRC32 is no cryptographic digest: with a genuine notification
/// anybody can make another body with the same one. So a notification proves that something happened, but not what:
/// PayPal is queried for that.
struct PayPalSignature: Sendable {
    /// The accepted age in seconds: PayPal repeats a notification for three days; six hours are added for clocks and
    /// queues.
    static let age: Int64 = 3 * 86_400 + 6 * 3_600
    /// The seconds by which a timestamp may be ahead of our clock.
    static let ahead: Int64 = 300

    let transmission: String
    let time: String
    let algorithm: String
    let certificate: String
    let signature: String
    private let bytes: Data

    /// - Throws: `unproven` unless each header is present once and well-formed, and its time is recent.
    init(_ notification: RawNotification, now: Timestamp) throws(ProviderError) {
        func value(_ name: String, _ limit: Int) throws(ProviderError) -> String {
            let values = notification.headers.filter { $0.name == name }.map(\.value)
            guard values.count == 1, (1...limit).contains(values[0].utf8.count),
                values[0].utf8.allSatisfy({ $0.isVisible && $0 != 0x22 && $0 != 0x5C })
            else { throw .unproven(.signature) }
            return values[0]
        }
        transmission = try value("paypal-transmission-id", 64)
        time = try value("paypal-transmission-time", 40)
        algorithm = try value("paypal-auth-algo", 32)
        certificate = try value("paypal-cert-url", 512)
        signature = try value("paypal-transmission-sig", 1_024)
        guard !transmission.contains("|"), algorithm == "SHA256withRSA", let bytes = Data(base64Encoded: signature),
            let sent = Self.seconds(time)
        else { throw .unproven(.signature) }
        guard (now.adding(seconds: -Self.age)...now.adding(seconds: Self.ahead)).contains(sent) else {
            throw .unproven(.time)
        }
        self.bytes = bytes
    }

    func isGood(_ body: Data, webhookID: String, by key: _RSA.Signing.PublicKey) -> Bool {
        let text = "\(transmission)|\(time)|\(webhookID)|\(CRC32.of(body))"
        return key.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: bytes), for: Data(text.utf8), padding: .insecurePKCS1v1_5)
    }

    /// Parses `2016-02-18T20:01:35Z`, with or without fractions of a second.
    static func seconds(_ text: String) -> Timestamp? {
        let whole = text.hasSuffix("Z") ? String(text.prefix { $0 != "." && $0 != "Z" }) + "Z" : text
        guard let date = try? Date(whole, strategy: .iso8601) else { return nil }
        return Timestamp(Int64(date.timeIntervalSince1970))
    }
}

/// The checksum of ISO 3309, as in zlib.
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~0 as UInt32) { sum, byte in table[Int((sum ^ UInt32(byte)) & 0xFF)] ^ (sum >> 8) }
    }
}

/// Verifies notifications, with PayPal's certificate or by a call to PayPal.
extension PayPalProvider {
    private struct Question: Decodable { let verification_status: String }

    func verify(_ notification: RawNotification) async throws(ProviderError) {
        let now = notification.receivedAt ?? context.time.now
        let signature = try PayPalSignature(notification, now: now)
        switch settings.verification {
        case .offline:
            let key = try await certificates.key(signature.certificate, at: now)
            guard signature.isGood(notification.body, webhookID: settings.webhookID, by: key) else {
                throw .unproven(.signature)
            }
        case .api:
            guard let body = question(signature, notification.body) else { throw .unproven(.malformed) }
            let answer: Question
            do throws(PayPalFailure) {
                answer = try await api.post("v1/notifications/verify-webhook-signature", body: body, key: nil)
            } catch {
                if case .refused(let refusal) = error, [400, 422].contains(refusal.status), refusal.name != nil {
                    throw .unproven(.signature)
                }
                throw .unavailable
            }
            guard answer.verification_status == "SUCCESS" else { throw .unproven(.signature) }
        }
    }

    /// Makes PayPal's request with the event's exact bytes, which PayPal compares; the event must be a complete JSON
    /// value.
    private func question(_ signature: PayPalSignature, _ event: Data) -> Data? {
        guard (try? JSONDecoder().decode(AnyValue.self, from: event)) != nil else { return nil }
        let fields = [
            ("auth_algo", signature.algorithm), ("cert_url", signature.certificate),
            ("transmission_id", signature.transmission), ("transmission_sig", signature.signature),
            ("transmission_time", signature.time), ("webhook_id", settings.webhookID),
        ]
        // No value has a character that JSON escapes.
        let head = fields.map { "\"\($0)\":\"\($1)\"" }.joined(separator: ",")
        return Data("{\(head),\"webhook_event\":".utf8) + event + Data("}".utf8)
    }

    /// Any JSON value.
    private struct AnyValue: Decodable {}
}
