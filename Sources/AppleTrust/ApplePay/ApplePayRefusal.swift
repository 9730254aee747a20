public import RefusalReasons

/// The reason why a payment token was not accepted.
///
/// `reason` is for a caller and safe to show; `detail` is for a log and holds nothing of the token's data, neither
/// encrypted nor decrypted.
public struct ApplePayRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    public typealias Reason = PaymentTokenRefusalReason

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
