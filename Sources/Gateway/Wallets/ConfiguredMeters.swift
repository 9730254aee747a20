package import Domain
import Synchronization

/// The meters of the configuration, which may be read anew while the server runs.
package final class ConfiguredMeters: Sendable {
    private let meters: Mutex<[Meter]>

    init(_ meters: [Meter]) { self.meters = Mutex(meters) }

    /// The meters of now; a caller takes them once for each use.
    package var all: [Meter] { meters.withLock { $0 } }

    package func replace(by meters: [Meter]) { self.meters.withLock { $0 = meters } }
}
