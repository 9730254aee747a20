import Domain
import Foundation
import Gateway

/// An event of `GET /v1/partner/events`, to be sent on like a webhook's message.
struct ForwardedEvent: Sendable, Equatable {
    let id: String
    let seq: Int64
    let type: String
    let subject: String
    /// The body of the message.
    let body: Data

    /// - Returns: nil for what is no event.
    init?(_ item: JSONValue) {
        guard case .object(var members) = item, case .string(let id)? = members["id"],
            case .integer(let seq)? = members["seq"], case .string(let type)? = members["type"],
            case .string(let subject)? = members["subject"]
        else { return nil }
        (self.id, self.seq, self.type, self.subject) = (id, seq, type, subject)
        // The message's id is in its headers, and its time has the name of the webhooks'.
        members["id"] = nil
        members["timestamp"] = members.removeValue(forKey: "at")
        guard let body = try? JSONText.encoded(JSONValue.object(members)) else { return nil }
        self.body = body
    }

    /// Returns the signed message, as the Standard Webhooks specification has it.
    func signed(by secret: WebhookSecret, at time: Timestamp) -> SignedMessage {
        SignedMessage(
            headers: WebhookSecret.headers([secret], id: id, timestamp: time.rawValue, body: body), body: body)
    }
}

/// A page of events.
struct EventsPage: Sendable {
    let events: [ForwardedEvent]
    /// The number after which the next page begins; nil where nothing more has happened.
    let next: Int64?

    init(_ data: JSONValue) {
        guard case .object(let members) = data, case .array(let items)? = members["items"] else {
            (events, next) = ([], nil)
            return
        }
        events = items.compactMap(ForwardedEvent.init)
        if case .integer(let next)? = members["next_cursor"] { self.next = next } else { next = nil }
    }

    var isEnd: Bool { events.isEmpty && next == nil }
}
