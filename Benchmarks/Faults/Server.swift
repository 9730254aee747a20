import Foundation
import Synchronization
import TestSupport

/// The server under test: a process of the real binary, started and killed again and again.
final class Server: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let place: Place
    let binary: String
    let config: String
    let port: UInt16
    private let process: SpawnedProgram
    private let status = Mutex<Int32?>(nil)

    private static let ready = Request(method: "GET", path: "/readyz", headers: [:], body: "")

    /// Starts the process and does not wait for it.
    ///
    /// - Parameters:
    ///   - node: counts from 0; each node has a port of its own.
    ///   - environment: variables in addition to this process's own.
    init(
        _ place: Place, binary: String, config: String, node: Int = 0, environment: [String: String] = [:]
    ) throws {
        self.place = place
        self.binary = binary
        self.config = config
        port = place.port + UInt16(node)
        process = try Self.spawn(
            "serve", binary, config, place, ["--port", "\(port)"], file: node == 0 ? "serve" : "serve-\(node)",
            environment: environment)
    }

    /// Waits until `/readyz` answers 200.
    ///
    /// - Returns: false when the process has died before.
    func isReady(within limit: Duration = .seconds(60)) async throws -> Bool {
        let limit = ContinuousClock.now + limit
        while ContinuousClock.now < limit {
            if await saysReady() { return true }
            if ended() != nil { return false }
            try await Task.sleep(for: .milliseconds(2))
        }
        process.send(SIGKILL)
        throw Failure(description: "the server is not ready in time: \(process.errors.suffix(2_000))")
    }

    /// Returns whether `/readyz` answers 200 now.
    func saysReady() async -> Bool { await HTTPConnection(port: port).send(Self.ready)?.status == 200 }

    /// The exit status, negative for a signal; nil while the process lives.
    func ended() -> Int32? {
        status.withLock { status in
            if status == nil { status = process.ended() }
            return status
        }
    }

    func send(_ signal: Int32) { process.send(signal) }

    func hasDied(within limit: Duration) async -> Bool {
        let limit = ContinuousClock.now + limit
        while ContinuousClock.now < limit {
            if ended() != nil { return true }
            try? await Task.sleep(for: .milliseconds(1))
        }
        return false
    }

    /// Waits for the death by SIGKILL.
    func isKilled() async throws {
        guard await hasDied(within: .seconds(60)), let status = ended() else {
            throw Failure(description: "the server does not die: \(process.errors.suffix(2_000))")
        }
        guard status == -SIGKILL else {
            throw Failure(description: "the server had ended by itself with \(status): \(process.errors.suffix(2_000))")
        }
    }

    /// Kills the process by SIGKILL, so that it cannot notice.
    func kill() async throws {
        process.send(SIGKILL)
        try await isKilled()
    }

    /// Ends the process by SIGTERM, as an operator does.
    func stop() async throws {
        process.send(SIGTERM)
        guard await hasDied(within: .seconds(60)), let status = ended(), status == 0 else {
            let how = ended().map { "ended with \($0)" } ?? "does not end"
            throw Failure(description: "the server \(how): \(process.errors.suffix(2_000))")
        }
    }

    /// Makes an API key with the scope `admin` by the command line.
    func makeAdminKey() async throws -> String {
        struct Key: Decodable { let key: String }
        let command = try Self.spawn(
            "keys", binary, config, place, ["create", "--name", "faults", "--scopes", "admin", "--json"])
        guard try await command.wait() == 0 else { throw Failure(description: "no admin key: \(command.errors)") }
        return try JSONDecoder().decode(Key.self, from: Data(command.output.utf8)).key
    }

    /// The violations that `paydesk check` finds while this server runs; empty when every invariant holds.
    func check() async throws -> [String] {
        let command = try Self.spawn("check", binary, config, place, ["--json"])
        // A long run's database has a hundred thousand orders, and the machine other work.
        let status = try await command.wait(minutes: 20)
        guard status != 0 else { return [] }
        return ["paydesk check ended with \(status): \(command.output.prefix(2_000)) \(command.errors.prefix(500))"]
    }

    /// The standard error output of the server since its start.
    var errors: String { process.errors }

    private static func spawn(
        _ name: String, _ binary: String, _ config: String, _ place: Place, _ arguments: [String] = [],
        file: String? = nil, environment: [String: String] = [:]
    ) throws -> SpawnedProgram {
        try SpawnedProgram(
            [binary, name] + arguments + ["--config", config], in: place.folder, name: file ?? name,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 })
    }
}
