import NIOCore
import NIOEmbedded
import NIOHTTP1
import TestSupport
import Testing

@testable import PaydeskServer

/// A connection with a clock that the test moves.
private final class Line {
    private let channel = EmbeddedChannel()

    init(_ limits: ClientTimeLimits = ClientTimeLimits()) throws {
        try channel.pipeline.syncOperations.addHandlers([
            HTTPResponseEncoder(), ByteToMessageHandler(HTTPRequestDecoder()), SlowClientHandler(limits),
        ])
        try channel.connect(to: .init(unixDomainSocketPath: "/tmp/none")).wait()
    }

    var isOpen: Bool { channel.isActive }

    func send(_ text: String) throws { try channel.writeInbound(ByteBuffer(string: text)) }

    func pass(_ seconds: Int64) { channel.embeddedEventLoop.advanceTime(by: .seconds(seconds)) }

    func answer() throws {
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-length": "0"])
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        try channel.writeOutbound(HTTPServerResponsePart.end(nil))
    }

    /// Makes the client read again, or nothing more.
    func isTaking(_ taking: Bool) {
        channel.isWritable = taking
        channel.pipeline.fireChannelWritabilityChanged()
    }
}

@Suite("Slow clients")
struct SlowClientTests {
    @Test func `a head that comes byte by byte has its time`() throws {
        let line = try Line()
        for byte in "GET / HTTP" {
            try line.send(String(byte))
            #expect(line.isOpen)
            line.pass(1)
        }
        #expect(!line.isOpen)
    }

    @Test func `a body that comes byte by byte has its time`() throws {
        let line = try Line()
        try line.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n")
        for second in 0..<25 {
            #expect(line.isOpen, "\(second)")
            try line.send("a")
            line.pass(1)
        }
        #expect(!line.isOpen)
    }

    @Test func `an answer does not save a body that goes on`() throws {
        let line = try Line()
        try line.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n")
        line.pass(20)
        try line.answer()
        #expect(line.isOpen)
        line.pass(5)
        #expect(!line.isOpen)
    }

    @Test func `whole requests have no limit here, however long their answers take`() throws {
        let line = try Line()
        for _ in 0..<3 {
            try line.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
            line.pass(600)
            try line.answer()
            line.pass(600)
        }
        // A head in two pieces and a body in two pieces, all in time.
        try line.send("POST / HTTP/1.1\r\nHo")
        line.pass(9)
        try line.send("st: a\r\nContent-Length: 3\r\n\r\na")
        line.pass(24)
        try line.send("bc")
        line.pass(600)
        #expect(line.isOpen)
        try line.answer()
        // Then a request that is too slow.
        try line.send("GET")
        line.pass(10)
        #expect(!line.isOpen)
    }

    @Test func `a client that takes nothing of its answer is let go`() throws {
        let line = try Line()
        try line.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        line.isTaking(false)
        line.pass(29)
        line.isTaking(true)
        line.pass(600)
        #expect(line.isOpen)
        line.isTaking(false)
        line.pass(30)
        #expect(!line.isOpen)
    }

    @Test(arguments: [(1_024, 512), (2_048, 1_024), (21_024, 20_000), (1_000_000, 20_000)])
    func `connections leave descriptors for the rest`(_ descriptors: Int, _ connections: Int) {
        #expect(ConnectionLimit.connections(descriptors: descriptors) == connections)
    }
}
