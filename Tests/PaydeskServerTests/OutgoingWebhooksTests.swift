import Domain
import Foundation
import Gateway
import ProviderKit
import Synchronization
import TestSupport
import Testing

@testable import PaydeskServer

@Suite("The way out for webhooks")
struct OutgoingWebhooksTests {
    private static let message = WebhookMessage(
        headers: [(name: "webhook-id", value: "evt_1"), (name: "content-type", value: "application/json")],
        body: Data(#"{"type":"order.paid"}"#.utf8))

    private static func url(_ server: ScriptedServer) throws -> WebhookURL {
        try WebhookURL("http://hooks.example:\(server.port)/hook", allowsPrivate: true)
    }

    /// Runs a test with the outgoing client and a loopback server that is named `hooks.example`.
    private static func withServer(
        _ answer: [String], limits: WebhookLimits = WebhookLimits(),
        _ body: (ScriptedServer, OutgoingWebhooks) async throws -> Void
    ) async throws {
        let server = try ScriptedServer(answer)
        defer { server.stop() }
        let webhooks = OutgoingWebhooks(rules: .anyAddress, limits: limits) { _ in [.v4(0x7F00_0001)] }
        do {
            try await body(server, webhooks)
        } catch {
            await webhooks.shutDown()
            throw error
        }
        await webhooks.shutDown()
    }

    @Test func `the checked address is dialled under the host's name, and the connection is kept`() async throws {
        try await Self.withServer(["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"]) { server, webhooks in
            for _ in 0..<2 {
                let session = try await webhooks.open(try Self.url(server)).get()
                for _ in 0..<3 { #expect(await session.post(Self.message) == .replied(status: 200, body: "ok")) }
                await session.close()
            }
            #expect(server.connections == 1)
            let request = try #require(server.requests.first)
            #expect(request.hasPrefix("POST /hook HTTP/1.1\r\n"))
            #expect(request.lowercased().contains("host: hooks.example:\(server.port)\r\n"))
            #expect(request.contains("user-agent: Paydesk/\(Release.version)"))
            #expect(request.contains("webhook-id: evt_1"))
            #expect(request.hasSuffix(#"{"type":"order.paid"}"#))
        }
    }

    @Test func `a redirect is an answer and nothing is followed`() async throws {
        try await Self.withServer([
            "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/inside\r\nRetry-After: 9\r\nContent-Length: 0\r\n\r\n"
        ]) { server, webhooks in
            let session = try await webhooks.open(try Self.url(server)).get()
            #expect(await session.post(Self.message) == .replied(status: 302, retryAfter: "9"))
            #expect(server.requests.count == 1)
            await session.close()
        }
    }

    @Test func `an answer of a gigabyte is cut`() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n"
        try await Self.withServer([head] + Array(repeating: String(repeating: "x", count: 1 << 20), count: 1_024)) {
            server, webhooks in
            let session = try await webhooks.open(try Self.url(server)).get()
            #expect(
                await session.post(Self.message) == .replied(status: 200, body: String(repeating: "x", count: 1_000)))
            await server.end()
            #expect(server.sentBytes < 64 << 20)
            await session.close()
        }
    }

    @Test func `an endpoint that never answers ends in a timeout`() async throws {
        try await Self.withServer([], limits: WebhookLimits(totalMilliseconds: 200)) { server, webhooks in
            let session = try await webhooks.open(try Self.url(server)).get()
            #expect(await session.post(Self.message) == .failed(.timeout))
            await session.close()
        }
    }

    @Test func `an endpoint that hangs leaves its neighbours on the host their connections`() async throws {
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        let held = DispatchSemaphore(value: 0)
        // The number of messages that a worker has under way to one endpoint, first and further attempts together.
        let width = 20
        let server = try FakeHTTPServer { request in
            guard request.url.hasSuffix("/hangs") else { return IncomingReply(status: 200) }
            arrival.yield()
            held.wait()
            return IncomingReply(status: 200)
        }
        defer { server.stop() }
        let webhooks = OutgoingWebhooks(rules: .anyAddress) { _ in [.v4(0x7F00_0001)] }
        func open(_ path: String) async throws -> any WebhookSession {
            let url = try WebhookURL("http://hooks.example:\(server.port)/\(path)", allowsPrivate: true)
            return try await webhooks.open(url).get()
        }
        let (hanging, healthy) = (try await open("hangs"), try await open("answers"))
        await withTaskGroup(of: WebhookReply.self) { group in
            for _ in 0..<width { group.addTask { await hanging.post(Self.message) } }
            var come = arrivals.makeAsyncIterator()
            for _ in 0..<width { await come.next() }
            #expect(await healthy.post(Self.message) == .replied(status: 200))
            for _ in 0..<width { held.signal() }
            // None of them had to be given up.
            for await reply in group { #expect(reply == .replied(status: 200)) }
        }
        await hanging.close()
        await healthy.close()
        await webhooks.shutDown()
    }

    @Test func `what is no HTTP and what is no TLS are failures`() async throws {
        try await Self.withServer(["garbage\r\n\r\n"]) { server, webhooks in
            let session = try await webhooks.open(try Self.url(server)).get()
            #expect(await session.post(Self.message) == .failed(.connection))
            await session.close()
            let secure = try WebhookURL("https://hooks.example:\(server.port)/", allowsPrivate: false)
            let other = try await webhooks.open(secure).get()
            #expect(await other.post(Self.message) == .failed(.tls))
            await other.close()
        }
        let port = try FreePort.next()
        let webhooks = OutgoingWebhooks(rules: .anyAddress) { _ in [.v4(0x7F00_0001)] }
        let nobody = try WebhookURL("http://hooks.example:\(port)/", allowsPrivate: true)
        let session = try await webhooks.open(nobody).get()
        #expect(await session.post(Self.message) == .failed(.connection))
        await session.close()
        await webhooks.shutDown()
    }

    /// Local addresses on which nothing listens.
    private static let deaf: [IPAddress] = [.v4(0x7F00_0002), .v4(0x7F00_0003)]
    private static let own = IPAddress.v4(0x7F00_0001)

    static let lines: [(addresses: [IPAddress], connections: Int, reply: WebhookReply)] = [
        ([own] + deaf, 1, .replied(status: 200, body: "ok")), (deaf + [own], 1, .replied(status: 200, body: "ok")),
        ([deaf[0], own, deaf[1]], 1, .replied(status: 200, body: "ok")), (deaf, 0, .failed(.connection)),
        (deaf + deaf + [own], 0, .failed(.connection)),
    ]

    @Test(arguments: lines)
    func `the next address is dialled where no connection can be made`(
        _ line: (addresses: [IPAddress], connections: Int, reply: WebhookReply)
    ) async throws {
        let server = try ScriptedServer(["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"])
        defer { server.stop() }
        let webhooks = OutgoingWebhooks(rules: .anyAddress) { _ in line.addresses }
        let session = try await webhooks.open(try Self.url(server)).get()
        for _ in 0..<3 { #expect(await session.post(Self.message) == line.reply) }
        await session.close()
        await webhooks.shutDown()
        #expect(server.connections == line.connections)
        #expect(server.requests.count == line.connections * 3)
    }

    @Test func `what was sent is not sent again to another address`() async throws {
        let (first, second) = (try ScriptedServer(["garbage\r\n\r\n"]), Self.own)
        defer { first.stop() }
        let webhooks = OutgoingWebhooks(rules: .anyAddress) { _ in [second, second] }
        let session = try await webhooks.open(try Self.url(first)).get()
        #expect(await session.post(Self.message) == .failed(.connection))
        await session.close()
        await webhooks.shutDown()
        #expect(first.requests.count == 1)
    }

    static let answers: [([String], Delivery.Fault)] = [
        (["10.0.0.1"], .blockedAddress), (["127.0.0.1"], .blockedAddress), (["8.8.8.8", "127.0.0.1"], .blockedAddress),
        (["169.254.169.254", "8.8.8.8"], .blockedAddress), (["::1"], .blockedAddress),
        (["2606:4700::1111", "::ffff:10.0.0.1"], .blockedAddress), (["fd00:ec2::254"], .blockedAddress),
        (["64:ff9b::a00:1"], .blockedAddress), (["0.0.0.0"], .blockedAddress), ([], .name),
    ]

    @Test(arguments: answers)
    func `one address that is not public refuses all`(_ addresses: [String], _ fault: Delivery.Fault) async throws {
        let found = addresses.compactMap { IPAddress($0) }
        #expect(found.count == addresses.count)
        let webhooks = OutgoingWebhooks(rules: .publicAddresses) { _ in found }
        let url = try WebhookURL("https://hooks.example/", allowsPrivate: false)
        let opened = await webhooks.open(url)
        #expect(throws: WebhookRefusal(fault)) { try opened.get() }
        await webhooks.shutDown()
    }

    @Test func `a name that turns bad is refused, and asked only once for each run`() async throws {
        let asked = Mutex(0)
        let webhooks = OutgoingWebhooks(rules: .publicAddresses) { _ in
            asked.withLock { count in
                count += 1
                return count == 1 ? [.v4(0x0808_0808)] : [.v4(0x7F00_0001)]
            }
        }
        let url = try WebhookURL("https://hooks.example/", allowsPrivate: false)
        let session = try await webhooks.open(url).get()
        #expect(asked.withLock { $0 } == 1)
        await session.close()
        let second = await webhooks.open(url)
        #expect(throws: WebhookRefusal(.blockedAddress)) { try second.get() }
        await webhooks.shutDown()
    }

    @Test func `the system's resolver knows this machine and no invented name`() async throws {
        let resolver = HostResolver()
        let own = await resolver.addresses(of: "localhost")
        #expect(!own.isEmpty && own.allSatisfy { !$0.isPublic })
        #expect(await resolver.addresses(of: "127.0.0.1") == [.v4(0x7F00_0001)])
        #expect(await resolver.addresses(of: "no such name.invalid") == [])
    }
}
