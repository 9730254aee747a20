import Foundation

/// The states of a model for everybody who follows it.
@MainActor
final class Changes<State: Sendable> {
    private var listeners: [UUID: AsyncStream<State>.Continuation] = [:]

    /// The present state, then each further one.
    func stream(from present: State) -> AsyncStream<State> {
        let id = UUID()
        return AsyncStream { continuation in
            continuation.yield(present)
            listeners[id] = continuation
            continuation.onTermination = { _ in Task { @MainActor in self.listeners[id] = nil } }
        }
    }

    func send(_ state: State) { for listener in listeners.values { listener.yield(state) } }
}
