import TestSupport

/// The rounds of a run: for each engine parts, each with a database of its own, of some rounds of some faults.
struct Plan: Sendable {
    /// Some rounds of one fault.
    struct Step: Sendable {
        let fault: any Scenario
        let rounds: Int
        /// The number of the first round.
        var first = 1

        var name: String { type(of: fault).name }
    }

    /// The size of a plan: of a check of many other things, of a run of minutes, and of one of hours.
    enum Length: Sendable {
        case brief, short, long
    }

    /// The most rounds on one database: it grows with its rounds, every comparison reads all of it, and at each part's
    /// end the last leases are waited for.
    private static let partLength = (short: 200, long: 50)

    let seed: UInt64
    private let length: Length
    private let partLength: Int
    private let steps: [TestEngine: [Step]]

    /// - Parameters:
    ///   - only: the names of the faults; all where it is empty.
    ///   - rounds: the number of rounds of each fault, in place of the plan's own.
    ///   - lies: true where fsync makes nothing durable in power cuts.
    init(seed: UInt64, length: Length, engines: [TestEngine], only: Set<String>, rounds: Int?, lies: Bool = false) {
        self.seed = seed
        self.length = length
        partLength = length == .long ? Self.partLength.long : Self.partLength.short
        var steps: [TestEngine: [Step]] = [:]
        for engine in engines {
            steps[engine] = Self.all(engine, length, lies: lies).compactMap { fault, short, long in
                let name = type(of: fault).name
                guard type(of: fault).engines.contains(engine), only.isEmpty || only.contains(name) else { return nil }
                let planned =
                    switch length {
                    case .brief: fault.keepsRounds ? short : (short + 2) / 3
                    case .short: short
                    case .long: long
                    }
                return Step(fault: fault, rounds: rounds ?? planned)
            }
        }
        self.steps = steps
    }

    /// Every fault, with its rounds in a short and in a long run.
    private static func all(
        _ engine: TestEngine, _ length: Length = .short, lies: Bool = false
    ) -> [(any Scenario, short: Int, long: Int)] {
        let isLong = length == .long
        let renewalPoints = RenewalPointsScenario(length: length)
        return [
            (PointsScenario(distance: length == .brief ? 4 : 1), 3, 18),
            (renewalPoints, renewalPoints.rounds, renewalPoints.rounds),
            (RenewalsScenario(engine: engine, isLong: isLong), engine == .postgres ? 3 : 12, 12),
            (KillFault(), 25, 250), (PowerCutFault(lies: lies), 20, 1_000),
            (DiskErrorFault(), 6, 200), (SlowDiskFault(), 5, 50),
            (DatabaseStopFault(), 3, 100), (ConnectionCutFault(), 5, 60),
            (
                ZombieFault(engine: engine, isLong: isLong), engine == .postgres ? 2 : 1, engine == .postgres ? 10 : 5
            ),
            (ClockFault(), 1, 10), (DiskFullFault(), 2, 10),
        ]
    }

    static var names: [String] { all(.sqlite).map { type(of: $0.0).name } }

    /// An engine's parts in lanes that run at the same time; the parts of one lane run one after another.
    ///
    /// Most of a short run is waiting for leases, so that steps with a database of their own run beside the rest. A
    /// long run has one lane, because its services must be back in time. So does PostgreSQL: all databases share one
    /// server, which the faults stop.
    func lanes(_ engine: TestEngine) -> [[[Step]]] {
        Dictionary(grouping: parts(engine)) { part in
            guard let step = part.first, length != .long, engine == .sqlite, isAlone(step, engine) else { return "" }
            return step.fault.movesClock ? RenewalsScenario.name : step.name
        }.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Returns whether a step has a database of its own.
    ///
    /// A full disk needs a disk of its own, and renewals move the clock of their database. Outside of a long run the many
    /// kills of the points run beside the others, because one after another would take too long.
    private func isAlone(_ step: Step?, _ engine: TestEngine) -> Bool {
        guard let fault = step?.fault else { return false }
        return fault.movesClock
            || (engine == .sqlite && (fault is DiskFullFault || (fault is PointsScenario && length != .long)))
    }

    /// The steps of an engine in parts: several short ones share a database, a long one has several.
    private func parts(_ engine: TestEngine) -> [[Step]] {
        var parts: [[Step]] = []
        var length = 0
        for step in steps[engine] ?? [] {
            // Each life of a subscription has the whole time for which its clock can be moved.
            let partLength = step.fault is RenewalPointsScenario ? 1 : partLength
            var first = 1
            while first <= step.rounds {
                if parts.isEmpty || length >= partLength || isAlone(step, engine)
                    || isAlone(parts.last?.last, engine)
                {
                    parts.append([])
                    length = 0
                }
                let count = min(step.rounds - first + 1, partLength - length)
                parts[parts.count - 1].append(Step(fault: step.fault, rounds: count, first: first))
                first += count
                length += count
            }
        }
        return parts
    }
}
