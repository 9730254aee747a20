import Foundation
import TestSupport

/// Two nodes whose clocks are a day off share the jobs of a node whose clock is right.
struct ClockFault: Fault {
    static let name = "clock"
    static let engines = [TestEngine.postgres]

    let nodes = 3
    /// The number of nodes that clients use: the other nodes report that they are not ready.
    let servingNodes = 1

    private static let library = ["x86_64", "aarch64"]
        .map { "/usr/lib/\($0)-linux-gnu/faketime/libfaketime.so.1" }
        .first { FileManager.default.fileExists(atPath: $0) }

    var obstacle: String? { Self.library == nil ? "the package faketime is not installed" : nil }

    func environment(_ place: Place, _ shim: Shim, node: Int) -> [String: String] {
        guard node > 0, let library = Self.library else { return [:] }
        return [
            "LD_PRELOAD": library, "FAKETIME": node == 1 ? "+1d" : "-1d", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
        ]
    }

    func strike(_ target: Target, _ dice: inout Dice, _ notes: inout Notes) async throws -> Aftermath {
        try await Task.sleep(for: .seconds(4))
        let wrong = target.servers.dropFirst()
        for server in wrong {
            guard server.ended() == nil else { continue }
            if await server.saysReady() {
                target.journal.complain("a node whose clock is a day off says that it is ready")
            } else {
                notes["wrong clocks noticed", default: 0] += 1
            }
        }
        return .alive(recovery: nil)
    }
}
