import Foundation
import Store
import TestSupport

/// A folder with a configuration of `paydesk serve`, and the database that it names.
struct Installation: Sendable {
    static let product = "com.example.vip.month"
    /// The limits that are on, each with its default value.
    enum Limits {
        case all
        case concurrency
        case none

        fileprivate var yaml: String {
            let off =
                "user_per_second: 0, user_burst: 0, key_per_second: 0, key_burst: 0, sessions_per_minute: 0, "
                + "pages_per_second: 0, pages_burst: 0"
            return switch self {
            case .all: ""
            case .concurrency: "limits: {\(off)}"
            case .none: "limits: {\(off), concurrent: 0}"
            }
        }
    }

    /// The key of all nodes of one database: each must open the secrets that another has sealed.
    private static let secretKey = "dGhlIGJlbmNobWFyaydzIGtleTogMzIgYnl0ZXMuLi4="

    /// The path at which the sandbox account is notified.
    static let sandboxNotifications = "/v1/notify/notify-token-of-the-sandbox"
    /// The secret that signs its notifications.
    static let sandboxSecret = "the benchmark's secret of the sandbox"
    /// An account of the sandbox provider, which plays a payment service within the server.
    static let sandbox = """
        account: box
        kind: sandbox
        enabled: true
        notify_token: notify-token-of-the-sandbox
        routing: {platforms: [web], priority: 1}
        settings: {contract: url, secret: "\(sandboxSecret)"}
        """

    let folder: String
    let port: UInt16
    /// The same as `database.url`, but with an absolute path.
    let databaseURL: String
    private let bench: Workbench

    /// Writes the configuration and, for PostgreSQL, creates a database.
    init(_ bench: Workbench, on engine: Engine, limits: Limits = .none, privateWebhooks: Bool = false) throws {
        let folder = try bench.makeFolder("desk")
        let port = try FreePort.next()
        let databaseURL: String
        switch engine {
        case .sqlite: databaseURL = "sqlite:\(folder)/var/paydesk.db"
        case .postgres:
            let cluster = try PostgresCluster.running()
            let name = "bench_\(port)"
            try cluster.administer("CREATE DATABASE \(name)")
            databaseURL = "postgres://paydesk@127.0.0.1:\(cluster.port)/\(name)?sslmode=disable&gssencmode=disable"
        }
        try self.init(
            bench, in: folder, port: port, databaseURL: databaseURL, limits: limits, privateWebhooks: privateWebhooks)
    }

    /// Another node on the same database.
    init(_ bench: Workbench, like other: Installation) throws {
        try self.init(
            bench, in: try bench.makeFolder("desk"), port: try FreePort.next(), databaseURL: other.databaseURL,
            limits: .none, privateWebhooks: false)
    }

    private init(
        _ bench: Workbench, in folder: String, port: UInt16, databaseURL: String, limits: Limits, privateWebhooks: Bool
    ) throws {
        self.bench = bench
        self.folder = folder
        self.port = port
        self.databaseURL = databaseURL
        try FileManager.default.createDirectory(
            atPath: "\(folder)/Config/providers", withIntermediateDirectories: true)
        try write("paydesk.yaml", main(limits: limits, privateWebhooks: privateWebhooks))
        try write("catalog.yaml", Self.catalog)
        try write("providers/apple-iap.yaml", Self.account)
    }

    /// Writes the file of one more account.
    func addAccount(_ name: String, _ yaml: String) throws { try write("providers/\(name).yaml", yaml) }

    private func write(_ name: String, _ text: String) throws {
        try text.write(toFile: "\(folder)/Config/\(name)", atomically: true, encoding: .utf8)
    }

    private func main(limits: Limits, privateWebhooks: Bool) -> String {
        """
        mode: development
        http: {host: 127.0.0.1, port: \(port), public_url: "http://127.0.0.1:\(port)"}
        database: {url: "\(databaseURL)"}
        auth: {hs256_secret: "\(Customer.secret)"}
        secrets: {keys: ["\(Self.secretKey)"]}
        billing: {per_second: 10000}
        \(limits.yaml)
        webhooks: {allow_private_networks: \(privateWebhooks)}
        """
    }

