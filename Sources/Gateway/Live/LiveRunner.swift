import ServiceLifecycle

/// The service that keeps the live streams going, and ends them and the waits for events at the graceful shutdown.
///
/// It comes after the HTTP server in the list of services, so that it stops first: the server waits for its answers.
package struct LiveRunner: Service {
    /// The time for which changes are collected, so that those of one act are told together.
    private static let gathering = Duration.milliseconds(20)
    /// The interval at which times are checked: ends of tokens and entitlements, and comments.
    private static let interval = Duration.milliseconds(250)
    /// The same where no stream is open; opening one ends it.
    private static let idleInterval = Duration.seconds(5)

    private let gateway: Gateway

    package init(gateway: Gateway) { self.gateway = gateway }

    package func run() async throws {
        let live = gateway.live
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await live.listen() }
                group.addTask { await pass(live) }
            }
        }
        live.close()
        gateway.events.waits.close()
    }

    private func pass(_ live: LiveStreams) async {
        let signal = gateway.signals.live.signal
        while !Task.isCancelled {
            let asked = signal.asked
            await live.pass()
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await signal.wait(since: asked) }
                group.addTask { await gateway.pause(live.count > 0 ? Self.interval : Self.idleInterval) }
                await group.next()
                group.cancelAll()
            }
            await gateway.pause(Self.gathering)
        }
    }
}
