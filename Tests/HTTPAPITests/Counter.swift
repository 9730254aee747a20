import Domain
import Foundation
import Gateway
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JWTKit
import Logging
import NIOCore
import ProviderKit
import Store
import Synchronization
import TestSupport
import Testing

@testable import HTTPAPI

/// The settings of a ``Counter``.
struct CounterSetup: Sendable {
    var desk = GatewayFixtureSetup()
    var corsOrigins: [String] = ["https://app.example"]
    var limits = APISettings.Limits(
        userPerSecond: 0, userBurst: 0, keyPerSecond: 0, keyBurst: 0, sessionsPerMinute: 0, concurrent: 0)
    var keys = UserKeys.secret(Array(Counter.userSecret.utf8))
    var doctor: @Sendable (Bool) async throws -> [DoctorItem] = { _ in [] }
    var issuer = ""
    var audience = ""
}

/// The whole HTTP API with a ``GatewayFixture``, without a socket.
struct Counter: Sendable {
    static let userSecret = "user-secret-planted-in-tests-0123456789"

    let desk: GatewayFixture
    let api: API
    let client: any TestClientProtocol
    let adminKey: String
    /// The document of ``api``, kept because its routes are many.
    let documented: DocumentedAnswers

    init(desk: GatewayFixture, api: API, client: any TestClientProtocol, adminKey: String) throws {
        self.desk = desk
        self.api = api
        self.client = client
        self.adminKey = adminKey
        documented = try DocumentedAnswers.of(api)
    }

    /// Makes a user's token like the app's own login.
    func token(
        _ user: String = "alice", lifetime: Int64 = 3_600, claims: [String: JSONValue] = [:],
        secret: String = Counter.userSecret
    ) async throws -> String {
        let now = desk.clock.now.rawValue
        let standard: [String: JSONValue] = [
            "sub": .string(user), "iat": .integer(now), "exp": .integer(now + lifetime),
        ]
        let keys = await JWTKeyCollection().add(hmac: HMACKey(from: Data(secret.utf8)), digestAlgorithm: .sha256)
        return try await keys.sign(TestClaims(members: standard.merging(claims) { $1 }.filter { $1 != .null }))
    }

