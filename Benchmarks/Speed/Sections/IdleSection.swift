import Foundation

/// The cost of a server that nobody asks: how often its threads wake up, and their CPU time.
struct IdleSection {
    let bench: Workbench
    let engine: Engine

    /// The time in which the server comes to rest after its start.
    private static let rest = Duration.seconds(20)
    private static let length = Duration.seconds(30)

    func figures() async throws -> [Figure] {
        let installation = try Installation(bench, on: engine)
        defer { installation.remove() }
        return try await installation.whileServing { server in
            try await Task.sleep(for: Self.rest)
            let (wakeUps, time) = (try WakeUps.of(server.pid), try CPUTime.of(server.pid))
            try await Task.sleep(for: Self.length)
            let seconds = Self.length.seconds
            return [
                Figure(
                    section: .idle, name: "wake-ups of an idle server, \(engine)",
                    value: Double(try WakeUps.of(server.pid) - wakeUps) / seconds, unit: "/s", aim: .atMost(5)),
                Figure(
                    section: .idle, name: "CPU of an idle server, \(engine)",
                    value: (try CPUTime.of(server.pid) - time) / seconds * 100, unit: "% of a core", aim: .atMost(0.05)),
            ]
        }
    }
}
