import Domain
package import FoundationEssentials
import Store

/// A page of the outbox as JSON, with internal ids of users.
package struct EventFeed: Sendable {
    /// The JSON of each event, with its stored `data` unchanged.
    package let items: [String]
    package let next: Int64?

    /// The `data` of the answer, with sorted keys.
    package var json: Data {
        let next = next.map(String.init) ?? "null"
        return Data(#"{"items":[\#(items.joined(separator: ","))],"next_cursor":\#(next)}"#.utf8)
    }
}

extension Events {
    /// The number of events that are read for one page.
    private static let window: Int64 = 5_000

    /// Lists the events after a number, oldest first: those that the key's scopes allow and that belong to no partner
    /// or to the key's.
    ///
    /// An event is listed once it has its number, which it gets after its commit, so that a reader never misses one.
    ///
    /// - Throws: `invalidRequest` for a negative number.
    package func list(
        after seq: Int64, key: AuthenticatedKey, limit: Int64
    ) async throws(GatewayError) -> EventFeed {
        guard seq >= 0 else { throw .invalidRequest(field: "after", reason: "must be an integer from 0") }
        let page = try await store.report { db in
            try db.events.list(
                after: seq, types: EventType.readable(with: key.scopes).map(\.rawValue), visibleTo: key.partner,
                limit: limit,
                window: Self.window)
        }
        return try Self.feed(page)
    }

    /// Lists the events as ``list(after:key:limit:)``, and waits for the next one where there is none.
    ///
    /// - Parameter seconds: the longest wait in real time, 0 to 25.
    /// - Throws: `invalidRequest`; `rateLimited` where too many wait.
    package func list(
        after seq: Int64, key: AuthenticatedKey, limit: Int64, waiting seconds: Int64
    ) async throws(GatewayError) -> EventFeed {
        guard (0...EventWaits.longest).contains(seconds) else {
            throw .invalidRequest(field: "wait", reason: "must be 0 to \(EventWaits.longest)")
        }
        let found = try await waits.first(within: seconds, for: key.id) { () async throws(GatewayError) in
            let feed = try await list(after: seq, key: key, limit: limit)
            return feed.items.isEmpty && feed.next == nil ? nil : feed
        }
        return found ?? EventFeed(items: [], next: nil)
    }

    /// Lists the events of every type and partner after a number, oldest first, for an admin.
    ///
    /// - Parameter subject: the id that they are about; nil lists all.
    package func list(after seq: Int64, subject: String?, limit: Int64) async throws(GatewayError) -> EventFeed {
        try Self.feed(
            try await store.report { db in try db.events.list(after: seq, subject: subject, limit: limit) })
    }

    /// Makes the answer of a page, cut at the limit of bytes.
    private static func feed(_ page: EventPage) throws(GatewayError) -> EventFeed {
        do {
            var (items, bytes): ([String], Int) = ([], 0)
            for (index, event) in page.events.enumerated() {
                let item = try event.json
                bytes += item.utf8.count + 1
                if index > 0, bytes > PageSize.bytes {
                    return EventFeed(items: items, next: page.events[index - 1].seq)
                }
                items.append(item)
            }
            return EventFeed(items: items, next: page.next)
        } catch {
            throw .internalError
        }
    }
}

extension NumberedEvent {
    /// The event as JSON; its stored data is JSON already and is not parsed.
    fileprivate var json: String {
        get throws {
            let subject = try subject.storedJSON()
            return """
                {"at":\(at.rawValue),"data":\(data),"id":"\(id)","seq":\(seq),"sequence":\(sequence),\
                "subject":\(subject),"type":"\(type)"}
                """
        }
    }
}
