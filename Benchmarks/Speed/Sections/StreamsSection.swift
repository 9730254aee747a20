import Foundation
import TestSupport

/// The time from a change until its user's live stream tells it, and the memory of a stream.
struct StreamsSection {
    let bench: Workbench
    let engine: Engine

    private static let streams = 1_000

    func figures() async throws -> [Figure] {
        let installation = try Installation(bench, on: engine)
        defer { installation.remove() }
        return try await installation.whileServing { server in
            let customers = (0..<Self.streams).map { _ in Customer.new() }
            // Memory that the first requests take counts for no stream.
            for customer in (0..<100).map({ _ in Customer.new() }) { try await attach(customer, server) }
            let before = Memory.residentMebibytes(of: server.pid)
            let clients = StreamClients(customers.count, port: server.port)
            let result: Result<[Figure], any Error>
            do { result = .success(try await figures(server, customers, clients, before)) } catch {
                result = .failure(error)
            }
            try await clients.leave()
            return try result.get()
        }
    }

    private func figures(
        _ server: ServerProcess, _ customers: [Customer], _ clients: StreamClients, _ before: Double
    ) async throws -> [Figure] {
        try await clients.open(customers)
        let taken = Memory.residentMebibytes(of: server.pid) - before
        var answered: [ContinuousClock.Instant] = []
        for customer in customers {
            try await attach(customer, server)
            answered.append(.now)
            try await Task.sleep(for: .milliseconds(5))
        }
        try await clients.wait(for: 2, of: customers.indices)
        let delays = customers.indices.map { number in
            // An event can arrive before the answer.
            max(0, ((clients.arrival(1, of: number) ?? .now) - answered[number]).seconds)
        }.sorted()
        let name = "from an attach's answer to its event on one of \(Self.streams) streams, \(engine)"
        return [
            Figure(
                section: .streams, name: "p50 \(name)", value: delays[delays.count / 2] * 1_000, unit: "ms",
                aim: .atMost(1_000)),
            Figure(section: .streams, name: "p99 \(name)", value: delays[delays.count * 99 / 100] * 1_000, unit: "ms"),
            Figure(
                section: .streams, name: "memory of the server for a stream, \(engine)",
                value: taken * 1_024 / Double(Self.streams), unit: "KiB"),
        ]
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
