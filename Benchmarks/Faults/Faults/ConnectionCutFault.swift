import TestSupport

/// Cuts connections to PostgreSQL, some of them just after COMMIT was sent, so that its outcome is unknown.
struct ConnectionCutFault: Fault {
    static let name = "connection-cut"
    static let engines = [TestEngine.postgres]
    /// Leases of interrupted work last longer than a round.
    let comparedEvery = 5

    func strike(_ target: Target, _ dice: inout Dice, _ notes: inout Notes) async throws -> Aftermath {
        guard let proxy = target.place.proxy else { throw Server.Failure(description: "there is no proxy to cut at") }
        for _ in 0..<2 {
            try await Task.sleep(for: .random(50...400, &dice))
            try await cut(
                .after("COMMIT\0"), times: .random(in: 1...3, using: &dice), "cuts after COMMIT", proxy, &notes)
            try await Task.sleep(for: .random(50...400, &dice))
            // At any message, before or after it has arrived.
            try await cut(
                dice.chance(50) ? .before("") : .after(""), times: .random(in: 1...4, using: &dice), "cuts anywhere",
                proxy, &notes)
        }
        let cut = ContinuousClock.now
        for server in target.servers { _ = try await server.isReady() }
        let recovery = cut.duration(to: .now)
        try await Task.sleep(for: .milliseconds(200))
        return .alive(recovery: recovery)
    }

    private func cut(
        _ cut: PostgresProxy.Cut, times: Int, _ name: String, _ proxy: PostgresProxy, _ notes: inout Notes
    ) async throws {
        proxy.cut(cut, times: times)
        // Under load a cut must happen; otherwise the test or the service is broken.
        let limit = ContinuousClock.now + .seconds(20)
        while proxy.remainingCuts > 0 {
            guard .now < limit else { throw Server.Failure(description: "\(name): nothing came to be cut for 20 s") }
            try await Task.sleep(for: .milliseconds(2))
        }
        notes[name, default: 0] += times - proxy.remainingCuts
        proxy.cut(.never, times: 0)
    }
}
