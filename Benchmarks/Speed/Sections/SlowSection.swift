import Foundation
import NIOCore
import TestSupport

/// The effect of connections that only stay open on other clients' delays and on the server's memory.
struct SlowSection {
    let bench: Workbench
    let engine: Engine

    private static let idle = 10_000
    private static let dribbling = 1_000
    private static let perSecond: Int64 = 400
    private static let seconds: Int64 = 15
    private static let rounds = 3

    func figures() async throws -> [Figure] {
        let installation = try Installation(bench, on: engine)
        defer { installation.remove() }
        return try await installation.whileServing { server in
            let customers = (0..<1_000).map { _ in Customer.new() }
            _ = try await p99(server, customers, seconds: 3)
            let before = Memory.residentMebibytes(of: server.pid)
            let descriptors = try Descriptors.open(in: server.pid)
            var (alone, beside): ([Double], [Double]) = ([], [])
            var (held, taken) = (Self.idle + Self.dribbling, 0.0)
            for _ in 0..<Self.rounds {
                alone.append(try await p99(server, customers))
                let crowd = try await CrowdProcess.gather(
                    idle: Self.idle, dribbling: Self.dribbling, port: server.port, bench)
                let result: Result<Double, any Error>
                do { result = .success(try await p99(server, customers)) } catch { result = .failure(error) }
                held = min(held, crowd.connections)
                taken = max(taken, Memory.residentMebibytes(of: server.pid) - before)
                try await crowd.leave()
                try await closed(server, downTo: descriptors)
                beside.append(try result.get())
            }
            return [
                Figure(
                    section: .slow,
                    name: "status p99, \(engine), beside \(Self.idle) idle and \(Self.dribbling) dribbling clients",
                    value: beside.median * 1_000, unit: "ms",
                    base: .figure("without them", alone.median * 1_000), aim: .atMost(2)),
                Figure(section: .slow, name: "their connections at the end, the fewest", value: Double(held), unit: ""),
                Figure(
                    section: .slow, name: "memory of the server that they take", value: taken, unit: "MiB",
                    aim: .atMost(200)),
            ]
        }
    }

    /// Waits until the server has closed the crowd's connections, whose end would delay the requests of the next round.
    private func closed(_ server: ServerProcess, downTo descriptors: Int) async throws {
        for _ in 0..<6_000 {
            // Some connections to the database and to the measuring client come and go.
            if try Descriptors.open(in: server.pid) < descriptors + 64 { return }
            await SpawnedProgram.pause()
        }
        throw BenchFailure(description: "the server holds the crowd's connections two minutes after it left")
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
