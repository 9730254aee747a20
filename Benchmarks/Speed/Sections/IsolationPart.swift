import NIOCore
import Synchronization
import TestSupport

/// The delay of events to healthy endpoints, with and without a dead and a slow endpoint beside them.
struct IsolationPart {
    let bench: Workbench
    let engine: Engine

    private static let attaches = 600
    private static let perSecond: Int64 = 60
    private static let healthy = 3
    /// Rounds with and without the bad endpoints.
    ///
    /// A dead endpoint's attempts last 15 seconds, so that two such rounds in a row see attempts end and begin again.
    private static let troubled = [false, true, true, false, false, true]
    private static let slowness = TimeAmount.milliseconds(300)
    private static let patience = Duration.seconds(60)

    private struct Bad {
        let webhooks: [String]
        let endpoints: [BadEndpoint]
    }

    /// Delays of one round in seconds.
    private struct Delays {
        let median: Double
        let p99: Double

        init(_ all: [Double]) {
            let sorted = all.sorted()
            median = sorted[sorted.count / 2]
            p99 = sorted[sorted.count * 99 / 100]
        }
    }

    func figures() async throws -> [Figure] {
        let installation = try Installation(bench, on: engine, privateWebhooks: true)
        defer { installation.remove() }
        let arrivals = (0..<Self.healthy).map { _ in Arrivals() }
        return try await installation.whileServing { server in
            let partner = try await Partner(bench, at: installation)
            return try await whileHealthy(arrivals[...], partner) {
                let (dead, slow) = (BadEndpoint(.never), BadEndpoint(.late(200, Self.slowness)))
                return try await Receiver.whileAnswering(dead.answer) { deadReceiver in
                    try await Receiver.whileAnswering(slow.answer) { slowReceiver in
                        let webhooks = [
                            try await partner.makeWebhook(deadReceiver.url, types: ["order.paid"]),
                            try await partner.makeWebhook(slowReceiver.url, types: ["order.paid"]),
                        ]
                        return try await rounds(
                            server, partner, Bad(webhooks: webhooks, endpoints: [dead, slow]), arrivals)
                    }
                }
            }
        }
    }

    /// Runs the body while each of the arrivals has an endpoint and a webhook.
    private func whileHealthy(
        _ arrivals: ArraySlice<Arrivals>, _ partner: Partner, _ body: () async throws -> [Figure]
    ) async throws -> [Figure] {
        guard let first = arrivals.first else { return try await body() }
        return try await Receiver.whileAnswering(first.answer) { receiver in
            _ = try await partner.makeWebhook(receiver.url, types: ["order.paid"])
            return try await whileHealthy(arrivals.dropFirst(), partner, body)
        }
    }

    private func rounds(
        _ server: ServerProcess, _ partner: Partner, _ bad: Bad, _ arrivals: [Arrivals]
    ) async throws -> [Figure] {
        // The first, shorter round warms caches and connections, and is not counted.
        for webhook in bad.webhooks { try await partner.setWebhook(webhook, isEnabled: false) }
        _ = try await round(server, arrivals, count: Self.attaches / 5)
        var (with, without) = ([Delays](), [Delays]())
        var isTroubled = false
        for wanted in Self.troubled {
            if wanted != isTroubled {
                for webhook in bad.webhooks { try await partner.setWebhook(webhook, isEnabled: wanted) }
                isTroubled = wanted
            }
            let before = bad.endpoints.map(\.messages)
            let delays = try await round(server, arrivals, count: Self.attaches)
            guard !isTroubled || zip(bad.endpoints, before).allSatisfy({ $0.messages > $1 }) else {
                throw BenchFailure(description: "the dead or the slow endpoint got no message")
            }
            if isTroubled { with.append(delays) } else { without.append(delays) }
        }
        return figures("healthy endpoints alone", without, base: nil)
            + figures("beside a dead and a slow one", with, base: without)
    }

    private func round(_ server: ServerProcess, _ arrivals: [Arrivals], count: Int) async throws -> Delays {
        let requests = (0..<count).map { _ in Customer.new().attach(port: server.port) }
        let orders = try await PacedClient.attach(requests, perSecond: Self.perSecond, port: server.port)
        let limit = ContinuousClock.now + Self.patience
        while let missing = arrivals.lazy.map({ $0.missing(of: orders.keys) }).first(where: { $0 > 0 }) {
            guard ContinuousClock.now < limit else {
                throw BenchFailure(description: "a healthy endpoint did not get \(missing) of \(count) events")
            }
            await SpawnedProgram.pause()
        }
        return Delays(arrivals.flatMap { $0.delays(of: orders) })
    }

    private func figures(_ what: String, _ delays: [Delays], base: [Delays]?) -> [Figure] {
        func figure(_ name: String, _ value: KeyPath<Delays, Double>, aim: Aim?) -> Figure {
            func middle(_ delays: [Delays]) -> Double { delays.map { $0[keyPath: value] }.sorted()[delays.count / 2] }
            return Figure(
                section: .deliveries, name: "delay \(name), \(engine), \(what)", value: middle(delays) * 1_000,
                unit: "ms", base: base.map { .figure("that alone", middle($0) * 1_000) }, aim: base == nil ? nil : aim)
        }
        return [figure("p50", \.median, aim: nil), figure("p99", \.p99, aim: .atMost(1.2))]
    }
}

/// The time at which a healthy endpoint got each subject's event.
private final class Arrivals: Sendable {
    private let times = Mutex([String: ContinuousClock.Instant]())

    func answer(_ message: Message) -> Receiver.Answer {
        let now = ContinuousClock.now
        times.withLock { $0[message.subject] = $0[message.subject] ?? now }
        return .now(200)
    }

    func missing(of orders: some Collection<String>) -> Int {
        times.withLock { times in orders.count { times[$0] == nil } }
    }

    /// The seconds from the answer to each attach until its event came.
    func delays(of orders: [String: ContinuousClock.Instant]) -> [Double] {
        times.withLock { times in orders.compactMap { order, answered in times[order].map { ($0 - answered).seconds } }
        }
    }
}

/// An endpoint that never answers or answers late, with the number of messages that it has got.
private final class BadEndpoint: Sendable {
    private let reaction: Receiver.Answer
    private let count = Atomic<Int>(0)

    init(_ reaction: Receiver.Answer) { self.reaction = reaction }

    var messages: Int { count.load(ordering: .relaxed) }

    func answer(_: Message) -> Receiver.Answer {
        count.add(1, ordering: .relaxed)
        return reaction
    }
}
