import AsyncHTTPClient
import Foundation
import ProviderKit
import TestSupport
import Testing

@testable import PaydeskServer

@Suite("The way out for providers")
struct AsyncTransportTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"

    /// Returns the result of a call to a loopback server that answers with these pieces.
    private static func call(
        _ pieces: [String], milliseconds: Int64
    ) async throws -> Result<IncomingReply, HTTPTransportError> {
        let server = try ScriptedServer(pieces)
        let transport = AsyncTransport()
        let request = OutgoingRequest(
            method: "POST", url: "http://127.0.0.1:\(server.port)/pay", body: Data("amount=1".utf8),
            timeoutMilliseconds: milliseconds)
        let end: Result<IncomingReply, HTTPTransportError>
        do throws(HTTPTransportError) {
            end = .success(try await transport.send(request))
        } catch {
            end = .failure(error)
        }
        server.stop()
        try await transport.client.shutdown()
        return end
    }

    @Test(arguments: [[head + "done"], [head, "do", "ne"]])
    func `a whole answer is read`(_ pieces: [String]) async throws {
        let reply = try await Self.call(pieces, milliseconds: 60_000).get()
        #expect(reply.status == 200)
        #expect(reply.body == Data("done".utf8))
    }

    @Test(arguments: [[], ["HTTP/1.1 200 OK\r\nContent-Le"], [head], [head, "do"]])
    func `an answer that stops anywhere ends at the time limit`(_ pieces: [String]) async throws {
        let end = try await Self.call(pieces, milliseconds: 200)
        #expect(throws: HTTPTransportError.outcomeUnknown) { try end.get() }
    }

    @Test func `nobody there means that nothing was sent`() async throws {
        let server = try ScriptedServer([])
        server.stop()
        let transport = AsyncTransport()
        let request = OutgoingRequest(method: "GET", url: "http://127.0.0.1:\(server.port)/")
        await #expect(throws: HTTPTransportError.notSent) { try await transport.send(request) }
        try await transport.client.shutdown()
    }
}
