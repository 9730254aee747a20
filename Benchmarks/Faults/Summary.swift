import Foundation
import TestSupport

/// What the rounds of one engine and one fault come to.
struct Tally: Sendable {
    let engine: TestEngine
    let fault: String
    var rounds = 0
    var requests = 0
    var acknowledged = 0
    var recoveries: [Duration] = []
    var notes: Notes = [:]
    var violations: [String] = []

    mutating func add(_ other: Tally) {
        rounds += other.rounds
        requests += other.requests
        acknowledged += other.acknowledged
        recoveries += other.recoveries
        notes.merge(other.notes, uniquingKeysWith: +)
        violations += other.violations
    }

    /// How often the service was not back in time.
    var late: Int { recoveries.count { $0 > Self.service } }

    /// The line of the table at the end.
    var line: String {
        let sorted = recoveries.sorted()
        let recovery =
            sorted.isEmpty ? "-" : "\(Self.text(sorted[sorted.count / 2])) / \(Self.text(sorted[sorted.count - 1]))"
        let notes = (notes.merging(late > 0 ? ["back after more than 2 s": late] : [:]) { $1 })
            .sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        return "| \(engine) | \(fault) | \(rounds) | \(acknowledged) | \(recovery) | \(violations.count) | \(notes) |"
    }

    static let header = """
        | engine | fault | rounds | acknowledged | back after (median / max) | violations | |
        |---|---|---|---|---|---|---|
        """

    /// A service is to be back within this time.
    private static let service = Duration.seconds(2)

    private static func text(_ duration: Duration) -> String {
        duration.formatted(.units(allowed: [.milliseconds], width: .narrow))
    }
}

/// All that ran so far, a row for each engine and fault.
struct Summary: Sendable {
    private(set) var rows: [Tally] = []

    var isClean: Bool { rows.allSatisfy(\.violations.isEmpty) }
    /// True where the service was back in time after every fault.
    var isInTime: Bool { rows.allSatisfy { $0.late == 0 } }

    mutating func add(_ row: Tally) {
        if let index = rows.firstIndex(where: { $0.engine == row.engine && $0.fault == row.fault }) {
            rows[index].add(row)
        } else {
            rows.append(row)
        }
    }

    /// The violations come once more after the table: of a long output often only the end is kept.
    func show() {
        say(Tally.header)
        for row in rows { say(row.line) }
        for row in rows {
            for violation in row.violations.prefix(20) { say("VIOLATION \(row.engine) \(row.fault): \(violation)") }
        }
    }
}

/// Prints a line that is seen at once, also where the output is a file.
func say(_ text: String) {
    print(text)
    fflush(nil)
}
