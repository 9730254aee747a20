import Foundation
import TestSupport
import Testing

/// The built `paydesk` in a folder of its own, in development mode with the sandbox.
struct Installation {
    static let sandboxSecret = "sandbox secret of the process tests"
    static let notifyToken = "notify-token-of-the-process-tests"

    let folder: TemporaryFolder
    let port: UInt16

    init(
        mode: String = "development", database: String = "sqlite:var/paydesk.db", delay: Int = 0,
        proxies: String = "[]", more: String = ""
    ) throws {
        folder = try TemporaryFolder()
        port = try FreePort.next()
        try folder.write(
            "Config/paydesk.yaml",
            """
            mode: \(mode)
            http:
              {host: 127.0.0.1, port: \(port), public_url: "http://127.0.0.1:\(port)", trusted_proxies: \(proxies)}
            database: {url: "\(database)"}
            \(more)
            """)
        try folder.write(
            "Config/catalog.yaml",
            """
            skus:
              - {id: vip_month, name: VIP monthly, kind: non_renewing, tier: VIP, rank: 10, duration_days: 30,
                 prices: [{currency: CNY, value: 3990}], apple_product_ids: [com.example.month]}
              - {id: coins, name: Coins, kind: consumable, units: {coins: 100}, prices: [{currency: CNY, value: 600}]}
            """)
        try folder.write(
            "Config/providers/box.yaml",
            """
            account: box
            kind: sandbox
            enabled: true
            notify_token: \(Self.notifyToken)
            routing: {platforms: [web], priority: 1}
            settings: {contract: url, secret: "\(Self.sandboxSecret)", delay_ms: \(delay)}
            """)
    }

    /// The path of the program beside the test bundle.
    static func program() throws -> String {
        var folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        for _ in 0..<5 {
            folder.deleteLastPathComponent()
            let candidate = folder.appendingPathComponent("paydesk").path
            var isFolder: ObjCBool = false
            if FileManager.default.fileExists(atPath: candidate, isDirectory: &isFolder), !isFolder.boolValue {
                return candidate
            }
        }
        return try #require(nil as String?, "no paydesk beside \(CommandLine.arguments[0])")
    }

    func start(_ arguments: String..., name: String = UUID().uuidString) throws -> SpawnedProgram {
        let environment = ["PATH": "/usr/bin:/bin", "HOME": folder.path, "TMPDIR": folder.path]
        return try SpawnedProgram(
            [try Self.program()] + arguments, in: folder.path, name: name, environment: environment)
    }

    struct Ended {
        let status: Int32
        let output: String
        let errors: String
    }

    /// Runs a command and waits for its end.
    func run(_ arguments: String...) async throws -> Ended { try await command(arguments) }

    /// - Parameter more: environment variables beside the necessary ones.
    func command(_ arguments: [String], environment more: [String: String] = [:]) async throws -> Ended {
        let environment = ["PATH": "/usr/bin:/bin", "HOME": folder.path, "TMPDIR": folder.path].merging(more) { $1 }
        let program = try SpawnedProgram(
            [try Self.program()] + arguments, in: folder.path, name: UUID().uuidString, environment: environment)
        let status = try await program.wait()
        return Ended(status: status, output: program.output, errors: program.errors)
    }

    /// Starts `serve` and returns after it is ready.
    func serve() async throws -> SpawnedProgram {
        let server = try start("serve")
        for _ in 0..<1_500 {
            if await LoopbackHTTP.send("GET", "/readyz", port: port)?.status == 200 { return server }
            if let status = server.ended() {
                throw SpawnedProgram.Failure(description: "serve ended with \(status): \(server.errors)")
            }
            await SpawnedProgram.pause()
        }
        server.send(SIGKILL)
        throw SpawnedProgram.Failure(description: "serve is not ready: \(server.errors)")
    }

    /// Runs the body while the server runs, and stops the server afterwards, also after an error.
    func whileServing(_ body: (SpawnedProgram) async throws -> Void) async throws {
        let server = try await serve()
        do { try await body(server) } catch {
            server.send(SIGKILL)
            _ = try await server.wait()
            throw error
        }
        server.send(SIGTERM)
        #expect(try await server.wait() == 0)
    }

    func token(_ user: String = "alice") async throws -> String {
        let made = try await run("token", "--user", user)
        try #require(made.status == 0, "\(made.errors)")
        return made.output.trimmingCharacters(in: .newlines)
    }

    func call(_ method: String, _ path: String, _ bearer: String, _ body: String = "") async throws -> [String: Any] {
        let reply = try #require(
            await LoopbackHTTP.send(
                method, path, port: port, headers: ["Authorization": "Bearer \(bearer)"], body: body))
        try #require(reply.status == 200, "\(reply.body)")
        let json = try JSONSerialization.jsonObject(with: Data(reply.body.utf8)) as? [String: Any]
        return try #require(json?["data"] as? [String: Any])
    }

    /// Pays a checkout on the sandbox's page, and returns the order's id.
    func buy(_ token: String, sku: String = "vip_month") async throws -> String {
        let contract = try await call(
            "POST", "/v1/public/checkout", token, #"{"sku":"\#(sku)","platform":"web","currency":"CNY"}"#)
        let payment = try #require(contract["payment_id"] as? String)
        let paid = await LoopbackHTTP.send(
            "POST", "/sandbox/\(payment)", port: port,
            headers: ["Content-Type": "application/x-www-form-urlencoded"], body: "outcome=succeed")
        try #require(paid?.status == 200)
        return try #require(contract["order_id"] as? String)
    }

    func status(_ order: String, _ token: String) async throws -> String? {
        try await call("GET", "/v1/public/orders/\(order)", token)["status"] as? String
    }
}
