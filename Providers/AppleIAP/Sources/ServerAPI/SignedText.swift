package import AppleTrust
import Domain
package import FoundationEssentials
package import ProviderKit

/// A JWS that the API gave and that nobody has verified yet.
///
/// Its text leaves it only for those who verify it: `AppleVerifier`, the account's own `verify`, or its `receive`.
package struct SignedText: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    private let compact: String

    /// - Returns: nil for what is no three parts of base64url, or longer than `AppleVerifier` reads.
    package init?(_ text: String) {
        guard text.utf8.count <= JWSLimits.text, text.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 2,
            text.utf8.allSatisfy(Self.isCompact)
        else { return nil }
        compact = text
    }

    /// - Parameter bundleID: the app that the API was asked about.
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

    /// A signed transaction as the account's `verify` takes it.
    package var evidence: PurchaseEvidence { .signedTransaction(compact) }

    /// A notification as Apple would have sent it, for the account's `receive`.
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
