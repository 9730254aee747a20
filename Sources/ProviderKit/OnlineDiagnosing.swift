/// A provider that can try its account against the real service, for `paydesk doctor`.
public protocol OnlineDiagnosing: PaymentProvider {
    /// Tries everything that can be tried without moving money; it may take most of a minute.
    func diagnose() async -> [Diagnosis]
}

/// A thing that was tried, in words for an operator.
public struct Diagnosis: Sendable, Equatable {
    public enum Level: Sendable, Equatable {
        case good
        /// A finding without a fault: the function is not in use, or the service cannot tell now.
        case notice
        /// Something has to be mended.
        case fault
    }

    public let level: Level
    /// The subject of the check, in a few words.
    public let subject: String
    /// The result, and how to correct a fault; never a secret.
    public let words: String

    public init(_ level: Level, _ subject: String, _ words: String) {
        self.level = level
        self.subject = subject
        self.words = words
    }
}
