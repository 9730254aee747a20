import Foundation
import Store

/// The partner's endpoints: one that always answers, one that refuses some messages at first, and one that hangs.
struct Receiver: Sendable {
    struct Event: Sendable {
        let id: String
        let subject: String
        let sequence: Int64
        /// Attempts to bring the event to the endpoint that always answers.
        let attempts: Int64
    }

    private static let live = "/live"
    private static let faltering = "/faltering"
    private static let hanging = "/hanging"

    private let inbox: Inbox
    private let server: ReceiverServer

    init() throws {
        let inbox = Inbox()
        self.inbox = inbox
        server = try ReceiverServer { message in
            if message.path == Self.hanging { return nil }
            return inbox.take(message, isLive: message.path == Self.live) ? 200 : 500
        }
    }

    private struct Webhook: Encodable {
        let url: String
        let types: [String]
    }

    /// Makes the webhooks: the first gets every type of event, the others `order.paid` alone.
    ///
    /// - Parameter hanging: false where the clock is moved, which waits for every attempt at an endpoint that hangs.
    func subscribe(at port: UInt16, _ key: String, hanging: Bool) async throws {
        let endpoints = [(Self.live, []), (Self.faltering, ["order.paid"]), (Self.hanging, ["order.paid"])]
        for (path, types) in hanging ? endpoints : endpoints.dropLast() {
            let request = try Request.post(
                "/v1/partner/webhooks", bearer: key, Webhook(url: server.base + path, types: types))
            guard let reply = await HTTPConnection(port: port).send(request), reply.status == 200 else {
                throw Server.Failure(description: "a webhook cannot be made")
            }
        }
    }

    /// All events in the database.
    static func events(_ database: any Database) throws -> [Event] {
        let sql = """
            SELECT e.id, e.subject, e.sequence, COALESCE(MAX(d.attempts), 0) AS attempts FROM events e
            LEFT JOIN (SELECT d.event, d.attempts FROM deliveries d
                JOIN webhooks w ON w.id = d.webhook WHERE w.url LIKE '%\(live)') d ON d.event = e.id
            GROUP BY e.id, e.subject, e.sequence
            """
        return try database.rows(sql).map {
            Event(
                id: try $0.text("id"), subject: try $0.text("subject"), sequence: try $0.int("sequence"),
                attempts: try $0.int("attempts"))
        }
    }

    var messages: Int { inbox.messages }

    /// Events that never came to the endpoint that always answers.
    func missing(_ events: [Event]) -> [Event] {
        let seen = inbox.seen
        return events.filter { !seen.contains($0.id) }
    }

    /// Faults of the messages: complaints of the inbox, events out of order, missing and unknown ones.
    func violations(_ events: [Event]) -> [String] {
        let known = Set(events.map(\.id))
        let overtaken = inbox.overtaken
        // The order is promised for first attempts only: an attempt that failed has let the next event pass.
        let disorders = events.compactMap { event in
            event.attempts == 1 ? overtaken[event.id].map { "event \(event.id): \($0), at its first attempt" } : nil
        }
        return inbox.complaints + disorders
            + missing(events).map { "event \($0.id), number \($0.sequence) of \($0.subject): never came" }
            + inbox.seen.subtracting(known).map { "event \($0): came, and is not there" }
    }

    /// Forgets one message that came, to test that the comparison notices it.
    ///
    /// - Returns: the event's id; nil where no message has come.
    func forgetOne() -> String? { inbox.forgetOne() }
}
