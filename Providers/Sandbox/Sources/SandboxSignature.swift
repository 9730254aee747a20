import Crypto
import Domain
import FoundationEssentials
import ProviderKit

/// The header `X-Sandbox-Signature: t=<unix>,v1=<hex HMAC-SHA256(secret, "<t>." + body)>`.
struct SandboxSignature: Sendable {
    static let header = "x-sandbox-signature"
    /// The seconds by which a notification's time may differ from ours, in both directions.
    static let window: Int64 = 300

    private let key: SymmetricKey

    init(secret: String) { key = SymmetricKey(data: Data(secret.utf8)) }

    /// Returns the header's value.
    func sign(_ body: Data, at time: Timestamp) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Self.signed(String(time.rawValue), body), using: key)
        return "t=\(time.rawValue),v1=\(Hex.encoded(code))"
    }

    /// - Throws: `unproven` unless there is exactly one header, well-formed, with a valid signature and a recent time.
    func verify(_ notification: RawNotification, now: Timestamp) throws(ProviderError) {
        let values = notification.headers.filter { $0.name == Self.header }.map(\.value)
        guard values.count == 1, let (stamp, code) = values.first.flatMap(Self.parse), let time = Int64(stamp) else {
            throw .unproven(.signature)
        }
        guard (now.adding(seconds: -Self.window)...now.adding(seconds: Self.window)).contains(Timestamp(time)) else {
            throw .unproven(.time)
        }
        let isProven = HMAC<SHA256>.isValidAuthenticationCode(
            code, authenticating: Self.signed(stamp, notification.body), using: key)
        guard isProven else { throw .unproven(.signature) }
    }

    /// Returns the random part of a `stripe` contract's client secret, which is always the same for a payment or a set-up.
    func clientSecret(_ id: String) -> String {
        // The text does not begin with a digit, so it can never be the signature of a notification.
        let code = HMAC<SHA256>.authenticationCode(for: Data("client_secret.\(id)".utf8), using: key)
        return Hex.encoded(code.prefix(16))
    }

    private static func signed(_ stamp: String, _ body: Data) -> Data { Data("\(stamp).".utf8) + body }

    /// Parses digits and 32 bytes of hexadecimal in this order; returns nil for anything else.
    private static func parse(_ value: String) -> (stamp: String, code: [UInt8])? {
        let parts = value.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].hasPrefix("t="), parts[1].hasPrefix("v1=") else { return nil }
        let stamp = parts[0].dropFirst(2)
        guard stamp.isDigits(1...15), let code = Hex.decoded(parts[1].dropFirst(3), count: SHA256.byteCount) else {
            return nil
        }
        return (String(stamp), code)
    }
}
