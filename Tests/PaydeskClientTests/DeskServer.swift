import Crypto
import Foundation
import TestSupport
import Testing

@testable import PaydeskClient

/// The built `paydesk` with an App Store in a box, which tests may kill and start again.
actor DeskServer {
    struct Sale: Sendable {
        let id: String
        let jws: String
        let token: UUID
        let product: String

        var transaction: StoreTransaction {
            StoreTransaction(id: id, productID: product, jws: jws, appAccountToken: token)
        }
    }

    private static let secret = "user-secret-planted-in-client-tests-0123456789"

    nonisolated let port: UInt16
    nonisolated let folder: URL
    private var program: SpawnedProgram?

    nonisolated var url: URL { URL(string: "http://127.0.0.1:\(port)")! }

    private init() throws {
        port = try FreePort.next()
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("paydesk_client_\(UUID().uuidString)")
        try write(
            "Config/paydesk.yaml",
            """
            mode: development
            http: {host: 127.0.0.1, port: \(port), public_url: "http://127.0.0.1:\(port)"}
            database: {url: "sqlite:var/paydesk.db"}
            auth: {hs256_secret: "\(Self.secret)"}
            development: {appstore: true}
            meters:
              - {id: messages, period: day, timezone: Asia/Shanghai, limits: {"": 2, VIP: null}}
            """)
        try write(
            "Config/catalog.yaml",
            """
            skus:
              - {id: vip_month, name: VIP monthly, kind: non_renewing, tier: VIP, rank: 10, duration_days: 30,
                 prices: [{currency: CNY, value: 3990}], apple_product_ids: [com.example.month]}
              - {id: vip_year, name: VIP yearly, kind: non_renewing, tier: VIP, rank: 10, duration_days: 365,
                 prices: [{currency: CNY, value: 16900}], apple_product_ids: [com.example.year]}
              - {id: days, name: Days, kind: non_renewing, tier: Basic, rank: 5,
                 apple_product_ids: ["com.example.day${days}"],
                 options: [{days: 7, prices: [{currency: CNY, value: 800}]}]}
              - {id: walkie, name: Walkie-talkie, kind: non_consumable, prices: [{currency: CNY, value: 600}],
                 apple_product_ids: [com.example.walkie], attributes: {range_km: 3}}
              - {id: coins, name: Coins, kind: consumable, units: {coins: 100}, prices: [{currency: CNY, value: 600}],
                 apple_product_ids: [com.example.coins]}
            """)
        try write(
            "Config/providers/apple-iap.yaml",
            """
            account: apple-iap
            kind: apple_iap
            enabled: true
            notify_token: notify-token-of-the-box
            routing: {platforms: [ios], priority: 1}
            settings:
              apps: [{bundle_id: com.example.app}]
              # Nobody answers there: else the server would find the device's purchases in the box by itself.
              api:
                key_id: KEY1234567
                issuer_id: 57246542-96fe-1a63-e053-0824d011072a
                private_key: "file:key.p8"
                production_url: "http://127.0.0.1:9"
                sandbox_url: "http://127.0.0.1:9"
            """)
        try write("Config/key.p8", P256.Signing.PrivateKey().pemRepresentation)
        try write(
            "Config/providers/box.yaml",
            """
            account: box
            kind: sandbox
            enabled: true
            notify_token: notify-token-of-the-sandbox
            routing: {platforms: [web], priority: 1}
            settings: {contract: url, secret: "sandbox secret of the client tests"}
            """)
    }

    /// Runs a test with a server, and ends it afterwards.
    static func with(
        isolation: isolated (any Actor)? = #isolation, _ body: (DeskServer) async throws -> Void
    ) async throws {
        let server = try DeskServer()
        let result: Result<Void, any Error>
        do {
            try await server.start()
            // Else Apple's notification, not the device, would bring each purchase.
            try await server.deliver("off")
            try await body(server)
            result = .success(())
        } catch { result = .failure(error) }
        try await server.kill()
        try? FileManager.default.removeItem(at: server.folder)
        try result.get()
    }

    func start() async throws {
        let started = try SpawnedProgram(
            [try Self.program("paydesk"), "serve"], in: folder.path, name: UUID().uuidString,
            environment: Self.environment(folder))
        program = started
        for _ in 0..<1_500 {
            if await LoopbackHTTP.send("GET", "/readyz", port: port)?.status == 200 { return }
            if let status = started.ended() {
                throw SpawnedProgram.Failure(description: "serve ended with \(status): \(started.errors)")
            }
            await SpawnedProgram.pause()
        }
        throw SpawnedProgram.Failure(description: "serve is not ready: \(started.errors)")
    }

    /// `kill -9`, and its end; nothing where it does not run.
    func kill() async throws {
        guard let running = program else { return }
        program = nil
        running.send(SIGKILL)
        _ = try await running.wait()
    }

    static func environment(_ folder: URL) -> [String: String] {
        ["PATH": "/usr/bin:/bin", "HOME": folder.path, "TMPDIR": folder.path]
    }

    /// The path of a program beside the test bundle.
    static func program(_ name: String) throws -> String {
        var folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        for _ in 0..<5 {
            folder.deleteLastPathComponent()
            let candidate = folder.appendingPathComponent(name).path
            var isFolder: ObjCBool = false
            if FileManager.default.fileExists(atPath: candidate, isDirectory: &isFolder), !isFolder.boolValue {
                return candidate
            }
        }
        return try #require(nil as String?, "no \(name) beside \(CommandLine.arguments[0])")
    }

    private nonisolated func write(_ name: String, _ text: String) throws {
        let file = folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    // MARK: Users and sales

    /// A token of the app's own login.
    ///
    /// - Parameter lifetime: seconds.
    nonisolated static func token(_ user: String, lifetime: Int64 = 3_600) -> String {
        let now = Int64(Date().timeIntervalSince1970)
        func part(_ text: String) -> String {
            Data(text.utf8).base64EncodedString().replacingOccurrences(of: "+", with: "-")
                .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
        }
        let input =
            part(#"{"alg":"HS256","typ":"JWT"}"#) + "."
            + part(#"{"sub":"\#(user)","iat":\#(now),"exp":\#(now + lifetime),"jti":"\#(UUID().uuidString)"}"#)
        let code = HMAC<SHA256>.authenticationCode(for: Data(input.utf8), using: SymmetricKey(data: Data(secret.utf8)))
        let signature = Data(code).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
        return "\(input).\(signature)"
    }

    /// A client without retries' pauses in real time.
    nonisolated func desk(
        _ login: @escaping @Sendable () async throws -> String, in folder: URL? = nil, time: ClientTime = .system,
        transport: any ClientTransport = URLSessionTransport()
    ) -> Paydesk {
        Paydesk(
            baseURL: url, token: login,
            storage: ClientStorage(folder: folder ?? self.folder.appendingPathComponent("device")),
            language: .english, transport: transport, time: time)
    }

    nonisolated func desk(of user: String) -> Paydesk {
        let token = Self.token(user)
        return desk { token }
    }

    /// Sells a product in the box.
    ///
    /// - Parameter user: the buyer, whose `appAccountToken` the transaction has; nil for one without a token.
    nonisolated func sell(_ product: String = "com.example.month", to user: String?) async throws -> Sale {
        let token = try await user.asyncMap { try await self.desk(of: $0).membership().appAccountToken }
        var body = ["product_id": product]
        body["app_account_token"] = token?.uuidString.lowercased()
        let made = try await box("/purchases", body)
        return Sale(
            id: try #require(made["transaction_id"]?.text), jws: try #require(made["signed_transaction"]?.text),
            token: token ?? UUID(), product: product)
    }

    /// Decides how Apple's notifications travel from now on.
    nonisolated func deliver(_ mode: String) async throws { _ = try await box("/delivery", ["mode": mode]) }

    /// Gives a transaction's money back in the box.
    nonisolated func refund(_ transaction: String) async throws {
        _ = try await box("/transactions/\(transaction)/refund", [:])
    }

    private nonisolated func box(_ path: String, _ body: [String: String]) async throws -> [String: AttributeValue] {
        let text = String(decoding: try JSONEncoder().encode(body), as: UTF8.self)
        let reply = try #require(await LoopbackHTTP.send("POST", "/dev/appstore\(path)", port: port, body: text))
        try #require(reply.status < 300, "\(path): \(reply.body)")
        return try JSONDecoder().decode([String: AttributeValue].self, from: Data(reply.body.utf8))
    }

    /// The number of orders of a user.
    nonisolated func orders(_ user: String) async throws -> Int {
        let page: Page<ClientOrder> = try await desk(of: user).call("GET", "/v1/public/orders")
        return page.items.count
    }
}

extension Optional {
    func asyncMap<Value>(_ body: (Wrapped) async throws -> Value) async rethrows -> Value? {
        guard let self else { return nil }
        return try await body(self)
    }
}
