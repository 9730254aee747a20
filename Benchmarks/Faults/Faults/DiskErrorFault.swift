import Foundation
import TestSupport

/// Lets a write or fsync fail with an I/O error, after which the server must stop, because the state of the file is
/// unknown.
struct DiskErrorFault: Fault {
    static let name = "disk-error"
    static let engines = [TestEngine.sqlite]
    /// Leases of interrupted work last longer than a round.
    let comparedEvery = 5

    func environment(_ place: Place, _ shim: Shim, node: Int) -> [String: String] {
        shim.begin(tracking: true)
        return shim.environment(files: place.databaseFile)
    }

    func strike(_ target: Target, _ dice: inout Dice, _ notes: inout Notes) async throws -> Aftermath {
        try await Task.sleep(for: .random(20...300, &dice))
        let armed = ContinuousClock.now
        let classes: Shim.Classes = dice.chance(60) ? .sync : .write
        target.shim.arm(
            .fail, at: .random(in: 1...20, using: &dice), of: classes, error: EIO,
            seed: .random(in: 1...Int64.max, using: &dice))
        let server = target.servers[0]
        let stopped = await server.hasDied(within: .seconds(3))
        notes[target.shim.hasStruck ? "\(classes == .sync ? "fsync" : "write") errors" : "no call", default: 0] += 1
        notes[stopped ? "stopped by itself" : "went on", default: 0] += 1
        target.shim.disarm()
        if !stopped { try await server.kill() }
        return .dead(since: armed)
    }
}
