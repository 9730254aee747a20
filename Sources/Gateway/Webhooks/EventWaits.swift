import Domain
import Synchronization

/// The readers on this node that wait for the next event.
///
/// Their number is bounded, because each holds a place of the node's concurrent work while it waits.
package final class EventWaits: Sendable {
    /// The longest time that a reader may ask for, in seconds.
    package static let longest: Int64 = 25
    /// The most readers of a node, and of a key.
    static let (limit, perKey) = (64, 8)
    /// The seconds after which a reader that was refused may try again.
    private static let retryAfter: Int64 = 5
    /// The interval at which events that another node numbered are looked for.
    private static let interval = Duration.milliseconds(500)

    private struct State {
        var keys: [ID<APIKey>: Int] = [:]
        var isClosed = false
        var count: Int { keys.values.reduce(0, +) }
    }

    private let state = Mutex(State())
    private let signal: JobSignal
    private let time: TimeSource
    private let pause: @Sendable (Duration) async -> Void
    /// True where other nodes may number events.
    private let isShared: Bool

    init(signal: JobSignal, time: TimeSource, isShared: Bool, pause: @escaping @Sendable (Duration) async -> Void) {
        self.signal = signal
        self.time = time
        self.isShared = isShared
        self.pause = pause
    }

    /// Ends every wait; later ones end at once.
    package func close() {
        state.withLock { $0.isClosed = true }
        signal.notify()
    }

    /// Reads until something is found, or until the time is over.
    ///
    /// - Parameters:
    ///   - seconds: 0 reads once.
    ///   - read: reads what there is; nil for nothing yet.
    /// - Returns: nil where nothing was found.
    /// - Throws: `rateLimited` where too many wait.
    func first<Found: Sendable>(
        within seconds: Int64, for key: ID<APIKey>, _ read: () async throws(GatewayError) -> Found?
    ) async throws(GatewayError) -> Found? {
        guard seconds > 0 else { return try await read() }
        let isTaken = state.withLock { state in
            guard state.count < Self.limit, state.keys[key, default: 0] < Self.perKey else { return false }
            state.keys[key, default: 0] += 1
            return true
        }
        guard isTaken else { throw .rateLimited(retryAfter: Self.retryAfter) }
        defer {
            state.withLock { state in
                let left = state.keys[key, default: 1] - 1
                state.keys[key] = left > 0 ? left : nil
            }
        }
        return try await poll(until: time.milliseconds() + seconds * 1_000, read)
    }

    /// Reads at each signal, and at an interval, until something is found.
    ///
    /// - Parameter end: in milliseconds of real time.
    func poll<Found: Sendable>(
        until end: Int64, _ read: () async throws(GatewayError) -> Found?
    ) async throws(GatewayError) -> Found? {
        while true {
            let asked = signal.asked
            if let found = try await read() { return found }
            let left = Duration.milliseconds(end - time.milliseconds())
            guard left > .zero, !Task.isCancelled, !state.withLock(\.isClosed) else { return nil }
            await rest(isShared ? min(left, Self.interval) : left, since: asked)
        }
    }

    /// Waits for a signal or a time, whichever comes first.
    private func rest(_ duration: Duration, since asked: UInt64) async {
        await withTaskGroup(of: Void.self) { [signal, pause] group in
            group.addTask { await signal.wait(since: asked) }
            group.addTask { await pause(duration) }
            await group.next()
            group.cancelAll()
        }
    }
}
