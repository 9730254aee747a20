public import ProviderKit
import Synchronization

/// An HTTP client for tests: it records requests, passes them to a closure, and simulates faults of the network.
public final class RecordingTransport: HTTPTransport {
    public typealias Answer = @Sendable (OutgoingRequest) async throws(HTTPTransportError) -> IncomingReply

    private struct State {
        var requests: [OutgoingRequest] = []
        var behaviour = UpstreamBehaviour.normal
        var interference: Interference?
    }

    /// A closure between a request and its answer, which may replace the answer.
    typealias Interference =
        @Sendable (OutgoingRequest, @escaping Answer) async throws(HTTPTransportError) -> IncomingReply

    /// The step at which the kit ends the provider's process.
    let crash = CrashPoint()
    /// The most HTTP calls that the kit allows in one call of the provider, and in a whole check.
    let limit = CallLimit()
    let checkLimit = CallLimit()

    private let state = Mutex(State())
    private let clock: ManualClock?
    private let changesSomething: @Sendable (OutgoingRequest) -> Bool
    private let answer: Answer

    /// - Parameters:
    ///   - clock: moves on by 10 s during a slow answer.
    ///   - changesSomething: false for calls whose answers are never lost.
    public init(
        clock: ManualClock? = nil, changesSomething: @escaping @Sendable (OutgoingRequest) -> Bool = { _ in true },
        answer: @escaping Answer
    ) {
        self.clock = clock
        self.changesSomething = changesSomething
        self.answer = answer
    }

    /// All requests so far, in the order of their sending.
    public var requests: [OutgoingRequest] { state.withLock { $0.requests } }

    public var behaviour: UpstreamBehaviour {
        get { state.withLock { $0.behaviour } }
        set { state.withLock { $0.behaviour = newValue } }
    }

    var interference: Interference? {
        get { state.withLock { $0.interference } }
        set { state.withLock { $0.interference = newValue } }
    }

    public func send(_ request: OutgoingRequest) async throws(HTTPTransportError) -> IncomingReply {
        await limit.take()
        await checkLimit.take()
        let (behaviour, interference) = state.withLock { state in
            state.requests.append(request)
            return (state.behaviour, state.interference)
        }
        switch crash.step() {
        case .on: break
        case .notAtAll: throw .notSent
        case .onlyThere:
            _ = try await answer(request)
            throw .outcomeUnknown
        }
        if let interference { return try await interference(request, answer) }
        switch behaviour {
        case .normal: return try await answer(request)
        case .unavailable: throw .notSent
        case .slow:
            clock?.advance(seconds: 10)
            return try await answer(request)
        case .lostReplies:
            let reply = try await answer(request)
            if changesSomething(request) { throw .outcomeUnknown }
            return reply
        }
    }
}
