/// The reason why what a store signed is refused: a transaction, a notification or a receipt.
///
/// The raw values are those of the HTTP contract (`docs/api.md`).
public enum SignedDataRefusalReason: String, CaseIterable, Sendable {
    /// No strict compact JWS or JSON, no receipt, or a field that is missing or of the wrong type.
    case malformed
    /// The header's `alg` is not exactly `ES256`; a receipt is not signed by RSA over SHA-1 or SHA-256.
    case unsupportedAlgorithm = "unsupported_algorithm"
    /// The certificates do not lead to a trusted root by the rules of RFC 5280.
    case untrustedChain = "untrusted_chain"
    /// The chain is sound but lacks the store's marker for signing purchases.
    case wrongPurpose = "wrong_purpose"
    /// A certificate of the chain was not valid at the signing time: no longer, or not yet.
    case certificateExpired = "certificate_expired"
    /// The signature is not the leaf's over this header and payload, or over this receipt.
    case badSignature = "bad_signature"
    /// Signed for an app that is not configured.
    case wrongApp = "wrong_app"
    /// Signed in an environment that is not accepted.
    case wrongEnvironment = "wrong_environment"
}

/// The reason why a wallet's payment token is refused.
///
/// The raw values are those of the HTTP contract (`docs/api.md`). Of several faults the one is named that comes first in
/// this order: `simulatorToken` and the faults of form, then chain, purpose, signature, time, application data,
/// transaction identifier; then, at decryption, the key and the content.
public enum PaymentTokenRefusalReason: String, CaseIterable, Sendable {
    /// No payment token, or one whose fields or signature are not built as they have to be.
    case malformed
    /// Neither EC_v1 nor RSA_v1.
    case unsupportedVersion = "unsupported_version"
    /// The certificates do not lead to a trusted root, or were not valid when the token was signed.
    case untrustedChain = "untrusted_chain"
    /// The chain is sound but lacks the wallet's markers for payment tokens, or has them twice.
    case wrongPurpose = "wrong_purpose"
    /// The signature is not the leaf's over this token.
    case badSignature = "bad_signature"
    /// Signed too long ago, or in the future.
    case signingTimeOutOfWindow = "signing_time_out_of_window"
    /// Encrypted to a key that is not held.
    case unknownMerchantKey = "unknown_merchant_key"
    /// The token is bound to other application data, or to none where some were asked for.
    case applicationDataMismatch = "application_data_mismatch"
    /// The identifier outside of the signature is another one than the signed.
    case transactionIdentifierMismatch = "transaction_identifier_mismatch"
    /// The content cannot be decrypted, or is no payment once it is.
    case decryptionFailed = "decryption_failed"
    /// The token has no payment data, as those of the Simulator.
    case simulatorToken = "simulator_token"
}
