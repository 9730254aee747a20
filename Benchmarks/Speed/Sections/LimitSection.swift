import Foundation
import Store

/// The greatest rate of attaches that this machine allows, and the share of it that the server reaches.
///
/// An attach verifies a signature, is a request of the framework's and leaves rows. The limit is one over the sum of what
/// these three cost alone: the verification in this process, the framework's empty route, and the same rows written by a C
/// program with prepared statements (`Beside/rows.c`).
struct LimitSection {
    let bench: Workbench

    /// The attaches that share a commit, about as many as 64 clients give the server.
    private static let group = 48
    private static let source = "Benchmarks/Speed/Beside/rows.c"

    func figures() async throws -> [Figure] {
        let verifications = try VerifySection.rateWithKnownChain()
        let requests = try await emptyRoute()
        let rows = try await rows()
        let limit = 1 / (1 / verifications + 1 / requests + 1 / rows)
        let attach = try await attaches()
        return [
            figure("verification of a purchase, in this process", verifications),
            figure("empty route, 64 clients, the requests of a status", requests),
            figure("rows of an attach by a C program, \(Self.group) in a commit", rows),
            figure("limit of an attach: the three one after the other", limit),
            Figure(
                section: .limit, name: "attach, SQLite, 64 clients, of its limit", value: attach.perCPUSecond,
                unit: "/CPU s", perSecond: attach.perSecond, base: .figure("the limit", limit), aim: .atLeast(0.5)),
        ] + (try await NotificationLimit(bench: bench, program: self).figures(emptyRoute: requests))
    }

    func figure(_ name: String, _ rate: Double) -> Figure {
        Figure(section: .limit, name: name, value: rate, unit: "/CPU s")
    }

    private func emptyRoute() async throws -> Double {
        try await ServerProcess.startEmpty(bench).whileRunning { empty in
            let requests = (0..<1_000).map { _ in
                RequestBytes.get("/", port: empty.port, token: Customer.new().token)
            }
            let plan = LoadPlan(
                clients: Workbench.manyClients, length: .seconds(bench.seconds), requests: requests)
            let measured = try await Measurement.inTurn([{ try await empty.measure(plan) }])
            return measured[0].perCPUSecond
        }
    }

    private func attaches() async throws -> Measurement {
        let installation = try Installation(bench, on: .sqlite)
        defer { installation.remove() }
        return try await installation.whileServing { server in
            func plan(_ count: Int) -> LoadPlan {
                LoadPlan(
                    clients: Workbench.manyClients, length: .once,
                    requests: (0..<count).map { _ in Customer.new().attach(port: server.port) })
            }
            _ = try await server.measure(plan(500))
            return try await server.measure(plan(bench.attaches))
        }
    }

    /// Attaches per second of CPU time by the C program, in a database of the server's with the rows of one attach.
    private func rows() async throws -> Double {
        let installation = try Installation(bench, on: .sqlite)
        defer { installation.remove() }
        guard case .sqlite(let database) = try DatabaseURL(installation.databaseURL) else {
            throw BenchFailure(description: "the rows of another engine")
        }
        return try await rate(
            of: try await Seeder.clonesOfOneAttach(installation).ofOneUser, in: database, installation)
    }

    /// Operations per second of CPU time by the C program, each of these statements with the number of the operation.
    func rate(of statements: [String], in database: String, _ installation: Installation) async throws -> Double {
        let (program, file) = ("\(installation.folder)/rows", "\(installation.folder)/rows.sql")
        try statements.map { $0 + ";" }.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
        let source = URL(fileURLWithPath: Self.source).path
        guard FileManager.default.fileExists(atPath: source) else {
            throw BenchFailure(description: "there is no \(Self.source); run this in a checkout")
        }
        try await bench.run(["cc", "-O2", "-o", program, source, "-lsqlite3"], name: "cc")
        let seconds = try await bench.run(
            [program, database, file, String(bench.attaches), String(Self.group)], name: "rows")
        guard let seconds = Double(seconds.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw BenchFailure(description: "rows.c printed no time: \(seconds)")
        }
        return Double(bench.attaches) / seconds
    }
}
