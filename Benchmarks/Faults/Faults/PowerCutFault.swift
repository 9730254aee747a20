import TestSupport

/// Simulates a power failure: data that was not durable is lost, in any order and in part.
struct PowerCutFault: Fault {
    static let name = "power-cut"
    static let engines = [TestEngine.sqlite]
    /// Leases of interrupted work last longer than a round.
    let comparedEvery = 5

    /// True for a disk that reports data as durable when it is not, to test that this test notices.
    var lies = false

    func environment(_ place: Place, _ shim: Shim, node: Int) -> [String: String] {
        shim.begin(tracking: true, lying: lies)
        return shim.environment(files: place.databaseFile)
    }

    func strike(_ target: Target, _ dice: inout Dice, _ notes: inout Notes) async throws -> Aftermath {
        try await Task.sleep(for: .random(20...150, &dice))
        let armed = ContinuousClock.now
        target.shim.arm(
            .powerCut, at: .random(in: 1...400, using: &dice), of: [.write, .sync],
            seed: .random(in: 1...Int64.max, using: &dice))
        if await !target.servers[0].hasDied(within: .seconds(2)) {
            target.shim.arm(.powerCut, at: 1, of: [.write, .sync], seed: .random(in: 1...Int64.max, using: &dice))
        }
        try await target.servers[0].isKilled()
        notes["power cuts", default: 0] += 1
        notes["sectors lost", default: 0] += Int(target.shim.undone)
        return .dead(since: armed)
    }
}
