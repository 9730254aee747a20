/// Pauses of a ``GatewayFixture``, whose time stands still.
package enum Pauses {
    /// Ends only when its task is cancelled.
    package static let forever: @Sendable (Duration) async -> Void = { _ in
        let (never, _) = AsyncStream<Void>.makeStream()
        for await _ in never {}
    }
}
