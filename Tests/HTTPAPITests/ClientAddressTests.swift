import Domain
import HTTPTypes
import NIOCore
import TestSupport
import Testing

@testable import HTTPAPI

/// Tests of the client's address behind trusted and other proxies.
@Suite("A client's address")
struct ClientAddressTests {
    private static let proxies = ["10.0.0.0/8", "fd00::/8"].compactMap(CIDR.init)

    struct Row: Sendable, CustomTestStringConvertible {
        let peer: String
        var forwardedFor: [String] = []
        var forwarded: [String] = []
        let address: String?

        var testDescription: String { "\(peer) \(forwardedFor) \(forwarded)" }
    }

    static let rows: [Row] = [
        Row(peer: "8.8.8.8", address: "8.8.8.8"),
        Row(peer: "::ffff:8.8.8.8", address: "8.8.8.8"),
        Row(peer: "2400:3200::1", address: "2400:3200:0:0:0:0:0:1"),
        // Headers of a client that is no trusted proxy are ignored.
        Row(peer: "8.8.8.8", forwardedFor: ["1.1.1.1"], forwarded: ["for=1.1.1.1"], address: "8.8.8.8"),
        Row(peer: "10.0.0.1", address: "10.0.0.1"),
        Row(peer: "10.0.0.1", forwardedFor: ["1.1.1.1"], address: "1.1.1.1"),
        Row(peer: "::ffff:10.0.0.1", forwardedFor: ["1.1.1.1"], address: "1.1.1.1"),
        Row(peer: "fd00::1", forwardedFor: ["2400:3200::1"], address: "2400:3200:0:0:0:0:0:1"),
        // The client's own text stands left of what the nearest trusted proxy appends.
        Row(peer: "10.0.0.1", forwardedFor: ["9.9.9.9, 1.1.1.1"], address: "1.1.1.1"),
        Row(peer: "10.0.0.1", forwardedFor: ["9.9.9.9", "1.1.1.1, 10.0.0.2"], address: "1.1.1.1"),
        Row(peer: "10.0.0.1", forwardedFor: ["10.0.0.3, 10.0.0.2"], address: "10.0.0.3"),
        Row(peer: "10.0.0.1", forwardedFor: ["nonsense, 1.1.1.1"], address: "1.1.1.1"),
        Row(peer: "10.0.0.1", forwardedFor: ["1.1.1.1, nonsense"], address: nil),
        Row(peer: "10.0.0.1", forwardedFor: ["1.1.1.1,"], address: nil),
        Row(peer: "10.0.0.1", forwardedFor: [" 1.1.1.1:4711\t"], address: "1.1.1.1"),
        Row(peer: "10.0.0.1", forwardedFor: ["[2400:3200::1]:80"], address: "2400:3200:0:0:0:0:0:1"),
        Row(peer: "10.0.0.1", forwardedFor: ["[2400:3200::1]"], address: "2400:3200:0:0:0:0:0:1"),
        Row(peer: "10.0.0.1", forwardedFor: ["[1.1.1.1]"], address: nil),
        Row(peer: "10.0.0.1", forwardedFor: ["1.1.1.1:"], address: nil),
        Row(peer: "10.0.0.1", forwardedFor: ["1.1.1.1:port"], address: nil),
        Row(peer: "10.0.0.1", forwardedFor: ["01.1.1.1"], address: nil),
        Row(peer: "10.0.0.1", forwardedFor: ["::ffff:1.1.1.1"], address: "1.1.1.1"),
        Row(peer: "10.0.0.1", forwarded: ["for=1.1.1.1;proto=https"], address: "1.1.1.1"),
        Row(peer: "10.0.0.1", forwarded: ["proto=https; FOR = \"1.1.1.1:80\""], address: "1.1.1.1"),
        Row(peer: "10.0.0.1", forwarded: ["for=9.9.9.9, for=\"[2400:3200::1]:80\""], address: "2400:3200:0:0:0:0:0:1"),
        Row(peer: "10.0.0.1", forwarded: ["for=\"9.9.9.9, for=8.8.8.8\", for=1.1.1.1"], address: "1.1.1.1"),
        Row(peer: "10.0.0.1", forwarded: ["for=unknown"], address: nil),
        Row(peer: "10.0.0.1", forwarded: ["for=_hidden"], address: nil),
        Row(peer: "10.0.0.1", forwarded: ["by=1.1.1.1"], address: nil),
        Row(peer: "10.0.0.1", forwarded: ["for"], address: nil),
        // A proxy appends to one of the headers, and a client may write the other.
        Row(peer: "10.0.0.1", forwardedFor: ["1.1.1.1"], forwarded: ["for=9.9.9.9"], address: nil),
        Row(peer: "10.0.0.1", forwardedFor: ["1.1.1.1"], forwarded: ["for=1.1.1.1"], address: "1.1.1.1"),
    ]

    @Test(arguments: rows)
    func `the nearest that no trusted proxy has`(_ row: Row) throws {
        var headers = HTTPFields()
        for (name, values) in [("X-Forwarded-For", row.forwardedFor), ("Forwarded", row.forwarded)] {
            for value in values { headers.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value)) }
        }
        let from = ClientAddress(
            peer: try SocketAddress(ipAddress: row.peer, port: 4711), trustedProxies: Self.proxies)
        #expect(from.address(headers)?.description == row.address)
    }

    @Test func `a connection without an address has none`() throws {
        let socket = try SocketAddress(unixDomainSocketPath: "/nowhere")
        #expect(ClientAddress(peer: nil, trustedProxies: Self.proxies).address(HTTPFields()) == nil)
        #expect(ClientAddress(peer: socket, trustedProxies: Self.proxies).address(HTTPFields()) == nil)
    }

    @Test func `any bytes end in an address or in none`() throws {
        let peer = try SocketAddress(ipAddress: "10.0.0.1", port: 1)
        var random = SystemRandomNumberGenerator()
        let alphabet = Array("0123456789.:[]\",;= for\t%abcxF")
        for _ in 0..<20_000 {
            let text = String((0..<Int.random(in: 0...40, using: &random)).map { _ in alphabet.randomElement() ?? "x" })
            var headers = HTTPFields()
            headers[try #require(HTTPField.Name(Bool.random() ? "Forwarded" : "X-Forwarded-For"))] = text
            let found = ClientAddress(peer: peer, trustedProxies: Self.proxies).address(headers)
            // The result is always one of the addresses in the headers, or the proxy's own.
            if let found { #expect(IPAddress(found.description) == found, "\(text)") }
        }
    }
}
