import ServiceLifecycle

/// Says once that the server listens, to the one service that waits for it.
final class StartSignal: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func give() { continuation.finish() }

    /// Returns once it was given; sooner only where the task is cancelled.
    func wait() async { for await _ in stream {} }
}

/// A service that begins once the server listens: one that cannot, such as on a port in use, has done nothing else.
struct AfterStart: Service {
    let signal: StartSignal
    let service: any Service

    func run() async throws {
        await cancelWhenGracefulShutdown { await signal.wait() }
        guard !Task.isCancelled else { return }
        try await service.run()
    }
}
