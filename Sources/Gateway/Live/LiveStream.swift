import Domain
import Synchronization

/// The events of one stream that its client has not taken.
///
/// They are merged while they wait, so that a slow client gets the newest state and holds little memory.
final class LiveStream: Sendable {
    /// The most orders that wait, and whose last state is remembered.
    private static let orderLimit = 100

    private struct State {
        var entitlements: LiveEntitlements?
        var version: Int64 = -1
        var orders: [LiveOrder] = []
        /// The last state of each order, the order that changed last at the end.
        var known: [LiveOrder] = []
        var hasComment = false
        var bye: LiveEnd?
        var isClosed = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    let audience: LiveAudience
    private let state = Mutex(State())

    init(_ audience: LiveAudience) { self.audience = audience }

    /// The orders of which the stream has told.
    var knownOrders: [ID<Order>] { state.withLock { $0.known.map(\.id) } }

    /// Shows entitlements that are newer than the last.
    func show(_ entitlements: LiveEntitlements) {
        change { state in
            guard entitlements.version > state.version else { return false }
            state.version = entitlements.version
            state.entitlements = entitlements
            return true
        }
    }

    /// Shows an order where it differs from its last state; a client that leaves too many waiting is let go.
    func show(_ order: LiveOrder) {
        change { state in
            guard !state.known.contains(order) else { return false }
            state.known.removeAll { $0.id == order.id }
            state.known.append(order)
            if state.known.count > Self.orderLimit { state.known.removeFirst() }
            state.orders.removeAll { $0.id == order.id }
            state.orders.append(order)
            if state.orders.count > Self.orderLimit { state.isClosed = true }
            return true
        }
    }

    func comment() {
        change { state in
            state.hasComment = true
            return true
        }
    }

    /// Ends the stream after a last event.
    func end(_ reason: LiveEnd) {
        change { state in
            state.bye = state.bye ?? reason
            return true
        }
    }

    /// Ends the stream without a word: its client is gone.
    func close() {
        change { state in
            state.isClosed = true
            return true
        }
    }

    /// Returns the next events; nil at the end.
    func next() async -> [LiveEvent]? {
        while true {
            switch state.withLock({ Self.take(from: &$0) }) {
            case .some(let events): return events
            case .none: await waitForChange()
            }
        }
    }

    /// Returns the waiting events, nil for the end of the stream; none where the reader has to wait.
    private static func take(from state: inout State) -> [LiveEvent]?? {
        guard !state.isClosed else { return .some(nil) }
        var events: [LiveEvent] = []
        if let entitlements = state.entitlements { events.append(.entitlements(entitlements)) }
        events += state.orders.map(LiveEvent.order)
        if state.hasComment { events.append(.comment) }
        if let bye = state.bye {
            events.append(.bye(bye))
            state.isClosed = true
        }
        (state.entitlements, state.orders, state.hasComment) = (nil, [], false)
        return events.isEmpty ? .none : .some(events)
    }

    private func waitForChange() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state -> Bool in
                    if Task.isCancelled { state.isClosed = true }
                    let isWaiting =
                        !state.isClosed && state.entitlements == nil && state.orders.isEmpty && !state.hasComment
                        && state.bye == nil
                    if isWaiting { state.waiting = continuation }
                    return !isWaiting
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            close()
        }
    }

    /// - Parameter body: returns true where the reader has to be woken.
    private func change(_ body: (inout State) -> Bool) {
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.isClosed, body(&state) else { return nil }
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }
}

/// A client's hold of a stream, which ends when nothing refers to it any more.
package final class LiveSubscription: Sendable {
    private let stream: LiveStream
    private let leave: @Sendable () -> Void

    init(_ stream: LiveStream, leave: @escaping @Sendable () -> Void) {
        self.stream = stream
        self.leave = leave
    }

    deinit { close() }

    /// Returns the next events, waiting for them; nil at the end of the stream.
    package func next() async -> [LiveEvent]? { await stream.next() }

    /// Ends the stream.
    package func close() {
        stream.close()
        leave()
    }
}
