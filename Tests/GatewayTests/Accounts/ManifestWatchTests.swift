import Domain
import Gateway
import ProviderKit
import Synchronization
import TestSupport
import Testing

struct ManifestWatchTests {
    /// A plugin whose manifest states come from a script; its payment calls are never used.
    private final class Plugin: Sendable {
        private let script: Mutex<[ManifestState]>
        private let kept = Mutex<[Bool]>([])

        init(_ script: [ManifestState]) { self.script = Mutex(script) }

        var asked: [Bool] { kept.withLock { $0 } }

        func next(keeps: Bool) -> ManifestState {
            kept.withLock { $0.append(keeps) }
            return script.withLock { $0.isEmpty ? .pinned : $0.removeFirst() }
        }
    }

    private struct FetchingProvider: ManifestFetching {
        static let manifest = ScriptedProvider.manifest

        let plugin: Plugin
        let scripted = ScriptedProvider()

        init(_ plugin: Plugin) { self.plugin = plugin }

        init(account: ProviderAccount, context: ProviderContext) throws(ProviderSetupError) {
            plugin = Plugin([])
        }

        var manifestState: ManifestState { .pinned }

        func fetchManifest(keeps: Bool) async -> ManifestState { plugin.next(keeps: keeps) }

        func open(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
            try await scripted.open(attempt)
        }

        func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
            try await scripted.query(payment)
        }

        func cancel(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
            try await scripted.cancel(payment)
        }

        func refund(_ refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
            try await scripted.refund(refund)
        }

        func query(refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
            try await scripted.query(refund: refund)
        }

        func receive(_ notification: RawNotification) async throws(ProviderError) -> ReceivedNotification {
            try await scripted.receive(notification)
        }
    }

    private final class Paused: Sendable {
        private let pauses = Mutex<[Duration]>([])

        var all: [Duration] { pauses.withLock { $0 } }

        /// - Returns: the number of pauses so far.
        func add(_ pause: Duration) -> Int {
            pauses.withLock { pauses in
                pauses.append(pause)
                return pauses.count
            }
        }
    }

    private func account(_ provider: any PaymentProvider, enabled: Bool = true) throws -> ConfiguredAccount {
        ConfiguredAccount(
            id: try .test("plug"), provider: provider, isTest: false, enabled: enabled, routing: AccountRouting(),
            notifyToken: nil)
    }

    @Test(arguments: [true, false])
    func `a service that is down is asked ever more seldom, and one that answers once in a minute`(
        enabled: Bool
    ) async throws {
        let down = ManifestState.awaited(why: "it is down")
        let plugin = Plugin(Array(repeating: down, count: 8) + [.pinned, .changed(what: "cancel"), down])
        let pauses = Paused()
        let (ended, end) = AsyncStream<Void>.makeStream()
        let registry = ProviderRegistry(
            kinds: [ScriptedProvider.self], accounts: [try account(FetchingProvider(plugin), enabled: enabled)])
        let watch = ManifestWatch(registry) { pause in
            guard pauses.add(pause) == 11 else { return }
            end.finish()
            await Pauses.forever(pause)
        }
        #expect(watch.isNeeded)
        let running = Task { try await watch.run() }
        for await _ in ended {}
        running.cancel()
        try await running.value
        #expect(pauses.all == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 1].map { .seconds($0) })
        #expect(plugin.asked == Array(repeating: true, count: 11))
    }

    @Test func `without such a provider there is nothing to watch`() throws {
        let registry = ProviderRegistry(
            kinds: [ScriptedProvider.self], accounts: [try account(ScriptedProvider())])
        #expect(!ManifestWatch(registry, pause: Pauses.forever).isNeeded)
        #expect(registry[try .test("plug")]?.manifestState == nil)
    }
}
