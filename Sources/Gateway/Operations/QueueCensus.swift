import Domain
import ServiceLifecycle
package import Store
import Synchronization

/// The lengths of the queues and the state of the hold, which the metrics of each node show.
///
/// The database is queried every ten seconds, without a write; while it is down, the last figures stay.
package final class QueueCensus: Service {
    package static let interval = Duration.seconds(10)

    private let gateway: Gateway
    private let last = Mutex(QueueFigures())

    package init(_ gateway: Gateway) { self.gateway = gateway }

    package var figures: QueueFigures { last.withLock { $0 } }

    package func take() async {
        let (kinds, now) = (JobKind.allCases.map(\.rawValue), gateway.time.reading)
        let found = try? await gateway.store.report { db in
            (try db.jobs.figures(of: kinds, at: now), try db.billingHold.find() != nil)
        }
        guard let (figures, isHeld) = found else { return }
        last.withLock { $0 = figures }
        gateway.renewalMeter.setHeld(isHeld)
    }

    /// Updates the figures until the graceful shutdown.
    package func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            while !Task.isCancelled {
                await take()
                await gateway.pause(Self.interval)
            }
        }
    }
}
