import NIOCore
import TestSupport

/// Status reads of users who own a pass, beside the framework's own empty route.
struct StatusSection {
    let bench: Workbench
    let engine: Engine

    private static let owners = 1_000
    /// The tokens of each owner in the measurement with more tokens than a server can remember.
    private static let tokens = 20

    private struct Servers {
        let empty: ServerProcess
        let desk: ServerProcess
        /// The same server with rate limits.
        let limited: ServerProcess
        let owners: [Customer]
    }

    func figures() async throws -> [Figure] {
        let (desk, limited) = (try Installation(bench, on: engine), try Installation(bench, on: engine, limits: .all))
        defer {
            desk.remove()
            limited.remove()
        }
        let empty = try await ServerProcess.startEmpty(bench)
        return try await empty.whileRunning { empty in
            try await desk.whileServing { desk in
                try await limited.whileServing { limited in
                    let owners = (0..<Self.owners).map { _ in Customer.new() }
                    return try await figures(Servers(empty: empty, desk: desk, limited: limited, owners: owners))
                }
            }
        }
    }

    private func figures(_ servers: Servers) async throws -> [Figure] {
        for server in [servers.desk, servers.limited] {
            let attaches = servers.owners.map { $0.attach(port: server.port) }
            _ = try await server.measure(
                LoadPlan(clients: Workbench.manyClients, length: .once, requests: attaches))
            _ = try await server.measure(reads(server, servers, clients: Workbench.manyClients))
        }
        var figures: [Figure] = []
        for clients in [1, 16] {
            let measured = try await Measurement.inTurn([
                { try await servers.empty.measure(self.empty(servers, clients: clients)) },
                { try await servers.desk.measure(self.reads(servers.desk, servers, clients: clients)) },
            ])
            figures += compared(measured[0], measured[1], clients: clients)
        }
        figures += try await measureMany(servers)
        if let file = bench.recording(.status, engine) {
            try await servers.desk.record(reads(servers.desk, servers, clients: Workbench.manyClients), into: file)
        }
        return figures
    }

    private func measureMany(_ servers: Servers) async throws -> [Figure] {
        let clients = Workbench.manyClients
        let strangers = servers.owners.flatMap { $0.again(Self.tokens) }.shuffled().map {
            $0.status(port: servers.desk.port)
        }
        let measured = try await Measurement.inTurn([
            { try await servers.empty.measure(self.empty(servers, clients: clients)) },
            { try await servers.desk.measure(self.reads(servers.desk, servers, clients: clients)) },
            { try await servers.empty.measure(self.empty(servers, clients: clients, isBare: true)) },
            { try await servers.limited.measure(self.reads(servers.limited, servers, clients: clients)) },
        ])
        // Last, because its tokens drive those of the other measurements out of the server's memory.
        let forgotten = try await servers.desk.measure(plan(clients, strangers))
        return compared(measured[0], measured[1], clients: clients, aim: .atLeast(0.5)) + [
            figure("empty route, request without a token", measured[2]),
            figure(
                "status, \(engine), against that", measured[1],
                base: .figure("that route", measured[2].perCPUSecond)),
            figure(
                "status, \(engine), rate limits on", measured[3],
                base: .figure("the same without", measured[1].perCPUSecond)),
            figure(
                "status, \(engine), \(Self.owners * Self.tokens) tokens", forgotten,
                base: .figure("the empty route", measured[0].perCPUSecond)),
        ]
    }

    private func compared(
        _ empty: Measurement, _ status: Measurement, clients: Int, aim: Aim? = nil
    ) -> [Figure] {
        let text = clients == 1 ? "1 client" : "\(clients) clients"
        return [
            figure("empty route, \(text)", empty),
            figure(
                "status, \(engine), \(text)", status, base: .figure("the empty route", empty.perCPUSecond), aim: aim),
        ]
    }

    private func figure(
        _ name: String, _ measurement: Measurement, base: Figure.Base? = nil, aim: Aim? = nil
    ) -> Figure {
        Figure(
            section: .status, name: name, value: measurement.perCPUSecond, unit: "/CPU s",
            perSecond: measurement.perSecond, base: base, aim: aim)
    }

    private func reads(_ server: ServerProcess, _ servers: Servers, clients: Int) -> LoadPlan {
        plan(clients, servers.owners.map { $0.status(port: server.port) })
    }

    /// - Parameter isBare: leaves out the tokens, which otherwise make both servers parse heads of the same length.
    private func empty(_ servers: Servers, clients: Int, isBare: Bool = false) -> LoadPlan {
        let port = servers.empty.port
        return plan(
            clients, servers.owners.map { RequestBytes.get("/", port: port, token: isBare ? nil : $0.token) })
    }

    private func plan(_ clients: Int, _ requests: [ByteBuffer]) -> LoadPlan {
        LoadPlan(clients: clients, length: .seconds(bench.seconds), requests: requests)
    }
}
