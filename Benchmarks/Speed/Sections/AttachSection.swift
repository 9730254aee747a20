import NIOCore

/// Attaches over HTTP, each of a new purchase by a new user, and the number of commits that they took.
struct AttachSection {
    let bench: Workbench
    let engine: Engine

    private static let warmUp = 500

    private struct Round {
        let clients: Int
        let isIdempotent: Bool
        let measurement: Measurement
        let commits: Int

        var commitsPerThousand: Double { Double(commits) * 1_000 / Double(measurement.answers) }
        var text: String {
            "\(clients) \(clients == 1 ? "client" : "clients")\(isIdempotent ? ", Idempotency-Key" : "")"
        }
    }

    func figures(_ sections: Set<Section>) async throws -> [Figure] {
        let installation = try Installation(bench, on: engine)
        defer { installation.remove() }
        let rounds = try await installation.whileServing { server in
            _ = try await round(server, clients: 16, count: Self.warmUp)
            try installation.analyze()
            let rounds = [
                try await round(server, clients: 1, count: bench.attaches / 5),
                try await round(server, clients: 16, count: bench.attaches),
                try await round(server, clients: Workbench.manyClients, count: bench.attaches),
                try await round(
                    server, clients: Workbench.manyClients, count: bench.attaches / 2, isIdempotent: true),
            ]
            if let file = bench.recording(.attach, engine) {
                try await server.record(plan(server, clients: Workbench.manyClients, count: bench.attaches), into: file)
            }
            return rounds
        }
        return (sections.contains(.attach) ? rounds.map(speed) : [])
            + (sections.contains(.commits) ? rounds.map(commits) : [])
    }

    private func plan(
        _ server: ServerProcess, clients: Int, count: Int, isIdempotent: Bool = false
    ) -> LoadPlan {
        let requests = (0..<count).map { _ in Customer.new().attach(port: server.port, isIdempotent: isIdempotent) }
        return LoadPlan(clients: clients, length: .once, requests: requests)
    }

    private func round(
        _ server: ServerProcess, clients: Int, count: Int, isIdempotent: Bool = false
    ) async throws -> Round {
        let plan = plan(server, clients: clients, count: count, isIdempotent: isIdempotent)
        let before = try await server.commits()
        let measurement = try await server.measure(plan)
        return Round(
            clients: clients, isIdempotent: isIdempotent, measurement: measurement,
            commits: try await server.commits() - before)
    }

    private func speed(_ round: Round) -> Figure {
        Figure(
            section: .attach, name: "attach, \(engine), \(round.text)", value: round.measurement.perCPUSecond,
            unit: "/CPU s", perSecond: round.measurement.perSecond, base: .openSSL,
            aim: isAimed(round) ? .atLeast(0.3) : nil)
    }

    private func commits(_ round: Round) -> Figure {
        Figure(
            section: .commits, name: "commits per 1,000 attaches, \(engine), \(round.text)",
            value: round.commitsPerThousand, unit: "", aim: isAimed(round) ? .atMost(100) : nil)
    }

    /// PostgreSQL commits each attach by itself, and its fsync is off: no aim is set for it.
    private func isAimed(_ round: Round) -> Bool {
        engine == .sqlite && round.clients == Workbench.manyClients && !round.isIdempotent
    }
}
