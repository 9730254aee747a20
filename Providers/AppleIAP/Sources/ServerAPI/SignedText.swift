package import AppleTrust
import Domain
package import FoundationEssentials
package import ProviderKit

/// A JWS from the API that is not verified yet.
///
/// Its text is only accessible to its verifiers: `AppleVerifier`, and the account's own `verify` and `receive`.
package struct SignedText: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    private let compact: String

    /// - Returns: nil for text that is not three parts of base64url, or longer than `AppleVerifier` reads.
    package init?(_ text: String) {
        guard text.utf8.count <= JWSLimits.text, text.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 2,
            text.utf8.allSatisfy(Self.isCompact)
        else { return nil }
        compact = text
    }

    /// - Parameter bundleID: the app of the API.
    package func transaction(
        by verifier: AppleVerifier, of bundleID: String
    ) throws(AppleRefusal) -> VerifiedTransaction {
        try verifier.transaction(compact, of: bundleID)
    }

    package func renewalInfo(by verifier: AppleVerifier) throws(AppleRefusal) -> VerifiedRenewalInfo {
        try verifier.renewalInfo(compact)
    }

    package func payload(by verifier: AppleVerifier) throws(AppleRefusal) -> VerifiedPayload {
        try verifier.payload(compact)
    }

    /// The signed transaction as evidence for the account's `verify`.
    package var evidence: PurchaseEvidence { .signedTransaction(compact) }

    /// The notification's body, as Apple would have sent it, for the account's `receive`.
    package var notificationBody: Data { Data("{\"signedPayload\":\"\(compact)\"}".utf8) }

    private static func isCompact(_ byte: UInt8) -> Bool {
        byte.isWord || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }

    package var description: String { "SignedText(\(compact.utf8.count) bytes)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension SignedText: Decodable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let text = SignedText(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no compact JWS")
        }
        self = text
    }
}
