import Foundation
import NIOCore

/// What connections that do nothing but stay do to those of other clients, and to the server's memory.
struct SlowSection {
    let bench: Workbench

    private static let idle = 10_000
    private static let dribbling = 1_000
    private static let perSecond: Int64 = 200
    private static let seconds: Int64 = 20

    func figures() async throws -> [Figure] {
        let installation = try Installation(bench, on: .sqlite)
        defer { installation.remove() }
        return try await installation.whileServing { server in
            let customers = (0..<1_000).map { _ in Customer.new() }
            _ = try await p99(server, customers, seconds: 3)
            let alone = try await p99(server, customers)
            let before = Memory.residentMebibytes(of: server.pid)
            let crowd = Crowd(port: server.port)
            try await crowd.gather(idle: Self.idle, dribbling: Self.dribbling)
            let beside = try await p99(server, customers)
            let (held, after) = (crowd.connections, Memory.residentMebibytes(of: server.pid))
            try await crowd.leave()
            return [
                Figure(
                    section: .slow, name: "status p99 beside \(Self.idle) idle and \(Self.dribbling) dribbling clients",
                    value: beside * 1_000, unit: "ms", base: .figure("without them", alone * 1_000), aim: .atMost(2)),
                Figure(section: .slow, name: "their connections at the end", value: Double(held), unit: ""),
                Figure(
                    section: .slow, name: "memory of the server that they take", value: after - before, unit: "MiB",
                    aim: .atMost(200)),
            ]
        }
    }

    private func p99(
        _ server: ServerProcess, _ customers: [Customer], seconds: Int64 = SlowSection.seconds
    ) async throws -> Double {
        let requests = (0..<Int(Self.perSecond * seconds)).map { number in
            customers[number % customers.count].status(port: server.port)
        }
        let delays = try await OpenLoopClient.run(requests, perSecond: Self.perSecond, port: server.port)
        let sorted = delays.compactMap(\.self).sorted()
        guard sorted.count == requests.count else {
            throw BenchFailure(description: "\(requests.count - sorted.count) status reads were not answered")
        }
        return sorted[sorted.count * 99 / 100]
    }
}
