import Foundation
import NIOCore
import TestSupport

/// Status reads and attaches of a small and of a large installation.
struct GrowthSection {
    let bench: Workbench
    let engine: Engine
    let progress: (String) -> Void

    private static let small = 1_000
    /// The number of users who ask, chosen evenly; the same in both installations, so that only the stored amount
    /// differs.
    private static let asking = 999
    /// The number of users who ask so seldom that a server remembers neither their tokens nor its answers.
    private static let strangers = 20_000

    /// A running server and the requests that it gets.
    private struct Size {
        let grants: Int
        let server: ServerProcess
        let asking: [ByteBuffer]
    }

    func figures() async throws -> [Figure] {
        let (small, large) = (try await filled(Self.small), try await filled(bench.grants))
        defer {
            small.remove()
            large.remove()
        }
        return try await small.whileServing { small in
            try await large.whileServing { large in
                for server in [small, large] { try await server.settle() }
                let sizes = [try await size(Self.small, small), try await size(bench.grants, large)]
                return try await compared("status", sizes, aim: .atLeast(0.8)) { size in
                    LoadPlan(
                        clients: Workbench.manyClients, length: .seconds(bench.seconds), requests: size.asking)
                }
                    + compared("attach", sizes, aim: nil) { size in
                        LoadPlan(
                            clients: Workbench.manyClients, length: .once,
                            requests: (0..<bench.attaches / 3).map { _ in Customer.new().attach(port: size.server.port)
                            })
                    }
                    + [try await forgotten(sizes[1])]
            }
        }
    }

    /// Status reads of users whom the server does not remember, so that each verifies the token and reads the database.
    private func forgotten(_ size: Size) async throws -> Figure {
        let names = stride(from: 1, to: size.grants, by: max(1, size.grants / Self.strangers)).map {
            Customer.name(UInt32($0))
        }
        let requests = names.map { Customer(name: $0).status(port: size.server.port) }.shuffled()
        let measured = try await size.server.measure(
            LoadPlan(clients: Workbench.manyClients, length: .seconds(bench.seconds), requests: requests))
        return Figure(
            section: .growth, name: "status, \(engine), \(size.grants) grants, \(names.count) of their users",
            value: measured.perCPUSecond, unit: "/CPU s", perSecond: measured.perSecond)
    }

    private func compared(
        _ what: String, _ sizes: [Size], aim: Aim?, _ plan: @escaping (Size) -> LoadPlan
    ) async throws -> [Figure] {
        // The first load of each server finds caches cold, and is not counted.
        for size in sizes { _ = try await size.server.measure(plan(size)) }
        let measured = try await Measurement.inTurn(sizes.map { size in { try await size.server.measure(plan(size)) } })
        let base = Figure.Base.figure("that at \(Self.small)", measured[0].perCPUSecond)
        return sizes.indices.map { index in
            Figure(
                section: .growth, name: "\(what), \(engine), \(sizes[index].grants) grants",
                value: measured[index].perCPUSecond, unit: "/CPU s", perSecond: measured[index].perSecond,
                base: index == 0 ? nil : base, aim: index == 0 ? nil : aim)
        }
    }

    private func filled(_ grants: Int) async throws -> Installation {
        let installation = try Installation(bench, on: engine)
        let started = ContinuousClock.now
        try await Seeder.fill(installation, to: grants)
        progress("\(engine) with \(grants) grants, filled in \(Int((ContinuousClock.now - started).seconds)) s")
        return installation
    }

    private func size(_ grants: Int, _ server: ServerProcess) async throws -> Size {
        let step = max(1, grants / Self.asking)
        let names = stride(from: 1, to: grants, by: step).map { Customer.name(UInt32($0)) }
        try await check(server, names)
        let asking = names.map { Customer(name: $0).status(port: server.port) }.shuffled()
        return Size(grants: grants, server: server, asking: asking)
    }

    /// Checks that the first and the last user of the filled database own a pass.
    private func check(_ server: ServerProcess, _ names: [String]) async throws {
        for name in [names.first, names.last].compactMap(\.self) {
            let reply = await LoopbackHTTP.send(
                "GET", "/v1/public/iap/apple/status", port: server.port,
                headers: ["Authorization": "Bearer \(Customer(name: name).token)"])
            guard let body = reply?.body, body.contains(#""active":true"#) else {
                throw BenchFailure(description: "\(name) owns nothing: \(reply?.body ?? "no answer")")
            }
        }
    }
}
