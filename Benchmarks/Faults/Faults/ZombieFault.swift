import Foundation
import TestSupport

/// Stops nodes for longer than their leases last, so that others take over, and then lets them continue.
struct ZombieFault: Fault {
    static let name = "zombie"

    let engine: TestEngine

    /// Several on PostgreSQL; on SQLite one, whose own leases expire.
    var nodes: Int { engine == .postgres ? 6 : 1 }

    let isLong: Bool

    /// A settlement's lease lasts 10 seconds and the dispatcher's 15; all others, and that of an idempotency key, a
    /// minute.
    private static let pauses = (short: Duration.seconds(16), long: Duration.seconds(63))

    func strike(_ target: Target, _ dice: inout Dice, _ notes: inout Notes) async throws -> Aftermath {
        let zombies = target.servers.count == 1 ? target.servers : Array(target.servers.dropLast())
        let pause = isLong && dice.chance(30) ? Self.pauses.long : Self.pauses.short
        var stopped: [ContinuousClock.Instant] = []
        for zombie in zombies {
            try await Task.sleep(for: .random(50...400, &dice))
            zombie.send(SIGSTOP)
            stopped.append(.now)
        }
        for (zombie, since) in zip(zombies, stopped) {
            try await Task.sleep(until: since + pause)
            zombie.send(SIGCONT)
        }
        let resumed = ContinuousClock.now
        for server in target.servers { _ = try await server.isReady() }
        let recovery = resumed.duration(to: .now)
        try await Task.sleep(for: .milliseconds(500))
        notes["zombies", default: 0] += zombies.count
        if pause == Self.pauses.long { notes["of them longer than a minute", default: 0] += zombies.count }
        return .alive(recovery: recovery, keepsConnections: pause == Self.pauses.short)
    }
}
