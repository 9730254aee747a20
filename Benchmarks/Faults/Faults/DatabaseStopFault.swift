import TestSupport

/// Stops PostgreSQL as in a crash, and starts it again a moment later.
struct DatabaseStopFault: Fault {
    static let name = "database-stop"
    static let engines = [TestEngine.postgres]
    /// Leases of interrupted work last longer than a round.
    let comparedEvery = 5

    func strike(_ target: Target, _ dice: inout Dice, _ notes: inout Notes) async throws -> Aftermath {
        try await Task.sleep(for: .random(100...800, &dice))
        let cluster = try PostgresCluster.running()
        try cluster.stop()
        try await Task.sleep(for: .random(0...1_000, &dice))
        try cluster.startAgain()
        let started = ContinuousClock.now
        for server in target.servers { _ = try await server.isReady() }
        let recovery = started.duration(to: .now)
        // Time for the clients to see the recovery.
        try await Task.sleep(for: .milliseconds(700))
        notes["database stops", default: 0] += 1
        return .alive(recovery: recovery)
    }
}
