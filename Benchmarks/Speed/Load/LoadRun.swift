import NIOCore
import Synchronization

/// A load: the requests, the number of connections and the time.
struct LoadPlan: Sendable {
    enum Length: Sendable {
        /// Each request once.
        case once
        /// All requests again and again until the time is over.
        case seconds(Int)
    }

    let clients: Int
    let length: Length
    let requests: [ByteBuffer]
    /// The statuses of answers that do not end the run.
    var accepts: Set<Int> = [200]
    /// True where the client's thread hardly sleeps; for a thread that has a core of its own.
    var staysAwake = false
}

/// The state that all connections of a plan share: the next request, and the answers so far.
final class LoadRun: Sendable {
    private struct State {
        var next = 0
        var answered = 0
        var fault: String?
    }

    private let requests: [ByteBuffer]
    private let accepts: Set<Int>
    private let deadline: ContinuousClock.Instant?
    private let state = Mutex(State())

    init(_ plan: LoadPlan) {
        requests = plan.requests
        accepts = plan.accepts
        switch plan.length {
        case .once: deadline = nil
        case .seconds(let seconds): deadline = .now + .seconds(seconds)
        }
    }

    /// The request that a connection sends next; nil when it is done.
    func next() -> ByteBuffer? {
        if let deadline, ContinuousClock.now >= deadline { return nil }
        return state.withLock { state in
            guard state.fault == nil, deadline != nil || state.next < requests.count else { return nil }
            defer { state.next += 1 }
            return requests[state.next % requests.count]
        }
    }

    func take(_ reply: ReplyReader.Reply) {
        state.withLock { state in
            if reply.status == 200 { state.answered += 1 }
            guard !accepts.contains(reply.status), state.fault == nil else { return }
            state.fault = "an answer has status \(reply.status): \(String(buffer: reply.body).prefix(300))"
        }
    }

    func fail(_ fault: String) {
        state.withLock { $0.fault = $0.fault ?? fault }
    }

    /// The number of requests that were answered with 200.
    func finish() throws -> Int {
        let (answered, fault) = state.withLock { ($0.answered, $0.fault) }
        if let fault { throw BenchFailure(description: fault) }
        return answered
    }
}
