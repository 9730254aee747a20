import Synchronization

/// Ends a call that would never end by itself: the calls of a provider that loops are left waiting for ever.
final class CallLimit: Sendable {
    private struct State {
        var left = Int.max
        var whenExceeded: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    func set(_ limit: Int, whenExceeded: @escaping @Sendable () -> Void) {
        state.withLock { $0 = State(left: limit, whenExceeded: whenExceeded) }
    }

    func lift() { state.withLock { $0 = State() } }

    /// Counts a call; the first one beyond the limit is reported, and no call beyond it ever returns.
    func take() async {
        let tell = state.withLock { state -> (@Sendable () -> Void)? in
            state.left -= 1
            return state.left < 0 ? state.whenExceeded : nil
        }
        guard let tell else { return }
        tell()
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }
}
