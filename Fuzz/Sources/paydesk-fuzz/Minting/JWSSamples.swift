import Crypto
import Foundation

/// Compact JWS (RFC 7515 section 7.1) out of bytes that need be neither header nor payload.
enum JWSSamples {
    /// The signing time of every seed, in milliseconds; all certificates are valid then.
    static let now: Int64 = 1_790_000_000_000

    static let appleHeader = header([Certificates.leaf, Certificates.intermediate, unread])
    static let xcodeHeader = header([Certificates.xcode])
    /// Stands where a certificate is counted and never read; short, because decoding it costs runs.
    static let unread: [UInt8] = [0]

    static func header(_ certificates: [[UInt8]]) -> [UInt8] {
        let x5c = certificates.map { "\"\(Data($0).base64EncodedString())\"" }.joined(separator: ",")
        return Array("{\"alg\":\"ES256\",\"x5c\":[\(x5c)]}".utf8)
    }

    static func signed(_ header: [UInt8], _ payload: [UInt8], by key: P256.Signing.PrivateKey) -> String {
        signed(base64URL(header), base64URL(payload), by: key)
    }

    /// The same of two segments as they stand in the text.
    static func signed(_ header: String, _ payload: String, by key: P256.Signing.PrivateKey) -> String {
        let input = "\(header).\(payload)"
        let signature = Harness.minted { try key.signature(for: Array(input.utf8)).rawRepresentation }
        return "\(input).\(base64URL(Array(signature)))"
    }

    /// For whoever does not check a signature.
    static func unsigned(_ header: [UInt8], _ payload: [UInt8]) -> String {
        "\(base64URL(header)).\(base64URL(payload)).AA"
    }

    /// Returns whether the holder of a key signed exactly this text, decided without AppleTrust.
    static func isSigned(_ text: String, by key: P256.Signing.PublicKey) -> Bool {
        guard let point = text.lastIndex(of: "."), let raw = bytes(text[text.index(after: point)...]),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: raw)
        else { return false }
        return key.isValidSignature(signature, for: Array(text[..<point].utf8))
    }

    static func base64URL(_ bytes: [UInt8]) -> String {
        var text = Array(Data(bytes).base64EncodedString().utf8)
        while text.last == UInt8(ascii: "=") { text.removeLast() }
        for index in text.indices {
            if text[index] == UInt8(ascii: "+") { text[index] = UInt8(ascii: "-") }
            if text[index] == UInt8(ascii: "/") { text[index] = UInt8(ascii: "_") }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func bytes(_ text: Substring) -> [UInt8]? {
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        return Data(base64Encoded: standard + padding).map(Array.init)
    }
}
