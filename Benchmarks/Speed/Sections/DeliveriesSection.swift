import Foundation
import NIOCore
import TestSupport

/// A backlog of events delivered to one endpoint that refuses one message of twenty.
struct DeliveriesSection {
    let bench: Workbench
    let engine: Engine

    /// The silence after which an endpoint is taken to get no more messages.
    private static let patience = Duration.seconds(60)

    func figures() async throws -> [Figure] {
        let ledger = DeliveryLedger(events: bench.events)
        let backlog = try await Receiver.whileAnswering(ledger.answer) { try await deliver(ledger, to: $0) }
        return backlog + (try await IsolationPart(bench: bench, engine: engine).figures())
    }

    private func deliver(_ ledger: DeliveryLedger, to receiver: Receiver) async throws -> [Figure] {
        let installation = try Installation(bench, on: engine, privateWebhooks: true)
        defer { installation.remove() }
        try await installation.whileServing { server in
            let attach = LoadPlan(
                clients: 1, length: .once, requests: [Customer.new().attach(port: server.port)])
            _ = try await server.measure(attach)
            _ = try await Partner(bench, at: installation).makeWebhook(receiver.url)
        }
        try await EventSeeder.fill(installation, with: bench.events)
        return try await installation.whileServing { server in
            // Some messages come before the server says that it is ready: counts and CPU time both begin here.
            let (before, started) = (ledger.counts, ContinuousClock.now)
            let cpuBefore = try CPUTime.of(server.pid)
            try await wait(ledger) { $0.seen >= bench.events }
            let (counts, cpu) = (ledger.counts, try CPUTime.of(server.pid) - cpuBefore)
            let measurement = Measurement(
                answers: counts.attempts - before.attempts, wallSeconds: (ContinuousClock.now - started).seconds,
                cpuSeconds: cpu)
            try await wait(ledger) { $0.accepted >= bench.events }
            return figures(measurement, ledger.counts)
        }
    }

    private func figures(_ measurement: Measurement, _ counts: DeliveryLedger.Counts) -> [Figure] {
        let name = "\(engine), \(bench.events) events"
        return [
            Figure(
                section: .deliveries, name: "deliveries, \(name)", value: measurement.perCPUSecond, unit: "/CPU s",
                perSecond: measurement.perSecond, aim: engine == .sqlite ? .atLeast(2_000) : nil),
            Figure(
                section: .deliveries, name: "never accepted, \(name)", value: Double(bench.events - counts.accepted),
                unit: "", aim: .atMost(0), isDuty: true),
            Figure(
                section: .deliveries, name: "first attempts out of order, \(name)", value: Double(counts.inversions),
                unit: "", aim: .atMost(0), isDuty: true),
        ]
    }

    /// Waits until the condition holds, or no message has come for a while.
    private func wait(_ ledger: DeliveryLedger, _ isSo: (DeliveryLedger.Counts) -> Bool) async throws {
        var (last, since) = (ledger.counts, ContinuousClock.now)
        while !isSo(last), ContinuousClock.now - since < Self.patience {
            await SpawnedProgram.pause()
            let counts = ledger.counts
            if counts.attempts > last.attempts { since = .now }
            last = counts
        }
    }
}
