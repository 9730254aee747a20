package import ProviderKit
import ServiceLifecycle

/// Fetches the manifests of accounts' services, and fetches them again for changes.
///
/// A service that is down delays nothing: its account opens no payment until the manifest is known.
package struct ManifestWatch: Service {
    /// The interval at which a known manifest is fetched again, and the longest pause while there is none.
    package static let interval = Duration.seconds(60)

    /// The providers of all accounts, because an admin may enable one that its file does not.
    private let providers: [any ManifestFetching]
    private let pause: @Sendable (Duration) async -> Void

    /// - Parameter pause: returns after the time, or at once when its task is cancelled.
    package init(_ registry: ProviderRegistry, pause: @escaping @Sendable (Duration) async -> Void) {
        providers = registry.accounts.compactMap { $0.provider as? any ManifestFetching }
        self.pause = pause
    }

    package var isNeeded: Bool { !providers.isEmpty }

    /// Asks every service once, and waits for the slowest at most until the limit.
    ///
    /// Called before requests are accepted, so that none is refused after a restart while the services are up.
    package func prepare(within limit: Duration) async {
        await withTaskGroup { group in
            group.addTask { await pause(limit) }
            group.addTask {
                await withDiscardingTaskGroup { group in
                    for provider in providers { group.addTask { _ = await provider.fetchManifest(keeps: true) } }
                }
            }
            await group.next()
            group.cancelAll()
        }
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for provider in providers { group.addTask { await watch(provider) } }
            }
        }
    }

    private func watch(_ provider: any ManifestFetching) async {
        var failures = 0
        while !Task.isCancelled {
            if case .awaited = await provider.fetchManifest(keeps: true) { failures += 1 } else { failures = 0 }
            await pause(Self.pause(after: failures))
        }
    }

    /// Returns 1 s after the first failure, and twice as long after each further one.
    package static func pause(after failures: Int) -> Duration {
        failures == 0 ? interval : min(interval, .seconds(1 << min(failures - 1, 6)))
    }
}
