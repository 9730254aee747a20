import Foundation
import TestSupport

/// The server under test: a process of the real binary, started and killed again and again.
struct Server: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let place: Place
    let binary: String
    let config: String
    private let process: SpawnedProgram

    private static let ready = Request(method: "GET", path: "/readyz", headers: [:], body: "")

    /// Starts it and waits until it says that it can serve.
    ///
    /// - Returns: the server, and how long that took.
    static func start(_ place: Place, binary: String, config: String) async throws -> (Server, Duration) {
        let started = ContinuousClock.now
        let process = try spawn("serve", binary, config, place)
        let server = Server(place: place, binary: binary, config: config, process: process)
        while started.duration(to: .now) < .seconds(60) {
            if await HTTPConnection(port: place.port).send(ready)?.status == 200 {
                return (server, started.duration(to: .now))
            }
            if let status = process.ended() {
                throw Failure(description: "the server ended with \(status): \(process.output) \(process.errors)")
            }
            try await Task.sleep(for: .milliseconds(2))
        }
        process.send(SIGKILL)
        throw Failure(description: "the server is not ready after a minute: \(process.errors)")
    }

    /// Ends it without giving it a chance to notice.
    func kill() async throws {
        process.send(SIGKILL)
        let status = try await process.wait()
        guard status == -SIGKILL else {
            throw Failure(description: "the server had ended by itself with \(status): \(process.errors)")
        }
    }

    /// Ends it as an operator does.
    func stop() async throws {
        process.send(SIGTERM)
        let status = try await process.wait()
        guard status == 0 else {
            throw Failure(description: "the server ended with \(status): \(process.errors)")
        }
    }

    /// An admin's API key.
    func makeAdminKey() async throws -> String {
        struct Key: Decodable { let key: String }
        let command = try Self.spawn(
            "keys", binary, config, place, ["create", "--name", "crash", "--scopes", "admin", "--json"])
        guard try await command.wait() == 0 else { throw Failure(description: "no admin key: \(command.errors)") }
        return try JSONDecoder().decode(Key.self, from: Data(command.output.utf8)).key
    }

    /// What `paydesk check` finds while this server runs; empty when every invariant holds.
    func check() async throws -> [String] {
        let command = try Self.spawn("check", binary, config, place, ["--json"])
        let status = try await command.wait()
        guard status != 0 else { return [] }
        return ["paydesk check ended with \(status): \(command.output.prefix(2_000)) \(command.errors.prefix(500))"]
    }

    /// What it complained of since its start.
    var errors: String { process.errors }

    private static func spawn(
        _ name: String, _ binary: String, _ config: String, _ place: Place, _ arguments: [String] = []
    ) throws -> SpawnedProgram {
        try SpawnedProgram(
            [binary, name] + arguments + ["--config", config], in: place.folder, name: name,
            environment: ProcessInfo.processInfo.environment)
    }
}
