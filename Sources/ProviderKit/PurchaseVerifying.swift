public import Domain

/// A provider that turns what a store signed into purchases, offline.
public protocol PurchaseVerifying: PaymentProvider {
    /// Verifies one piece of evidence.
    ///
    /// - Throws: ``PurchaseRefusal`` with the precise reason.
    func verify(_ evidence: PurchaseEvidence) throws(PurchaseRefusal) -> StorePurchase

    /// What purchases outside production are worth.
    var testPurchases: TestPurchaseRules { get }
}

public enum PurchaseEvidence: Sendable {
    /// A JWS in compact form, as StoreKit 2 gives it.
    case signedTransaction(String)
    /// The simulator's unsigned receipt: base64 JSON. Only where the Xcode environment is allowed.
    case simulatorReceipt(String)
}

/// Why evidence is refused; the raw values are the reasons of `api.md` section 2.
public struct PurchaseRefusal: Error, Sendable, Equatable {
    public enum Reason: String, Sendable, CaseIterable {
        case malformed
        case unsupportedAlgorithm = "unsupported_algorithm"
        case untrustedChain = "untrusted_chain"
        case wrongPurpose = "wrong_purpose"
        case certificateExpired = "certificate_expired"
        case badSignature = "bad_signature"
        case wrongApp = "wrong_app"
        case wrongEnvironment = "wrong_environment"
    }

    public let reason: Reason
    /// Finer words for the log, never a part of the payload.
    public let detail: String

    public init(_ reason: Reason, detail: String) {
        self.reason = reason
        self.detail = detail
    }
}

/// Who gains by Sandbox and Xcode purchases, and for how long (`domain.md` section 5).
public struct TestPurchaseRules: Sendable, Equatable {
    public enum Entitled: Sendable, Equatable {
        case all, none
        /// The app's own ids of these users.
        case users(Set<String>)
    }

    public let entitled: Entitled
    /// 0 = no bound.
    public let maxHours: Int64

    public init(entitled: Entitled, maxHours: Int64) {
        self.entitled = entitled
        self.maxHours = maxHours
    }

    package func entitles(_ user: String) -> Bool {
        switch entitled {
        case .all: true
        case .none: false
        case .users(let users): users.contains(user)
        }
    }
}
