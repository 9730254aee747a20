import NIOCore

/// The answers of a server that gets twice as many requests as it can handle.
struct OverloadSection {
    let bench: Workbench
    let engine: Engine

    private static let seconds: Int64 = 8
    private static let rounds = 3
    private static let customers = 2_000
    /// The seconds within which an answer is of use to a client.
    private static let useful = 1.0

    private struct Round {
        let peak: Double
        let asked: Double
        let goodput: Double
        let refused: Int
        let lost: Int
        let late: Int
        let answered: Int
        let median: Double
        let p99: Double
    }

    func figures() async throws -> [Figure] {
        let installation = try Installation(bench, on: engine, limits: .concurrency)
        defer { installation.remove() }
        try installation.addAccount("box", Installation.sandbox)
        let customers = (0..<Self.customers).map { _ in Customer.new() }
        let rounds = try await Cores.onSecond(bench) {
            try await installation.whileServing(on: Cores.first) { server in
                _ = try await peak(server, customers)
                try installation.analyze()
                var rounds: [Round] = []
                for _ in 0..<Self.rounds { rounds.append(try await round(server, customers)) }
                return rounds
            }
        }
        let sorted = rounds.sorted { $0.goodput / $0.peak < $1.goodput / $1.peak }
        return figures(sorted[sorted.count / 2])
    }

    /// The rate of checkouts of 64 clients, each of which waits for its answer.
    private func peak(_ server: ServerProcess, _ customers: [Customer]) async throws -> Double {
        let plan = LoadPlan(
            clients: Workbench.manyClients, length: .seconds(Int(Self.seconds / 2)),
            requests: customers.map { $0.checkout(port: server.port) }, accepts: [200, 502, 503],
            staysAwake: Cores.isDivided)
        return try await server.measure(plan).perSecond
    }

    private func round(_ server: ServerProcess, _ customers: [Customer]) async throws -> Round {
        let peak = try await peak(server, customers)
        let asked = Int64(peak * 2)
        let requests = (0..<Int(asked * Self.seconds)).map {
            customers[$0 % customers.count].checkout(port: server.port)
        }
        let tally = StatusTally()
        let delays = try await OpenLoopClient.run(
            requests, perSecond: asked, port: server.port, patience: .seconds(5), tally: tally,
            staysAwake: Cores.isDivided)
        let good = delays.compactMap(\.self).filter { $0 <= Self.useful }.sorted()
        return Round(
            peak: peak, asked: Double(asked), goodput: Double(good.count) / Double(Self.seconds),
            refused: tally.count(of: 503), lost: delays.count - tally.all, late: tally.late,
            answered: tally.count(of: 200), median: good.isEmpty ? 0 : good[good.count / 2],
            p99: good.isEmpty ? 0 : good[good.count * 99 / 100])
    }

    private func figures(_ round: Round) -> [Figure] {
        [
            Figure(
                section: .overload, name: "checkouts, \(engine), twice the peak asked: answered in a second",
                value: round.goodput, unit: "/s", base: .figure("the peak", round.peak), aim: .atLeast(0.9)),
            Figure(
                section: .overload, name: "the same, p99 of those answered", value: round.p99 * 1_000, unit: "ms"),
            Figure(
                section: .overload, name: "the same, refused with 503", value: Double(round.refused),
                unit: "of "
                    + "\(Int(round.asked) * Int(Self.seconds))"),
            Figure(section: .overload, name: "the same, p50", value: round.median * 1_000, unit: "ms"),
            Figure(
                section: .overload, name: "the same, answered with 200, however late", value: Double(round.answered),
                unit: ""),
            Figure(
                section: .overload, name: "the same, sent late by the client itself", value: Double(round.late),
                unit: ""),
            Figure(
                section: .overload, name: "the same, not answered at all", value: Double(round.lost), unit: "",
                aim: .atMost(0)),
        ]
    }
}
