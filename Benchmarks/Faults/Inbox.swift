import Foundation
import Synchronization

/// The messages that arrived at the partner's endpoints.
final class Inbox: Sendable {
    private struct Message: Decodable {
        let subject: String
        let sequence: Int64
    }

    private struct State {
        /// A digest of the first message, by event id.
        var digests: [String: Int] = [:]
        /// The highest sequence number that arrived, by subject.
        var latest: [String: Int64] = [:]
        var refused: Set<String> = []
        var messages = 0
        var complaints: [String] = []
        /// The violation if the endpoint's first attempt delivered the event, by event id.
        var overtaken: [String: String] = [:]
    }

    private let state = Mutex(State())

    var messages: Int { state.withLock { $0.messages } }
    var seen: Set<String> { state.withLock { Set($0.digests.keys) } }
    /// Events that arrived after a later one of their subject.
    var overtaken: [String: String] { state.withLock { $0.overtaken } }
    var complaints: [String] { state.withLock { $0.complaints } }

    /// Records a message.
    ///
    /// - Parameter isLive: true for the endpoint that accepts everything; the other one refuses every fifth event once.
    /// - Returns: whether the message is accepted.
    func take(_ came: ReceiverServer.Message, isLive: Bool) -> Bool {
        let id = came.id
        guard let message = try? JSONDecoder().decode(Message.self, from: came.body), !id.isEmpty else {
            state.withLock { $0.complaints.append("a message without an id, a subject or a number came") }
            return false
        }
        return state.withLock { state in
            guard isLive else { return !id.utf8.reduce(0, &+).isMultiple(of: 5) || !state.refused.insert(id).inserted }
            state.messages += 1
            let digest = came.body.hashValue
            if let before = state.digests.updateValue(digest, forKey: id) {
                if before != digest { state.complaints.append("event \(id): came again, and not the same") }
                return true
            }
            let latest = state.latest[message.subject] ?? 0
            if message.sequence <= latest {
                state.overtaken[id] = "number \(message.sequence) of \(message.subject) came after \(latest)"
            }
            state.latest[message.subject] = max(latest, message.sequence)
            return true
        }
    }

    /// - Returns: the id of the message that was forgotten.
    func forgetOne() -> String? {
        state.withLock { state in
            guard let id = state.digests.keys.first else { return nil }
            state.digests[id] = nil
            return id
        }
    }
}
