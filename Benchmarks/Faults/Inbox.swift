import Foundation
import Synchronization

/// What came to the partner's endpoints.
final class Inbox: Sendable {
    private struct Message: Decodable {
        let subject: String
        let sequence: Int64
    }

    private struct State {
        /// By id: a digest of what came first.
        var digests: [String: Int] = [:]
        /// By subject: the highest number that came.
        var latest: [String: Int64] = [:]
        var refused: Set<String> = []
        var messages = 0
        var complaints: [String] = []
        /// By id: what is wrong if the endpoint's first attempt brought it.
        var overtaken: [String: String] = [:]
    }

    private let state = Mutex(State())

    var messages: Int { state.withLock { $0.messages } }
    var seen: Set<String> { state.withLock { Set($0.digests.keys) } }
    /// Events that came after a later one of their subject.
    var overtaken: [String: String] { state.withLock { $0.overtaken } }
    var complaints: [String] { state.withLock { $0.complaints } }

    /// Keeps a message.
    ///
    /// - Parameter isLive: whether the endpoint takes everything; the other one refuses every fifth event once.
    /// - Returns: whether it is accepted.
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

    /// - Returns: the id of the message that is forgotten.
    func forgetOne() -> String? {
        state.withLock { state in
            guard let id = state.digests.keys.first else { return nil }
            state.digests[id] = nil
            return id
        }
    }
}
