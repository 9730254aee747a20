/// The reason why a payment token was not accepted.
///
/// `reason` is for a caller and safe to show; `detail` is for a log and holds nothing of the token's data, neither
/// encrypted nor decrypted.
public struct ApplePayRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// The closed set of reasons; the raw values are those of the HTTP contract.
    ///
    /// Of several faults the first in this order is named: `simulatorToken` and the faults of form, then chain,
    /// purpose, signature, time, application data, transaction identifier; then, at decryption, the key and the
    /// content.
    public enum Reason: String, CaseIterable, Sendable {
        /// No payment token, or one whose fields or signature are not built as Apple specifies.
        case malformed
        /// Neither EC_v1 nor RSA_v1.
        case unsupportedVersion = "unsupported_version"
        /// The certificates do not lead to a trusted root, or were not valid when the token was signed.
        case untrustedChain = "untrusted_chain"
        /// The chain is sound but lacks Apple's markers for payment tokens, or has them twice.
        case wrongPurpose = "wrong_purpose"
        /// The signature is not the leaf's over this token.
        case badSignature = "bad_signature"
        /// Signed too long ago, or in the future.
        case signingTimeOutOfWindow = "signing_time_out_of_window"
        /// Encrypted to a key that is not configured.
        case unknownMerchantKey = "unknown_merchant_key"
        /// The token is bound to other application data, or to none where some were asked for.
        case applicationDataMismatch = "application_data_mismatch"
        /// The identifier outside of the signature is not the signed one.
        case transactionIdentifierMismatch = "transaction_identifier_mismatch"
        /// The content cannot be decrypted, or the decrypted content is no payment.
        case decryptionFailed = "decryption_failed"
        /// The token has no payment data, like the Simulator's tokens.
        case simulatorToken = "simulator_token"
    }

    public let reason: Reason
    /// A finer cause for the log.
    public let detail: String
    /// The transaction id of a token whose only fault is its time, as 64 hexadecimal digits, by which a token that was
    /// accepted in time can be recognised.
    public let transactionID: String?

    public var description: String { "\(reason.rawValue): \(detail)" }

    init(_ reason: Reason, _ detail: String, transactionID: String? = nil) {
        self.reason = reason
        self.detail = SafeText.line(detail, limit: 1_000)
        self.transactionID = transactionID
    }

    static func malformed(_ detail: String) -> ApplePayRefusal { ApplePayRefusal(.malformed, detail) }

    /// Translates a refusal of a CMS message or a chain to one of a payment token.
    init(_ refusal: AppleRefusal) {
        let reason: Reason =
            switch refusal.reason {
            case .malformed, .wrongApp, .wrongEnvironment: .malformed
            case .untrustedChain, .certificateExpired: .untrustedChain
            case .wrongPurpose: .wrongPurpose
            case .badSignature, .unsupportedAlgorithm: .badSignature
            }
        self.init(reason, refusal.detail)
    }

    /// Runs a closure and translates its refusal of a message or a chain.
    static func translating<Value>(_ body: () throws(AppleRefusal) -> Value) throws(ApplePayRefusal) -> Value {
        do throws(AppleRefusal) {
            return try body()
        } catch {
            throw ApplePayRefusal(error)
        }
    }
}
