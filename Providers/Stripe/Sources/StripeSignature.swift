import Crypto
import Domain
import FoundationEssentials
import ProviderKit

/// The header `Stripe-Signature: t=<unix>,v1=<hex HMAC-SHA256(secret, "<t>." + body)>[,v1=…]`
/// (docs.stripe.com/webhooks/signature).
///
/// Any `v1` with any of the secrets proves the body, because during a replacement both secrets sign; other schemes
/// prove nothing. Unlike Stripe's libraries this also refuses a time in the future.
struct StripeSignature: Sendable {
    static let header = "stripe-signature"
    /// The seconds by which a signature's time may differ from ours, in both directions.
    static let window: Int64 = 300
    private static let headerLimit = 8_192
    private static let codeLimit = 32

    private let keys: [SymmetricKey]

    init(secrets: [ProviderSecret<String>]) { keys = secrets.map { SymmetricKey(data: Data($0.value.utf8)) } }

    /// - Throws: `unproven` unless there is exactly one header with a valid signature and a recent time.
    func verify(_ notification: RawNotification, now: Timestamp) throws(ProviderError) {
        let values = notification.headers.filter { $0.name == Self.header }.map(\.value)
        guard values.count == 1, let (time, codes) = values.first.flatMap(Self.parse) else {
            throw .unproven(.signature)
        }
        guard (now.adding(seconds: -Self.window)...now.adding(seconds: Self.window)).contains(time) else {
            throw .unproven(.time)
        }
        let signed = Data("\(time.rawValue).".utf8) + notification.body
        let isProven = keys.contains { key in
            codes.contains { HMAC<SHA256>.isValidAuthenticationCode($0, authenticating: signed, using: key) }
        }
        guard isProven else { throw .unproven(.signature) }
    }

    /// Parses the first `t` and every readable `v1`, like Stripe's own libraries.
    ///
    /// - Returns: nil without a time, or for a `t` or `v1` without a value.
    private static func parse(_ value: String) -> (time: Timestamp, codes: [[UInt8]])? {
        guard value.utf8.count <= headerLimit else { return nil }
        var times: [Substring] = []
        var codes: [[UInt8]] = []
        for item in value.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = item.split(separator: "=", maxSplits: 2, omittingEmptySubsequences: false)
            guard ["t", "v1"].contains(parts[0]) else { continue }
            guard parts.count > 1 else { return nil }
            if parts[0] == "t" {
                times.append(parts[1])
            } else if let code = Hex.decoded(parts[1], count: SHA256.byteCount, .lower) {
                codes.append(code)
            }
        }
        guard codes.count <= codeLimit, let first = times.first, first.isDigits(1...15),
            let time = Int64(first)
        else { return nil }
        return (Timestamp(time), codes)
    }
}