    /// The pass that is attached, the SKUs that ``OrderSeeder`` gives its orders (each must exist, as an order names a
    /// stored SKU), and a subscription that Paydesk renews.
    private static let catalog = """
        skus:
          - {id: vip_month, name: VIP monthly, kind: non_renewing, tier: VIP, rank: 10, duration_days: 30,
             prices: [{currency: CNY, value: 3990}], apple_product_ids: [\(product)]}
          - {id: vip_year, name: VIP yearly, kind: non_renewing, tier: VIP, rank: 10, duration_days: 365,
             prices: [{currency: CNY, value: 39900}]}
          - {id: club_month, name: Club, kind: subscription, renewal: managed, tier: Club, rank: 20,
             period: {unit: month, count: 1}, grace_days: 3, prices: [{currency: CNY, value: 990}]}
        """

    private static let account = """
        account: apple-iap
        kind: apple_iap
        enabled: true
        notify_token: notify-token-of-the-benchmark
        routing: {platforms: [ios], priority: 1}
        settings:
          apps: [{bundle_id: com.example.app}]
          environments: [Production, Sandbox]
          root_certificates: ["\(AppleTestCertificates.rootFile)"]
        """

    /// Starts `paydesk serve`, runs the body and stops the server.
    ///
    /// - Parameter place: changes the command, for example into one that runs on one core.
    func whileServing<T>(
        on place: ([String]) -> [String] = { $0 }, _ body: (ServerProcess) async throws -> T
    ) async throws -> T {
        let server = try await ServerProcess.start(
            place([bench.paydesk, "serve"]), port: port, in: folder, name: "serve", ready: "/readyz")
        return try await server.whileRunning(body)
    }

    /// Starts `paydesk serve` for each installation, runs the body and stops the servers.
    ///
    /// - Parameter running: servers that run already, which the body gets first.
    static func whileServing<T>(
        _ installations: [Installation], beside running: [ServerProcess] = [],
        _ body: ([ServerProcess]) async throws -> T
    ) async throws -> T {
        guard let next = installations.first else { return try await body(running) }
        return try await next.whileServing { server in
            try await whileServing(Array(installations.dropFirst()), beside: running + [server], body)
        }
    }

    /// Counts rows of a PostgreSQL database.
    ///
    /// - Parameter rows: the name of a table, or the name and a condition, as in `events WHERE seq IS NULL`.
    func count(_ rows: String) throws -> Int {
        guard case .postgres(let address) = try DatabaseURL(databaseURL) else {
            throw BenchFailure(description: "the rows of another engine")
        }
        let connection = try PostgresConnection(address, settings: PostgresSettings(), by: .now + .seconds(5))
        return Int(try connection.run("SELECT count(*) AS count FROM \(rows)").first?.int("count") ?? 0)
    }

    /// Gathers statistics and tidies the tables of PostgreSQL.
    ///
    /// Its own housekeeping, which does so within a minute in production, is off in a throwaway server. A plan that was
    /// made for empty tables reads all rows of one environment for each purchase.
    func analyze() throws {
        guard case .postgres(let address) = try DatabaseURL(databaseURL) else { return }
        var settings = PostgresSettings()
        settings.statementTimeout = .seconds(300)
        let connection = try PostgresConnection(address, settings: settings, by: .now + .seconds(5))
        try connection.run("VACUUM ANALYZE")
    }

    /// Removes the folder; a PostgreSQL database is removed with its server.
    func remove() { try? FileManager.default.removeItem(atPath: folder) }
}

extension ServerProcess {
    /// Commits of the server's store since its start.
    func commits() async throws -> Int { try await metric("paydesk_store_commits_total") }

    /// Reads a whole number from `/metrics`.
    ///
    /// - Parameter metric: the name, with its labels where it has some.
    func metric(_ metric: String) async throws -> Int {
        let name = metric + " "
        let text = await LoopbackHTTP.send("GET", "/metrics", port: port)?.body ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        guard let count = line.flatMap({ Int($0.dropFirst(name.count)) }) else {
            throw BenchFailure(description: "/metrics has no \(name)")
        }
        return count
    }
}
