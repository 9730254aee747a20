package import Domain

/// The subjects that transactions changed, for the streams that show them.
package struct LiveChanges: Sendable, Equatable {
    /// The most subjects that are listed; beyond it everything counts as changed.
    private static let limit = 10_000

    /// The users whose entitlements changed.
    package var users: Set<ID<User>> = []
    /// The orders that changed, with their users.
    package var orders: [ID<Order>: ID<User>] = [:]
    /// The sessions that ended.
    package var sessions: Set<ID<Session>> = []
    package var erased: Set<ID<User>> = []
    /// True where more may have changed than is listed.
    package var isEverything = false

    package init() {}

    package static var everything: LiveChanges {
        var changes = LiveChanges()
        changes.isEverything = true
        return changes
    }

    package var isEmpty: Bool { count == 0 && !isEverything }

    private var count: Int { users.count + orders.count + sessions.count + erased.count }

    package mutating func merge(_ other: LiveChanges) {
        users.formUnion(other.users)
        orders.merge(other.orders) { $1 }
        sessions.formUnion(other.sessions)
        erased.formUnion(other.erased)
        isEverything = isEverything || other.isEverything
        if count > Self.limit { self = .everything }
    }
}

// The form in which nodes tell each other: a line for the sender and for each subject, `u usr_…`, `o ord_… usr_…`,
// `s ses_…`, `e usr_…`, or `*` for everything.
extension LiveChanges {
    /// Returns messages that are small enough to be sent.
    func messages(from sender: String, limit: Int) -> [String] {
        guard !isEverything else { return ["\(sender)\n*"] }
        let lines =
            users.sorted().map { "u \($0)" } + sessions.sorted().map { "s \($0)" } + erased.sorted().map { "e \($0)" }
            + orders.sorted { $0.key < $1.key }.map { "o \($0.key) \($0.value)" }
        var messages: [String] = []
        var text = sender
        for line in lines {
            if text.utf8.count + line.utf8.count + 1 > limit {
                messages.append(text)
                text = sender
            }
            text += "\n" + line
        }
        return text == sender ? messages : messages + [text]
    }

    /// Reads a message; lines of a later release are skipped.
    ///
    /// - Returns: nil for the reader's own message.
    init?(message: String, to reader: String) {
        let lines = message.split(separator: "\n")
        guard let sender = lines.first, sender != reader else { return nil }
        self.init()
        for line in lines.dropFirst() {
            let words = line.split(separator: " ").map(String.init)
            switch (words.first, words.count) {
            case ("*", 1): isEverything = true
            case ("u", 2): if let user = ID<User>(words[1]) { users.insert(user) }
            case ("e", 2): if let user = ID<User>(words[1]) { erased.insert(user) }
            case ("s", 2): if let session = ID<Session>(words[1]) { sessions.insert(session) }
            case ("o", 3): if let order = ID<Order>(words[1]) { orders[order] = ID<User>(words[2]) }
            default: break
            }
        }
    }
}

/// Collects the changes of one transaction.
final class ChangedSubjects {
    var changes = LiveChanges()
    /// The tokens of external purchases whose orders were changed.
    var externalTokens: Set<ID<ExternalToken>> = []
}
