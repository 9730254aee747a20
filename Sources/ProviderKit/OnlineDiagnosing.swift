/// A provider that can test its account with the real service, for `paydesk doctor`.
public protocol OnlineDiagnosing: PaymentProvider {
    /// Tests everything that needs no payment; it may take up to a minute.
    func diagnose() async -> [Diagnosis]
}

/// The result of a test, with texts for an operator.
public struct Diagnosis: Sendable, Equatable {
    public enum Level: Sendable, Equatable {
        case good
        /// No fault: the function is not used, or the service cannot answer now.
        case notice
        /// A fault that has to be corrected.
        case fault
    }

    public let level: Level
    /// The tested subject, in a few words.
    public let subject: String
    /// The result, and the correction of a fault; never a secret.
    public let words: String

    public init(_ level: Level, _ subject: String, _ words: String) {
        self.level = level
        self.subject = subject
        self.words = words
    }
}
