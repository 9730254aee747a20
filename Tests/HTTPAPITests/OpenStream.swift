import Domain
import Gateway
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import HTTPAPI

/// A live stream that a test reads event by event, without a socket.
final class OpenStream {
    /// An event as its client reads it; a comment has no name.
    struct Event: Equatable {
        var name = ""
        var id: String?
        var data = ""
    }

    let status: Int
    let headers: HTTPFields
    private var pieces: AsyncStream<String>.Iterator
    private var waiting: [Event] = []

    private init(_ response: Response) {
        status = response.status.code
        headers = response.headers
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        pieces = stream.makeAsyncIterator()
        let body = response.body
        Task {
            try? await body.write(PieceCollector(pieces: continuation))
            continuation.finish()
        }
    }

    /// Sends the request of a stream.
    static func open(_ counter: Counter, _ bearer: String, headers: [String: String] = [:]) async throws -> OpenStream {
        var fields: HTTPFields = [.authorization: "Bearer \(bearer)"]
        for (name, value) in headers { fields[try #require(HTTPField.Name(name))] = value }
        let head = HTTPRequest(
            method: .get, scheme: "http", authority: "localhost", path: "/v1/public/stream", headerFields: fields)
        let context = PeerContext(
            source: ApplicationRequestContextSource(
                channel: EmbeddedChannel(), logger: Logger(label: "stream") { _ in SwiftLogNoOpLogHandler() }))
        let responder = counter.api.router().buildResponder()
        return OpenStream(
            try await responder.respond(
                to: Request(head: head, body: RequestBody(buffer: ByteBuffer())), context: context))
    }

    /// Returns the next event, waiting for it; nil at the end.
    func next() async -> Event? {
        while waiting.isEmpty {
            guard let piece = await pieces.next() else { return nil }
            waiting += piece.split(separator: "\n\n").map(Self.event)
        }
        return waiting.removeFirst()
    }

    /// Returns the events until the end.
    func rest() async -> [Event] {
        var events: [Event] = []
        while let event = await next() { events.append(event) }
        return events
    }

    private static func event(_ text: Substring) -> Event {
        var event = Event()
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? String(parts[1].trimmingPrefix(" ")) : ""
            switch parts[0] {
            case "event": event.name = value
            case "id": event.id = value
            case "data": event.data += value
            case "retry": (event.name, event.data) = ("retry", value)
            default: break
            }
        }
        return event
    }
}

private struct PieceCollector: ResponseBodyWriter {
    let pieces: AsyncStream<String>.Continuation

    mutating func write(_ buffer: ByteBuffer) async throws { pieces.yield(String(buffer: buffer)) }
    consuming func finish(_: HTTPFields?) async throws { pieces.finish() }
}

extension OpenStream.Event {
    static func entitlements(_ version: Int64, next: Int64?) -> OpenStream.Event {
        let next = next.map(String.init) ?? "null"
        return OpenStream.Event(
            name: "entitlements", id: String(version), data: #"{"next_change_at":\#(next),"version":\#(version)}"#)
    }

    static func order(_ id: String, _ status: String, _ next: String) -> OpenStream.Event {
        OpenStream.Event(name: "order", data: #"{"id":"\#(id)","next_action":"\#(next)","status":"\#(status)"}"#)
    }

    static func bye(_ reason: String) -> OpenStream.Event {
        OpenStream.Event(name: "bye", data: #"{"reason":"\#(reason)"}"#)
    }

    static let retry = OpenStream.Event(name: "retry", data: "3000")
    static let comment = OpenStream.Event()
}

// Streams of a counter.
extension Counter {
    /// Opens a stream and reads its beginning, with the entitlements unless it is a checkout's.
    func stream(_ bearer: String, entitlements: OpenStream.Event? = nil) async throws -> OpenStream {
        let stream = try await OpenStream.open(self, bearer)
        try #require(stream.status == 200)
        #expect(await stream.next() == .retry)
        if let entitlements { #expect(await stream.next() == entitlements) }
        return stream
    }

    /// Grants a day of VIP, and returns the grant.
    func grant(_ user: String = "alice", days: Int64 = 1) async throws -> JSONValue {
        desk.clock.tick()
        let reply = try await post(
            "/v1/admin/users/\(user)/grants", adminKey, #"{"sku":"vip_month","duration_days":\#(days),"reason":"test"}"#
        )
        try #require(reply.status == 200, "\(reply)")
        return try reply.data
    }
}
