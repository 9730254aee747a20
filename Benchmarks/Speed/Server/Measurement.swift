/// The answers, the time and the CPU time of a load.
struct Measurement {
    let answers: Int
    let wallSeconds: Double
    let cpuSeconds: Double

    var perCPUSecond: Double { Double(answers) / max(cpuSeconds, 0.001) }
    var perSecond: Double { Double(answers) / max(wallSeconds, 0.001) }
}

extension Measurement {
    private static let turns = 3

    /// Measures several loads in turn, so that other processes disturb all of them alike.
    ///
    /// - Returns: the median of each load.
    static func inTurn(_ loads: [() async throws -> Measurement]) async throws -> [Measurement] {
        var all = loads.map { _ in [Measurement]() }
        for _ in 0..<turns {
            for (index, load) in loads.enumerated() { all[index].append(try await load()) }
        }
        return all.map { $0.sorted { $0.perCPUSecond < $1.perCPUSecond }[turns / 2] }
    }
}
