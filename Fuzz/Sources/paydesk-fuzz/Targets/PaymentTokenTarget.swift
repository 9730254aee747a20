import AppleTrust
import Foundation

/// The whole token is hostile: nothing may be believed but what was signed here.
struct PaymentTokenTarget: FuzzTarget {
    let name = "apple-pay-token"

    var seeds: [[UInt8]] {
        let sound = PaymentSamples.parts.map { PaymentSamples.token($0, signature: PaymentSamples.signature($0)) }
        let inner = Self.paymentData(sound[0])
        var swapped = PaymentSamples.parts[0]
        swapped.transactionID[0] ^= 1
        let texts =
            sound + [
                inner, "{\"paymentData\":\"\(Data(inner.utf8).base64EncodedString())\"}",
                "{\"paymentData\":\"\(inner.replacing("\"", with: "\\\""))\"}",
                PaymentSamples.token(swapped, signature: PaymentSamples.signature(PaymentSamples.parts[0])),
                PaymentSamples.token(PaymentSamples.parts[0], signature: [0x30, 0x80, 0, 0]),
                "{\"paymentData\":{},\"transactionIdentifier\":\"Simulated Identifier\"}",
                "{\"paymentData\":\"\"}", "{}",
            ]
        return texts.map { Array($0.utf8) }
    }

    var words: [String] {
        [
            "\"paymentData\":", "\"header\":", "\"signature\":", "\"data\":", "\"version\":", "\"EC_v1\"",
            "\"RSA_v1\"", "\"ephemeralPublicKey\":", "\"wrappedKey\":", "\"publicKeyHash\":", "\"transactionId\":",
            "\"applicationData\":", "\"transactionIdentifier\":", "null", "{}", "\\u0041", "\\/",
        ]
    }

    func run(_ input: [UInt8]) -> Bool {
        let verdict = PaymentVerdict(input, isExplained: input.reduce(0, &+).isMultiple(of: 8))
        guard let token = verdict.token else { return false }
        Harness.expect(
            Self.parts(of: token.token.paymentData).map(PaymentSamples.parts.contains) == true,
            "accepted, and nobody signed it")
        return true
    }

    private static func paymentData(_ token: String) -> String {
        Harness.minted { String(decoding: try ApplePayToken(Array(token.utf8)).paymentData, as: UTF8.self) }
    }

    /// Returns the signed parts of a token, read without AppleTrust.
    private static func parts(of json: [UInt8]) -> PaymentSamples.Parts? {
        guard let object = try? JSONSerialization.jsonObject(with: Data(json)) as? [String: Any],
            let header = object["header"] as? [String: Any], let data = bytes(object["data"]),
            let id = hex(header["transactionId"])
        else { return nil }
        let isEC = object["version"] as? String == "EC_v1"
        guard let key = bytes(header[isEC ? "ephemeralPublicKey" : "wrappedKey"]) else { return nil }
        return PaymentSamples.Parts(
            isEC: isEC, key: key, data: data, transactionID: id, applicationData: hex(header["applicationData"]))
    }

    private static func bytes(_ value: Any?) -> [UInt8]? {
        (value as? String).flatMap { Data(base64Encoded: $0) }.map(Array.init)
    }

    private static func hex(_ value: Any?) -> [UInt8]? {
        guard let text = value as? String else { return nil }
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
