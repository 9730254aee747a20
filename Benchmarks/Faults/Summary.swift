import Foundation
import TestSupport

/// The results of the rounds of one engine and one fault.
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

    /// The number of rounds after which the service was not back in time.
    var late: Int { recoveries.count { $0 > Self.service } }

    /// The row of the table at the end.
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

    /// The time within which a service is to be back.
    private static let service = Duration.seconds(2)

    private static func text(_ duration: Duration) -> String {
        duration.formatted(.units(allowed: [.milliseconds], width: .narrow))
    }
}

/// The results of all rounds so far, a row for each engine and fault.
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

    /// Prints the table and then the violations once more, because often only the end of a long output is kept.
    func show() {
        say(Tally.header)
        for row in rows { say(row.line) }
        for row in rows {
            for violation in row.violations.prefix(20) { say("VIOLATION \(row.engine) \(row.fault): \(violation)") }
        }
    }
}

/// Prints a line and flushes it, so that it is seen at once also where the output is a file.
func say(_ text: String) {
    print(text)
    fflush(nil)
}
