import Foundation
import TestSupport

/// The time from a change until its user's live stream tells it, and the memory of a stream: on one node, and on
/// PostgreSQL also where the change comes to another node than the stream.
struct StreamsSection {
    let bench: Workbench
    let engine: Engine

    private static let streams = 1_000
    private static let nodes = 3
    /// The attaches of each node before anything is measured.
    private static let warmUp = 100

    private struct Measured {
        /// The seconds from an attach's answer to its event, in order.
        let delays: [Double]
        /// The KiB that all servers together take for a stream.
        let memory: Double

        func milliseconds(_ percent: Int) -> Double { delays[delays.count * percent / 100] * 1_000 }
    }

    func figures() async throws -> [Figure] {
        let one = try await measure(nodes: 1)
        let figures = Self.figures(one, "\(engine)")
        guard engine == .postgres else { return figures }
        let several = try await measure(nodes: Self.nodes)
        return figures + Self.figures(several, "\(engine), \(Self.nodes) nodes, attached at another one", beside: one)
    }

    private static func figures(_ measured: Measured, _ place: String, beside one: Measured? = nil) -> [Figure] {
        let name = "from an attach's answer to its event on one of \(streams) streams, \(place)"
        return [
            // The aim is one of time, so it stands without a base.
            Figure(
                section: .streams, name: "p50 \(name)", value: measured.milliseconds(50), unit: "ms",
                aim: .atMost(1_000)),
            Figure(
                section: .streams, name: "p99 \(name)", value: measured.milliseconds(99), unit: "ms",
                base: one.map { .figure("one node", $0.milliseconds(99)) }),
            Figure(
                section: .streams, name: "memory of the servers for a stream, \(place)", value: measured.memory,
                unit: "KiB", base: one.map { .figure("one node", $0.memory) }),
        ]
    }

    /// Measures on a new database, so that no run finds the rows of another.
    private func measure(nodes: Int) async throws -> Measured {
        let first = try Installation(bench, on: engine)
        defer { first.remove() }
        let others = try (1..<nodes).map { _ in try Installation(bench, like: first) }
        defer { for other in others { other.remove() } }
        return try await Installation.whileServing([first] + others) { servers in
            // Memory that the first requests take counts for no stream.
            for server in servers {
                for _ in 0..<Self.warmUp { try await attach(Customer.new(), server) }
            }
            let before = Self.memory(of: servers)
            let clients = StreamClients(at: (0..<Self.streams).map { servers[$0 % servers.count].port })
            let result: Result<Measured, any Error>
            do { result = .success(try await measure(servers, clients, before)) } catch { result = .failure(error) }
            try await clients.leave()
            return try result.get()
        }
    }

    private func measure(
        _ servers: [ServerProcess], _ clients: StreamClients, _ before: Double
    ) async throws -> Measured {
        let customers = (0..<Self.streams).map { _ in Customer.new() }
        try await clients.open(customers)
        let taken = Self.memory(of: servers) - before
        var answered: [ContinuousClock.Instant] = []
        for (number, customer) in customers.enumerated() {
            // The node after the stream's, which on one node is the same.
            try await attach(customer, servers[(number + 1) % servers.count])
            answered.append(.now)
            try await Task.sleep(for: .milliseconds(5))
        }
        try await clients.wait(for: 2, of: customers.indices)
        let delays = customers.indices.map { number in
            // An event can arrive before the answer.
            max(0, ((clients.arrival(1, of: number) ?? .now) - answered[number]).seconds)
        }
        return Measured(delays: delays.sorted(), memory: taken * 1_024 / Double(Self.streams))
    }

    private static func memory(of servers: [ServerProcess]) -> Double {
        servers.reduce(0) { $0 + Memory.residentMebibytes(of: $1.pid) }
    }

    private func attach(_ customer: Customer, _ server: ServerProcess) async throws {
        let reply = await LoopbackHTTP.send(
            "POST", "/v1/public/iap/apple/transactions/attach", port: server.port,
            headers: ["Authorization": "Bearer \(customer.token)", "Content-Type": "application/json"],
            body: #"{"signed_transaction_jws":"\#(Customer.purchase().jws)"}"#)
        guard reply?.status == 200 else {
            throw BenchFailure(description: "an attach was answered \(reply.map { "\($0.status)" } ?? "by nothing")")
        }
    }
}
