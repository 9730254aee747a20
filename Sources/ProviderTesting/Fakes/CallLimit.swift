import Synchronization

/// The limit of one check's calls, which stops a provider that calls its service in an endless loop.
///
/// Calls beyond the limit never return, so that the provider's task stands still.
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
