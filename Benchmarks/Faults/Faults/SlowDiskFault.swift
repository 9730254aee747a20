import TestSupport

/// Kills the server by SIGKILL while every fsync takes some milliseconds, as on many real disks, so that more requests
/// are in progress.
struct SlowDiskFault: Fault {
    static let name = "slow-disk"
    static let engines = [TestEngine.sqlite]
    let comparedEvery = 5

    private static let delay = Duration.milliseconds(8)

    func environment(_ place: Place, _ shim: Shim, node: Int) -> [String: String] {
        shim.begin(tracking: false, delay: Self.delay)
        return shim.environment(files: place.databaseFile)
    }

    func strike(_ target: Target, _ dice: inout Dice, _ notes: inout Notes) async throws -> Aftermath {
        try await KillFault().strike(target, &dice, &notes)
    }
}
