import ServiceLifecycle
package import Store
import Synchronization

/// The number of nodes that serve this database; each takes an equal part of limits that all nodes share.
///
/// The database is queried every five seconds, without a write. While it is down, the last number is used.
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

    /// The number of nodes, this one included.
    package var nodes: Int64 { count.load(ordering: .relaxed) }

    package func take() async {
        guard let nodes = try? await store.engine.liveNodes() else { return }
        count.store(max(1, nodes), ordering: .relaxed)
    }

    /// Updates the number until the graceful shutdown.
    package func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            while !Task.isCancelled {
                await take()
                await pause(Self.interval)
            }
        }
    }
}
