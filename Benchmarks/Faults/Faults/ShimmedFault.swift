/// A server with the shim, which does nothing until a scenario arms it.
struct ShimmedFault: Fault {
    static let name = "shimmed"

    func environment(_ place: Place, _ shim: Shim, node: Int) -> [String: String] {
        shim.begin(tracking: false)
        return shim.environment(files: place.databaseFile)
    }

    func strike(_ target: Target, _ dice: inout Dice, _ notes: inout Notes) async throws -> Aftermath {
        .alive(recovery: nil)
    }
}
