import HTTPTypes
import NIOCore
import Testing

@testable import HTTPAPI

@Suite("The callers of routes without a login")
struct LocalCallersTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var method = HTTPRequest.Method.get
        var peer: String? = "127.0.0.1"
        var host: String? = "127.0.0.1:8080"
        var headers: [String: String] = [:]
        var servesTLS = false
        let refusal: LocalCallers.Refusal?

        var testDescription: String {
            "\(method) from \(peer ?? "nowhere") to \(host ?? "nothing") \(headers) is \(refusal.map { "\($0)" } ?? "admitted")"
        }
    }

    private static let json = ["content-type": "application/json"]
    private static func post(_ headers: [String: String], _ refusal: LocalCallers.Refusal?) -> Row {
        Row(method: .post, headers: json.merging(headers) { $1 }, refusal: refusal)
    }

    static let rows: [Row] = [
        Row(refusal: nil), Row(peer: "127.8.9.10", refusal: nil), Row(peer: "::1", refusal: nil),
        Row(peer: "::ffff:127.0.0.1", refusal: nil), Row(peer: "10.0.0.1", refusal: .peer),
        Row(peer: "::ffff:10.0.0.1", refusal: .peer), Row(peer: "fe80::1", refusal: .peer),
        Row(peer: nil, refusal: .peer),
        Row(headers: ["x-forwarded-for": "127.0.0.1"], refusal: .forwarded),
        Row(headers: ["forwarded": "for=127.0.0.1"], refusal: .forwarded),
        Row(host: "localhost:8080", refusal: nil), Row(host: "[::1]:8080", refusal: nil),
        Row(host: "127.0.0.1", refusal: nil), Row(host: "evil.example", refusal: .host),
        Row(host: "127.0.0.1.evil.example:8080", refusal: .host), Row(host: "localhost.evil.example", refusal: .host),
        Row(host: "127.0.0.1:8080@evil.example", refusal: .host), Row(host: "", refusal: .host),
        Row(host: nil, refusal: .host),
        Row(headers: ["origin": "http://127.0.0.1:8080"], refusal: nil),
        Row(headers: ["origin": "http://127.0.0.1:8081"], refusal: .origin),
        Row(headers: ["origin": "https://evil.example"], refusal: .origin),
        post([:], nil), post(["origin": "http://127.0.0.1:8080"], nil), post(["origin": "null"], .origin),
        post(["origin": "http://localhost:8080"], .origin), post(["origin": "https://127.0.0.1:8080"], .origin),
        post(["origin": ""], .origin), post(["content-type": "text/plain"], .mediaType),
        post(["content-type": "application/json; charset=utf-8"], .mediaType),
        Row(method: .post, refusal: .mediaType),
        Row(method: .post, headers: ["authorization": "Bearer x"], refusal: nil),
        Row(method: .post, headers: ["authorization": "Bearer x", "origin": "null"], refusal: .origin),
        Row(method: .put, headers: ["origin": "http://127.0.0.1:1"], refusal: .origin),
        Row(headers: ["origin": "https://127.0.0.1:8080"], servesTLS: true, refusal: nil),
        Row(headers: ["origin": "http://127.0.0.1:8080"], servesTLS: true, refusal: .origin),
    ]

    @Test(arguments: rows)
    func `only programs and pages of this machine are admitted`(_ row: Row) throws {
        var fields = HTTPFields()
        for (name, value) in row.headers { fields[try #require(HTTPField.Name(name))] = value }
        let request = HTTPRequest(
            method: row.method, scheme: "http", authority: row.host, path: "/dev/appstore/state", headerFields: fields)
        let peer = try row.peer.map { try SocketAddress(ipAddress: $0, port: 4_711) }
        let from = ClientAddress(peer: peer, trustedProxies: [])
        #expect(LocalCallers(servesTLS: row.servesTLS).refusal(of: request, from: from) == row.refusal)
    }
}
