/// How checks ended, so far.
struct CheckList {
    private(set) var outcomes: [AppleCheck.Name: AppleCheck.Outcome] = [:]

    /// Runs a check and notes how it ends; nil where it fails.
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

    /// The checks in this order; one that nobody ran was not reached.
    func checks(_ names: [AppleCheck.Name]) -> [AppleCheck] {
        names.map { AppleCheck(name: $0, outcome: outcomes[$0] ?? .notReached("an earlier check failed")) }
    }
}
