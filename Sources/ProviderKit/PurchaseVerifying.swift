public import Domain
@_exported public import RefusalReasons

/// A provider that can explain signed evidence and the result of each check, for people and not for decisions.
public protocol EvidenceExplaining: PaymentProvider {
    /// Returns whether a text looks like evidence for this provider.
    func recognizes(_ text: String) -> Bool

    /// Explains a text and the result of each check; it accepts any text, and its answer is bounded.
    func explain(_ text: String) -> EvidenceExplanation
}

/// A provider that verifies a store's signed evidence as purchases, offline.
public protocol PurchaseVerifying: EvidenceExplaining {
    /// Verifies one piece of evidence.
    ///
    /// - Throws: ``PurchaseRefusal`` with the precise reason.
    func verify(_ evidence: PurchaseEvidence) throws(PurchaseRefusal) -> StorePurchase

    /// The rules for purchases outside of production.
    var testPurchases: TestPurchaseRules { get }
}

public enum PurchaseEvidence: Sendable {
    /// A JWS in compact serialization, as StoreKit 2 provides it.
    case signedTransaction(String)
    /// The simulator's unsigned receipt (JSON in base64), only where the Xcode environment is allowed.
    case simulatorReceipt(String)
}

/// The reason why evidence is refused.
public struct PurchaseRefusal: Error, Sendable, Equatable {
    public typealias Reason = SignedDataRefusalReason

    public let reason: Reason
    /// Details for the log, without any part of the payload.
    public let detail: String

    public init(_ reason: Reason, detail: String) {
        self.reason = reason
        self.detail = detail
    }
}

/// The users whose Sandbox and Xcode purchases give entitlements, and for how long (`docs/domain.md` section 5).
public struct TestPurchaseRules: Sendable, Equatable {
    public enum Entitled: Sendable, Equatable {
        case all, none
        /// Users by the app's own ids.
        case users(Set<String>)
    }

    public let entitled: Entitled
    /// The longest entitlement in hours; 0 for no limit.
    public let maxHours: Int64
    /// True where purchases of an App Store in a box entitle: in development.
    public let takesBox: Bool

    public init(entitled: Entitled, maxHours: Int64, takesBox: Bool = false) {
        self.entitled = entitled
        self.maxHours = maxHours
        self.takesBox = takesBox
    }

    /// Returns whether a purchase may entitle somebody at all.
    package func takes(_ purchase: StorePurchase) -> Bool { takesBox || !purchase.isFromBox }

    package func entitles(_ user: String) -> Bool {
        switch entitled {
        case .all: true
        case .none: false
        case .users(let users): users.contains(user)
        }
    }
}

/// The explanation of a piece of evidence, with the result of each check, for a person.
public struct EvidenceExplanation: Sendable, Equatable, Encodable {
    public struct Check: Sendable, Equatable, Encodable {
        public enum Outcome: String, Sendable, Encodable {
            case passed, failed
            case notReached = "not_reached"
        }

        public let name: String
        public let outcome: Outcome
        /// The reason why the check failed or was not reached; empty where it passed.
        public let why: String

        public init(name: String, outcome: Outcome, why: String) {
            self.name = name
            self.outcome = outcome
            self.why = why
        }
    }

    /// A name and a value to show.
    public struct Fact: Sendable, Equatable, Encodable {
        public let name: String
        public let value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The reason why the text is refused.
    public struct Refusal: Sendable, Equatable, Encodable {
        /// The name of a check.
        public let check: String
        public let why: String

        public init(check: String, why: String) {
            self.check = check
            self.why = why
        }
    }

    public let kind: String
    public let checks: [Check]
    public let facts: [Fact]
    /// The refusal; nil where the text is accepted.
    public let refusal: Refusal?

    /// - Parameter refusal: the provider's own refusal of this text; nil where it accepts it.
    public init(kind: String, checks: [Check], facts: [Fact], refusal: Refusal?) {
        self.kind = kind
        self.checks = checks
        self.facts = facts
        self.refusal = refusal
    }

    /// Makes an explanation of a text that is accepted where every check passes.
    public init(kind: String, checks: [Check], facts: [Fact]) {
        let failed = checks.first { $0.outcome == .failed } ?? checks.first { $0.outcome == .notReached }
        self.init(
            kind: kind, checks: checks, facts: facts, refusal: failed.map { Refusal(check: $0.name, why: $0.why) })
    }

    /// True where the text is accepted.
    public var verifies: Bool { refusal == nil }

    /// The verdict in one line: `accepted`, or `refused: <check>: <why>`.
    public var verdict: String { refusal.map { "refused: \($0.check): \($0.why)" } ?? "accepted" }
}
