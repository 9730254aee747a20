import ServiceLifecycle

/// Signals once that the server listens, to the one service that waits for it.
final class StartSignal: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func give() { continuation.finish() }

    /// Returns once the signal was given, or when the task is cancelled.
    func wait() async { for await _ in stream {} }
}

/// A service that begins once the server listens, so that a server that cannot listen, such as on a used port, has had
/// no other effect.
struct AfterStart: Service {
    let signal: StartSignal
    let service: any Service

    func run() async throws {
        await cancelWhenGracefulShutdown { await signal.wait() }
        guard !Task.isCancelled else { return }
        try await service.run()
    }
}
