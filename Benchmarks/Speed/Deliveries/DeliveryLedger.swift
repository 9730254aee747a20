import Synchronization

/// The messages that an endpoint got of the events that a run wrote, and their order.
final class DeliveryLedger: Sendable {
    struct Counts: Sendable {
        /// Messages of all kinds.
        var attempts = 0
        /// Events of which at least one message came.
        var seen = 0
        /// Events that were answered with 200.
        var accepted = 0
        /// Events whose first message came after a message of a later event of the same subject.
        var inversions = 0
    }

    private struct State {
        var counts = Counts()
        var isSeen: [Bool]
        var isAccepted: [Bool]
        /// The greatest sequence of each subject that has come.
        var sequences: [String: Int] = [:]
    }

    /// The divisor of a hash by which events are refused once: on average one of twenty.
    private static let refusedOf: UInt32 = 20

    private let state: Mutex<State>

    init(events: Int) {
        let none = [Bool](repeating: false, count: events)
        state = Mutex(State(isSeen: none, isAccepted: none))
    }

    var counts: Counts { state.withLock { $0.counts } }

    /// Notes a message and answers it: 500 to the first attempt of every 20th event, 200 otherwise.
    func answer(_ message: Message) -> Receiver.Answer {
        // The event of the attach before the run is not counted.
        guard let number = EventSeeder.number(of: message.event) else { return .now(200) }
        return state.withLock { state in
            guard number < state.isSeen.count else { return .now(200) }
            state.counts.attempts += 1
            if !state.isSeen[number] {
                state.isSeen[number] = true
                state.counts.seen += 1
                let last = state.sequences[message.subject] ?? 0
                if message.sequence <= last { state.counts.inversions += 1 }
                state.sequences[message.subject] = max(last, message.sequence)
                if Self.hash(message.event) % Self.refusedOf == 0 { return .now(500) }
            }
            if !state.isAccepted[number] {
                state.isAccepted[number] = true
                state.counts.accepted += 1
            }
            return .now(200)
        }
    }

    /// FNV-1a: equal ids give equal results in every run, unlike Swift's own hash.
    private static func hash(_ text: String) -> UInt32 {
        text.utf8.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }
}
