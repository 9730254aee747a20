import Foundation
import TestSupport

/// What a run of one engine comes to.
struct Summary {
    let engine: TestEngine
    var restarts: [Duration] = []
    private(set) var violations: [String] = []

    init(engine: TestEngine) { self.engine = engine }

    /// Notes what a check found, which is shown at once; every tenth round without violations is shown too.
    ///
    /// - Parameter round: nil is the check at the end, when every request is answered.
    mutating func add(_ round: Int?, _ found: [String], _ journal: Journal, _ errors: String) {
        violations += found
        if found.isEmpty && (round ?? 0) % 10 != 0 { return }
        let moment = round.map { "round \($0)" } ?? "at the end"
        say("\(engine) \(moment): \(journal.calls.count) calls, \(violations.count) violations")
        for line in found.prefix(20) { say("  VIOLATION \(line)") }
        if !found.isEmpty && !errors.isEmpty { say("  the server says: \(errors.suffix(2_000))") }
    }

    func show(_ journal: Journal) {
        let calls = journal.calls
        let expected = Expectation(calls)
        let attached = expected.purchases.values.count { !$0.attached.isEmpty }
        let paid = expected.endings.values.count { $0.mustBePaid }
        let refunded = expected.endings.values.count { !$0.refunds.isEmpty }
        let refusals = calls.count { $0.told == .ownedByAnother }
        let cancelled = expected.endings.values.count { $0.cancelled }
        let cut = calls.filter(\.wasCut)
        say(
            """
            \(engine): \(restarts.count) rounds of kill -9, \(calls.count) requests by clients
              acknowledged: \(attached) attaches (\(refusals) second claims refused), \(paid) payments, \
            \(refunded) refunds, \(cancelled) cancellations
              without an answer at the kill: \(cut.count), of these answered since: \(cut.count { $0.told != nil })
              restart to ready: median \(Self.text(restarts.sorted()[restarts.count / 2])), \
            max \(Self.text(restarts.max() ?? .zero))
              violations: \(violations.count)
            """)
        let others = journal.unsettled.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value))" }
        if !others.isEmpty { say("  told to come back: \(others.joined(separator: ", "))") }
    }

    private static func text(_ duration: Duration) -> String {
        duration.formatted(.units(allowed: [.milliseconds], width: .narrow))
    }
}

/// Prints a line that is seen at once, also where the output is a file.
func say(_ text: String) {
    print(text)
    fflush(nil)
}