    func key(_ scopes: String..., partner: String? = nil) async throws -> IssuedKey {
        try await desk.gateway.keys.create(name: "test", partner: partner, scopes: scopes, context: .test)
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, _ bearer: String? = nil, body: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> Reply {
        var fields = HTTPFields()
        if let bearer { fields[.authorization] = "Bearer \(bearer)" }
        if body != nil { fields[.contentType] = "application/json" }
        for (name, value) in headers { fields[try #require(HTTPField.Name(name))] = value }
        let response = try await client.execute(
            uri: path, method: method, headers: fields, body: body.map { ByteBuffer(string: $0) })
        let reply = Reply(
            status: response.status.code, headers: response.headers, text: String(buffer: response.body))
        let faults = documented.faults(method, path, sent: body, reply)
        #expect(faults.isEmpty, "the OpenAPI document says otherwise of \(method) \(path): \(reply)")
        return reply
    }

    func get(_ path: String, _ bearer: String? = nil, headers: [String: String] = [:]) async throws -> Reply {
        try await send(.get, path, bearer, headers: headers)
    }

    func post(
        _ path: String, _ bearer: String? = nil, _ body: String = "{}", headers: [String: String] = [:]
    ) async throws -> Reply {
        try await send(.post, path, bearer, body: body, headers: headers)
    }

    /// Makes a checkout and returns its contract.
    func checkout(_ bearer: String, _ more: String = "", sku: String = "vip_month") async throws -> JSONValue {
        desk.clock.tick()
        let reply = try await post("/v1/public/checkout", bearer, Self.ask(more, sku: sku))
        try #require(reply.status == 200, "\(reply.text)")
        return try reply.data
    }

    static func ask(_ more: String = "", sku: String = "vip_month") -> String {
        #"{"sku":"\#(sku)","platform":"web","currency":"\#(sku == "walkie" ? "USD" : "CNY")"\#(more)}"#
    }

    /// Delivers a sandbox notification over HTTP.
    ///
    /// - Parameter value: an amount in minor units, instead of the contract's.
    func notify(
        _ type: String, _ contract: JSONValue, secret: String = GatewayFixture.sandboxSecret, value: Int64? = nil
    ) async throws -> Reply {
        let notice = SandboxNotice(
            event_id: "\(contract.text("payment_id")) \(type)", payment_id: contract.text("payment_id"), type: type,
            amount: GatewayFixture.money(value ?? contract["amount"].int("value"), contract["amount"].text("currency")),
            occurred_at: desk.clock.now.rawValue)
        let signed = try notice.signed(at: desk.clock.now, secret: secret)
        let path = "/v1/notify/\(GatewayFixture.notifyToken(contract.text("provider")))"
        let headers = Dictionary(uniqueKeysWithValues: signed.headers.map { ($0.name, $0.value) })
        return try await send(.post, path, body: String(decoding: signed.body, as: UTF8.self), headers: headers)
    }

    /// Counts the rows of every table that calls write, none of which a refused call may change.
    func traces() async throws -> [Int64] {
        var counts: [Int64] = []
        for table in [
            "orders", "payments", "refunds", "grants", "skus", "api_keys",
            "notifications WHERE status <> 'rejected'", "usage", "events", "ledger",
        ] {
            counts.append(try await desk.count(table))
        }
        return counts
    }
}

/// An answer, which can be read as JSON.
struct Reply: Sendable, CustomStringConvertible {
    let status: Int
    let headers: HTTPFields
    let text: String

    var description: String { "\(status) \(text)" }

    var json: JSONValue { get throws { try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) } }
    var data: JSONValue { get throws { try json["data"] } }
    /// The id of the error, also in OpenIAP's form.
    var error: String? { try? json["errors"] == .null ? json.text("error") : json["errors"][0].text("code") }
    var field: String? { if case .string(let field)? = try? json["details"]["field"] { field } else { nil } }

    func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }
}

struct TestClaims: JWTPayload {
    let members: [String: JSONValue]

    init(members: [String: JSONValue]) { self.members = members }
    init(from decoder: any Decoder) throws { members = try [String: JSONValue](from: decoder) }
    func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }
    func verify(using _: some JWTAlgorithm) async throws {}
}

extension JSONValue {
    subscript(_ name: String) -> JSONValue {
        guard case .object(let members) = self else { return .null }
        return members[name] ?? .null
    }

    subscript(_ index: Int) -> JSONValue {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return .null }
        return elements[index]
    }

    var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
    var names: Set<String> { if case .object(let members) = self { Set(members.keys) } else { [] } }

    func text(_ name: String) -> String { if case .string(let text) = self[name] { text } else { "" } }
    func int(_ name: String) -> Int64 { if case .integer(let number) = self[name] { number } else { -1 } }
}

/// Runs a test with the HTTP API, and then checks every invariant of the database.
func withCounter(
    on engine: TestEngine = .sqlite, _ setup: CounterSetup = CounterSetup(),
    _ body: @Sendable (Counter) async throws -> Void
) async throws {
    try await withDesk(on: engine, setup.desk) { desk in
        let api = API(
            gateway: desk.gateway,
            settings: APISettings(
                corsOrigins: setup.corsOrigins, limits: setup.limits,
                tokens: UserTokenRules(keys: setup.keys, issuer: setup.issuer, audience: setup.audience),
                version: "0.0.0-test", metricsText: { "# TYPE test counter\ntest 1\n" }, doctor: setup.doctor),
            logger: setup.desk.logger)
        let admin = try await desk.gateway.keys.create(
            name: "admin", partner: nil, scopes: ["admin"], context: .test)
        let app = Application(router: api.router(), logger: Logger(label: "http") { _ in SwiftLogNoOpLogHandler() })
        try await app.test(.router) { client in
            try await body(try Counter(desk: desk, api: api, client: client, adminKey: admin.key))
        }
    }
}
