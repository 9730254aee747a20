import Foundation
import Store
import TestSupport

/// Paydesk beside what its users would take instead: Apple's library for Python, a service of FastAPI with the same rows,
/// and nginx with a constant answer.
struct BesideSection {
    let bench: Workbench
    /// A Python with the packages of `make bench-beside`.
    let python: String

    private static let service = "Benchmarks/Speed/Beside/service.py"
    private static let nginx = "/usr/sbin/nginx"
    private static let signatures = 1_000

    /// Fewer than other sections have, because the service takes milliseconds for an attach.
    private var customers: [Customer] { (0..<max(200, bench.attaches / 10)).map { _ in Customer.new() } }

    private struct Rates {
        let attach: Measurement
        let status: Measurement
    }

    func figures() async throws -> [Figure] {
        let library = try await verifications()
        let own = try VerifySection.rateWithKnownChain()
        let service = try await fastAPI()
        let paydesk = try await paydesk()
        let figures = [
            figure("verification, Apple's library for Python", library),
            figure("verification, Paydesk", own, base: .figure("Apple's library", library)),
            figure("attach, FastAPI with the same rows, 64 clients", service.attach),
            figure(
                "attach, Paydesk, 64 clients", paydesk.attach,
                base: .figure("FastAPI", service.attach.perCPUSecond), aim: .atLeast(12)),
            figure("status, FastAPI, 64 clients", service.status),
            figure(
                "status, Paydesk, 64 clients", paydesk.status,
                base: .figure("FastAPI", service.status.perCPUSecond), aim: .atLeast(5)),
        ]
        guard Self.hasNginx else { return figures }
        let constant = try await constantAnswer()
        return figures + [
            figure("a constant answer, nginx, 64 clients", constant),
            figure("status, Paydesk, beside that", paydesk.status, base: .figure("nginx", constant.perCPUSecond)),
        ]
    }

    /// Debian starts an nginx that is installed, so that only one that is there is used.
    static var hasNginx: Bool { FileManager.default.isExecutableFile(atPath: nginx) }

    private func figure(
        _ name: String, _ measurement: Measurement, base: Figure.Base? = nil, aim: Aim? = nil
    ) -> Figure {
        Figure(
            section: .beside, name: name, value: measurement.perCPUSecond, unit: "/CPU s",
            perSecond: measurement.perSecond, base: base, aim: aim)
    }

    private func figure(_ name: String, _ rate: Double, base: Figure.Base? = nil) -> Figure {
        Figure(section: .beside, name: name, value: rate, unit: "/CPU s", base: base)
    }

    private func measure(_ server: ServerProcess, _ customers: [Customer]) async throws -> Rates {
        let port = server.port
        func once(_ customers: [Customer]) -> LoadPlan {
            LoadPlan(
                clients: Workbench.manyClients, length: .once, requests: customers.map { $0.attach(port: port) })
        }
        _ = try await server.measure(once((0..<100).map { _ in Customer.new() }))
        let attach = try await server.measure(once(customers))
        let reads = LoadPlan(
            clients: Workbench.manyClients, length: .seconds(bench.seconds),
            requests: customers.map { $0.status(port: port) })
        _ = try await server.measure(reads)
        return Rates(attach: attach, status: try await server.measure(reads))
    }

    private func paydesk() async throws -> Rates {
        let installation = try Installation(bench, on: .sqlite)
        defer { installation.remove() }
        return try await installation.whileServing { try await measure($0, customers) }
    }

    // MARK: The others

    private func environment(_ more: [String]) -> [String] {
        ["/usr/bin/env", "BESIDE_SECRET=\(Customer.secret)", "BESIDE_ROOT=\(AppleTestCertificates.rootFile)"] + more
    }

    private var program: [String] { [python, URL(fileURLWithPath: Self.service).path] }

    private func verifications() async throws -> Double {
        let file = "\(try bench.makeFolder("signed"))/signed"
        try (0..<Self.signatures).map { _ in Customer.purchase().jws }.joined(separator: "\n")
            .write(toFile: file, atomically: true, encoding: .utf8)
        let text = try await bench.run(
            environment(["BESIDE_SIGNED=\(file)"]) + program + ["verify"], name: "verify")
        guard let rate = Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw BenchFailure(description: "\(Self.service) printed no rate: \(text)")
        }
        return rate
    }

    private func fastAPI() async throws -> Rates {
        let installation = try Installation(bench, on: .sqlite)
        defer { installation.remove() }
        guard case .sqlite(let database) = try DatabaseURL(installation.databaseURL) else {
            throw BenchFailure(description: "the rows of another engine")
        }
        let file = "\(installation.folder)/statements.json"
        try JSONEncoder().encode(try await Seeder.clonesOfOneAttach(installation).ofOneUser)
            .write(to: URL(fileURLWithPath: file))
        let port = try FreePort.next()
        let settings = environment(["BESIDE_DATABASE=\(database)", "BESIDE_STATEMENTS=\(file)"])
        let server = try await ServerProcess.start(
            settings + program + ["serve", String(port)], port: port, in: try bench.makeFolder("fastapi"),
            name: "fastapi", ready: "/")
        return try await server.whileRunning { try await measure($0, customers) }
    }

    private func constantAnswer() async throws -> Measurement {
        let (port, folder) = (try FreePort.next(), try bench.makeFolder("nginx"))
        let answer = #"{"code":200,"data":{"active":true,"tier":"VIP"},"msg":"success"}"#
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder)/\($0);"
        }.joined(separator: " ")
        // A single process, because only that one's CPU time is counted.
        try """
        daemon off; master_process off; pid \(folder)/pid; error_log stderr;
        events { worker_connections 1024; }
        http {
            access_log off; keepalive_requests 100000000; \(temporary)
            server {
                listen 127.0.0.1:\(port);
                location / { default_type application/json; return 200 '\(answer)'; }
            }
        }
        """.write(toFile: "\(folder)/nginx.conf", atomically: true, encoding: .utf8)
        let server = try await ServerProcess.start(
            [Self.nginx, "-p", folder, "-c", "\(folder)/nginx.conf", "-e", "stderr"], port: port, in: folder,
            name: "nginx", ready: "/")
        return try await server.whileRunning { server in
            let requests = (0..<1_000).map { _ in Customer.new().status(port: port) }
            let plan = LoadPlan(
                clients: Workbench.manyClients, length: .seconds(bench.seconds), requests: requests)
            return try await server.measure(plan)
        }
    }
}
