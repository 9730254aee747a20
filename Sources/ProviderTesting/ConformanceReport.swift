/// The results of the conformance kit, check by check.
public struct ConformanceReport: Sendable, CustomStringConvertible {
    public enum Outcome: Sendable, Equatable {
        case passed
        case failed(reason: String)
        /// The check does not apply to a provider with this manifest.
        case notApplicable(why: String)
    }

    public struct Result: Sendable, Equatable {
        public let name: String
        public let outcome: Outcome

        public init(name: String, outcome: Outcome) {
            self.name = name
            self.outcome = outcome
        }
    }

    /// The provider's name, as the caller gave it.
    public let subject: String
    /// The results in the order of ``ProviderConformance/checkNames``, followed by those of the service alone, if there
    /// are any.
    public let results: [Result]

    public init(subject: String, results: [Result]) {
        self.subject = subject
        self.results = results
    }

    /// True where some checks passed and none failed.
    public var isGreen: Bool { failures.isEmpty && results.contains { $0.outcome == .passed } }

    public var failures: [Result] {
        results.filter { if case .failed = $0.outcome { true } else { false } }
    }

    /// The names of the checks for which there is nothing to check.
    public var notApplicable: [String] {
        results.filter { if case .notApplicable = $0.outcome { true } else { false } }.map(\.name)
    }

    public subscript(_ name: String) -> Outcome? { results.first { $0.name == name }?.outcome }

    /// A table for people with one line for each check.
    public var description: String {
        let width = results.map(\.name.count).max() ?? 0
        let lines = results.map { result in
            let name = result.name + String(repeating: " ", count: width - result.name.count)
            return switch result.outcome {
            case .passed: "  passed   \(name)".trimmedEnd
            case .failed(let reason): "  FAILED   \(name)  \(reason)"
            case .notApplicable(let why): "  n/a      \(name)  \(why)"
            }
        }
        let passed = results.count { $0.outcome == .passed }
        let head =
            "\(subject): \(isGreen ? "green" : "RED"), \(passed) of \(results.count) checks passed, "
            + "\(failures.count) failed"
        return ([head] + lines).joined(separator: "\n")
    }
}

extension String {
    fileprivate var trimmedEnd: String {
        String(self[..<(lastIndex { $0 != " " }.map { index(after: $0) } ?? startIndex)])
    }
}
