import RefusalReasons

/// The results of the checks so far.
struct CheckList {
    private(set) var outcomes: [AppleCheck.Name: AppleCheck.Outcome] = [:]

    /// Runs a check and records its outcome; nil where it fails.
    @discardableResult
    mutating func run<Value>(_ name: AppleCheck.Name, _ body: () throws(AppleRefusal) -> Value) -> Value? {
        do throws(AppleRefusal) {
            let value = try body()
            outcomes[name] = .passed
            return value
        } catch {
            outcomes[name] = .failed(error)
            return nil
        }
    }

    mutating func note(_ name: AppleCheck.Name, _ outcome: AppleCheck.Outcome) { outcomes[name] = outcome }

    var hasFailure: Bool {
        outcomes.values.contains { if case .failed = $0 { true } else { false } }
    }

    /// Records the verifier's own refusal where none of the checks here failed.
    mutating func note(_ refusal: AppleRefusal?) {
        guard let refusal, !hasFailure else { return }
        note(refusal.check ?? AppleCheck.Name(refusal.reason), .failed(refusal))
    }

    /// The checks in this order, then any other that was recorded; a check without an outcome was not reached.
    func checks(_ names: [AppleCheck.Name]) -> [AppleCheck] {
        let others = AppleCheck.Name.allCases.filter { outcomes[$0] != nil && !names.contains($0) }
        return (names + others).map {
            AppleCheck(name: $0, outcome: outcomes[$0] ?? .notReached("an earlier check failed"))
        }
    }
}
