/// Kills a server by SIGKILL at any moment.
struct KillFault: Fault {
    static let name = "kill"
    /// Leases of interrupted work last longer than some rounds.
    let comparedEvery = 13

    func strike(_ target: Target, _ dice: inout Dice, _ notes: inout Notes) async throws -> Aftermath {
        try await Task.sleep(for: .random(100...1_500, &dice))
        let killed = ContinuousClock.now
        try await target.servers[0].kill()
        notes["kills", default: 0] += 1
        return .dead(since: killed)
    }
}
