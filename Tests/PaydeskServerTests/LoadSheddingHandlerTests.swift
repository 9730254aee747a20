import AsyncHTTPClient
import Domain
import Foundation
import Gateway
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Synchronization
import Testing

@testable import HTTPAPI
@testable import PaydeskServer

private final class Flag: Sendable {
    let value = Atomic(true)
}

/// A connection with a load shedder that refuses when the test says so.
private final class Guarded {
    private let channel = EmbeddedChannel()
    private let isFull = Flag()

    init() throws {
        let isFull = isFull
        let shedder = LoadSheddingHandler.Entrance(status: .serviceUnavailable, headers: ["Retry-After": "1"]) { head in
            guard isFull.value.load(ordering: .relaxed), head.uri != "/always" else { return nil }
            return LoadShedder.Refusal(requestID: "req_1", body: ByteBuffer(string: "full"))
        }
        try channel.pipeline.syncOperations.addHandlers([
            HTTPResponseEncoder(), ByteToMessageHandler(HTTPRequestDecoder()),
            LoadSheddingHandler(shedder, idle: .seconds(60)),
        ])
        try channel.connect(to: .init(unixDomainSocketPath: "/tmp/none")).wait()
    }

    /// Makes the shedder refuse requests, or not.
    func close(_ isClosed: Bool) { isFull.value.store(isClosed, ordering: .relaxed) }

    var isOpen: Bool { channel.isActive }

    func send(_ text: String) throws { try channel.writeInbound(ByteBuffer(string: text)) }

    func pass(_ seconds: Int64) { channel.embeddedEventLoop.advanceTime(by: .seconds(seconds)) }

    /// Returns the parts of requests that were passed on.
    func heard() throws -> [HTTPServerRequestPart] {
        var parts: [HTTPServerRequestPart] = []
        while let part = try channel.readInbound(as: HTTPServerRequestPart.self) { parts.append(part) }
        return parts
    }

    /// Returns what was sent since the last call.
    func said() throws -> String {
        var text = ""
        while let bytes = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
        return text
    }

    func write(_ part: HTTPServerResponsePart) { channel.writeAndFlush(part, promise: nil) }

    /// Makes the client read nothing more.
    func stopTaking() { channel.isWritable = false }

    func answer() {
        write(.head(HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-length": "2"])))
        write(.body(.byteBuffer(ByteBuffer(string: "ok"))))
        write(.end(nil))
    }
}

@Suite("Refusing early")
struct LoadSheddingHandlerTests {
    private static let post = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
    private static let get = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test func `a refused request is answered whole, nobody hears of it, and the connection goes on`() throws {
        let entrance = try Guarded()
        for request in [Self.post, Self.get, Self.post] {
            try entrance.send(request)
            let said = try entrance.said()
            #expect(said.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n") && said.hasSuffix("\r\n\r\nfull"))
            for line in ["Retry-After: 1", "X-Request-Id: req_1", "Content-Length: 4"] {
                #expect(said.contains("\r\n\(line)\r\n"))
            }
            #expect(try entrance.heard().isEmpty && entrance.isOpen)
        }
        entrance.close(false)
        try entrance.send(Self.post)
        #expect(try entrance.heard().count == 3 && entrance.said().isEmpty)
        entrance.answer()
        #expect(try entrance.said().hasSuffix("ok"))
    }

    @Test func `a body that is still on its way is passed over`() throws {
        let entrance = try Guarded()
        try entrance.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc")
        #expect(try entrance.said().hasSuffix("full"))
        entrance.close(false)
        try entrance.send("def" + Self.get)
        #expect(try entrance.heard().count == 2 && entrance.said().isEmpty)
    }

    @Test func `answers keep the order of their requests`() throws {
        let entrance = try Guarded()
        entrance.close(false)
        try entrance.send(Self.get)
        entrance.close(true)
        try entrance.send(Self.get)
        // The second one was not refused before the answer to the first.
        #expect(try entrance.heard().count == 4 && entrance.said().isEmpty)
        entrance.answer()
        try entrance.send(Self.get)
        #expect(try entrance.heard().count == 2)
        entrance.answer()
        entrance.answer()
        _ = try entrance.said()
        try entrance.send(Self.get)
        #expect(try entrance.said().hasSuffix("full") && entrance.heard().isEmpty)
    }

    @Test(arguments: ["GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET /a HTTP/1.0\r\n\r\n"])
    func `a connection that was to be closed is closed`(_ request: String) throws {
        let entrance = try Guarded()
        try entrance.send(request)
        let said = try entrance.said()
        #expect(said.contains("Connection: close\r\n") && said.hasSuffix("full") && !entrance.isOpen)
    }

    @Test func `what the framework has not heard of for a fifth of its idle time goes on to it`() throws {
        let entrance = try Guarded()
        entrance.pass(11)
        try entrance.send(Self.get)
        #expect(try entrance.heard().isEmpty)
        entrance.pass(1)
        try entrance.send(Self.get)
        #expect(try entrance.heard().count == 2)
        entrance.answer()
        _ = try entrance.said()
        try entrance.send(Self.get)
        #expect(try entrance.heard().isEmpty && entrance.said().hasSuffix("full"))
    }

    /// Otherwise it could send requests without end, and their answers would accumulate.
    @Test func `a client that takes no answers is left to the framework's back pressure`() throws {
        let entrance = try Guarded()
        entrance.stopTaking()
        try entrance.send(Self.get)
        #expect(try entrance.heard().count == 2 && entrance.said().isEmpty)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a server turns away at once, and serves what the load shedder lets through`() async throws {
        let (ports, said) = AsyncStream.makeStream(of: Int.self)
        let (router, logger) = (Router(), Logger(label: "shedder") { _ in SwiftLogNoOpLogHandler() })
        for path in ["/full", "/open"] { router.get(RouterPath(path)) { _, _ in "hello" } }
        let shedder = LoadShedder(
            [
                Route("full", .get, "/full", .anyone, nil, "Nothing", answers: .json(.any)) {
                    (_) async throws(GatewayError) in .data(Data())
                }
            ],
            concurrency: ConcurrencyLimit(limit: 1) { true },
            ids: IDSource(time: TimeSource { 1 }, random: RandomSource { Array(repeating: 1, count: $0) }),
            logger: logger)
        let application = Application(
            router: router, server: .limitedHTTP1(shedder: shedder),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { said.yield($0.localAddress?.port ?? 0) }, logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            let port = try #require(await ports.first { _ in true })
            for (path, status, text) in [("/full", 503, "temporarily_unavailable"), ("/open", 200, "hello")] {
                let request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
                let reply = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
                let body = String(buffer: try await reply.body.collect(upTo: 4_096))
                #expect(Int(reply.status.code) == status && body.contains(text), "\(path): \(body)")
            }
            group.cancelAll()
        }
    }
}
