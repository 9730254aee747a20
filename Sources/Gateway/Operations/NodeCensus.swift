import ServiceLifecycle
package import Store
import Synchronization

/// The number of nodes that serve this database, by which limits that all nodes share are divided.
///
/// The database is asked every five seconds, and nothing is written for it. While the database is away, the last number is
/// used.
package final class NodeCensus: Service {
    /// The longest time for which the number is wrong after a node has come or gone.
    package static let interval = Duration.seconds(5)

    private let store: Store
    private let pause: @Sendable (Duration) async -> Void
    private let count = Atomic<Int64>(1)

    package init(store: Store, pause: @escaping @Sendable (Duration) async -> Void) {
        self.store = store
        self.pause = pause
    }

    /// This node included.
    package var nodes: Int64 { count.load(ordering: .relaxed) }

    package func take() async {
        guard let nodes = try? await store.engine.liveNodes() else { return }
        count.store(max(1, nodes), ordering: .relaxed)
    }

    /// Counts until the graceful shutdown.
    package func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            while !Task.isCancelled {
                await take()
                await pause(Self.interval)
            }
        }
    }
}
