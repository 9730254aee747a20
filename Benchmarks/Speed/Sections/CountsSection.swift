import Foundation
import NIOCore
import TestSupport

/// Counts of one operation of the server, which are nearly the same on every machine: its allocations, system calls and
/// instructions, by `perf stat`.
///
/// An allocation is a call of `malloc`, seen by a probe in the C library, which only root may set. Statements and entries
/// of indexes are counted by `make costs`.
struct CountsSection {
    let bench: Workbench

    private static let warmUp = 500
    private static let count = 2_000

    /// A count, and the event by which `perf` counts it.
    private enum Event: String, CaseIterable {
        case allocations = "probe_libc:malloc"
        case systemCalls = "raw_syscalls:sys_enter"
        case instructions = "instructions:u"

        var unit: String {
            switch self {
            case .allocations: "allocations"
            case .systemCalls: "system calls"
            case .instructions: "instructions"
            }
        }
    }

    func figures() async throws -> [Figure] {
        let installation = try Installation(bench, on: .sqlite)
        defer { installation.remove() }
        try installation.addAccount("box", Installation.sandbox)
        return try await installation.whileServing { server in
            // A run that was killed may have left its probe.
            _ = try? await removeProbe()
            try await bench.run(["perf", "probe", "-q", "-x", try library(of: server), "malloc"], name: "probe")
            let result: Result<[Figure], any Error>
            do { result = .success(try await figures(server)) } catch { result = .failure(error) }
            try await removeProbe()
            return try result.get()
        }
    }

    private func removeProbe() async throws {
        try await bench.run(["perf", "probe", "-q", "-d", Event.allocations.rawValue], name: "probe")
    }

    private func figures(_ server: ServerProcess) async throws -> [Figure] {
        let port = server.port
        let owners = (0..<Self.count).map { _ in Customer.new() }
        let operations: [(name: String, requests: [ByteBuffer])] = [
            ("an attach of a new user", owners.map { $0.attach(port: port) }),
            ("a first status", owners.map { $0.status(port: port) }),
            ("a status again", owners.map { $0.status(port: port) }),
            ("a checkout", owners.map { $0.checkout(port: port) }),
        ]
        try await send((0..<Self.warmUp).map { _ in Customer.new().attach(port: port) }, server)
        var figures: [Figure] = []
        for (name, requests) in operations {
            let counts = try await counts(of: server) { try await send(requests, server) }
            figures += Event.allCases.compactMap { event in
                counts[event].map {
                    Figure(
                        section: .counts, name: "\(name), \(event.unit)", value: $0 / Double(requests.count), unit: "")
                }
            }
        }
        return figures
    }

    private func send(_ requests: [ByteBuffer], _ server: ServerProcess) async throws {
        _ = try await server.measure(
            LoadPlan(clients: Workbench.manyClients, length: .once, requests: requests))
    }

    /// The events of the server while the body runs, as far as this machine counts them.
    private func counts(
        of server: ServerProcess, _ body: () async throws -> Void
    ) async throws -> [Event: Double] {
        // The command of `perf stat` begins when the counters do, and ends when the file is there that ends them.
        let (begun, ended, table) = ("\(server.folder)/begun", "\(server.folder)/ended", "\(server.folder)/counts")
        for file in [begun, ended] { try? FileManager.default.removeItem(atPath: file) }
        let events = Event.allCases.map(\.rawValue).joined(separator: ",")
        let counter = try Workbench.spawn(
            [
                "perf", "stat", "-x", ",", "-e", events, "-p", String(server.pid), "-o", table, "sh", "-c",
                #": > "$0"; while [ ! -e "$1" ]; do sleep 0.05; done"#, begun, ended,
            ], in: server.folder, name: "counts")
        while !FileManager.default.fileExists(atPath: begun) {
            if counter.ended() != nil { throw BenchFailure(description: "perf counts nothing: \(counter.errors)") }
            await SpawnedProgram.pause()
        }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        guard FileManager.default.createFile(atPath: ended, contents: nil) else {
            throw BenchFailure(description: "\(ended) cannot be made, so perf goes on counting")
        }
        _ = try await counter.wait()
        try result.get()
        return try parse(String(contentsOfFile: table, encoding: .utf8))
    }

    /// Reads lines of `value,unit,event,…`; a counter that this machine lacks has no number.
    private func parse(_ text: String) -> [Event: Double] {
        var counts: [Event: Double] = [:]
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: ",", omittingEmptySubsequences: false)
            guard fields.count > 2, let event = Event(rawValue: String(fields[2])) else { continue }
            counts[event] = Double(fields[0])
        }
        return counts
    }

    /// The path of the C library that a server has loaded.
    private func library(of server: ServerProcess) throws -> String {
        // Read to its end, because such a file tells no size.
        let file = FileHandle(forReadingAtPath: "/proc/\(server.pid)/maps")
        let maps = String(decoding: try file?.readToEnd() ?? Data(), as: UTF8.self)
        guard let path = maps.firstMatch(of: /(\/\S*\/libc\.so\S*)/) else {
            throw BenchFailure(description: "the server has no libc.so, whose calls could be counted")
        }
        return String(path.output.1)
    }
}
