import Domain
import Logging
import ServiceLifecycle
import Store
import Synchronization

/// The worker of a node: takes due jobs and runs them, each kind's lane apart, so that no kind waits for another.
package struct JobRunner: Service {
    /// Kinds that share a number of places.
    package struct Lane: Sendable {
        package let kinds: [JobKind]
        /// Whose jobs, where the subjects are webhooks.
        let endpoints: WebhookHealth
        package let width: Int

        init(kinds: [JobKind], of endpoints: WebhookHealth = .any, width: Int) {
            self.kinds = kinds
            self.endpoints = endpoints
            self.width = width
        }

        /// What makes the attempts: endpoints that only fail have their own places, so that however many they are, no
        /// other waits for them.
        ///
        /// - Parameter widths: one place is one endpoint, because a hanging one must not keep another out.
        static func delivering(widths: (first: Int, further: Int, failing: Int)) -> [Lane] {
            let grace = DeliverySchedule.failingGrace
            return [
                Lane(kinds: [.deliverWebhook], of: .healthy(grace: grace), width: widths.first),
                Lane(kinds: [.retryDeliveries], of: .healthy(grace: grace), width: widths.further),
                Lane(kinds: [.deliverWebhook, .retryDeliveries], of: .failing(grace: grace), width: widths.failing),
            ]
        }

        /// What asks providers may hang for a while; what only settles never does.
        package static let all =
            [
                Lane(kinds: [.processNotification], width: 8),
                Lane(kinds: [.expireOrder, .reconcilePayment, .reconcileRefund, .completeRequest], width: 8),
                Lane(kinds: [.syncAccount], width: 2),
                Lane(kinds: [.checkSubscription, .checkReceipt], width: 8),
                Lane(kinds: [.replayNotifications], width: 2),
                Lane(kinds: [.answerConsumption], width: 2),
                Lane(kinds: [.grantUnmapped], width: 1),
                Lane(kinds: [.findWork], width: 1),
                Lane(kinds: [.crossBoundaries], width: 1),
                Lane(kinds: [.dispatchEvents], width: 1),
                Lane(kinds: [.endDeliveries], width: 1),
                Lane(kinds: [.sealAudit, .applyRetention], width: 1),
            ] + delivering(widths: (first: 128, further: 64, failing: 64))
    }

    /// A continuous job takes a breath of this length after each pass, and looks at least so often.
    private static let gathering = Duration.milliseconds(10)
    private static let looking = Duration.milliseconds(100)

    private let gateway: Gateway
    private let lanes: [Lane]
    /// How often all lanes together look for work that another node or the clock made.
    private let interval: Duration

    package init(gateway: Gateway, lanes: [Lane] = Lane.all, interval: Duration = .milliseconds(500)) {
        self.gateway = gateway
        self.lanes = lanes
        self.interval = interval
    }

    /// Works until the graceful shutdown; jobs under way are finished.
    package func run() async throws {
        try await prepare()
        let lanes = lanes.map { (lane: $0, found: JobSignal()) }
        await withDiscardingTaskGroup { group in
            for (lane, found) in lanes { group.addTask { await work(lane, found) } }
            group.addTask { await look(for: lanes) }
        }
    }

    /// Makes the jobs that there always are, as soon as the database answers: it may be coming up just now.
    private func prepare() async throws(GatewayError) {
        while !Task.isShuttingDownGracefully && !Task.isCancelled {
            do throws(GatewayError) {
                try await gateway.endOldLeases()
                return try await gateway.prepareJobs()
            } catch .temporarilyUnavailable {
                await cancelWhenGracefulShutdown { await gateway.pause(interval) }
            }
        }
    }

    /// Wakes the lanes for which something is due: many lanes that each look by themselves are many questions a second, at
    /// every node, of a database where mostly nothing is.
    private func look(for lanes: [(lane: Lane, found: JobSignal)]) async {
        let kinds = Set(lanes.flatMap(\.lane.kinds)).sorted { $0.rawValue < $1.rawValue }
        while !Task.isShuttingDownGracefully && !Task.isCancelled {
            await cancelWhenGracefulShutdown { await gateway.pause(interval) }
            guard let due = try? await gateway.dueKinds(of: kinds) else { continue }
            for (lane, found) in lanes where lane.kinds.contains(where: due.contains) { found.notify() }
        }
    }

    /// - Parameter found: says that something is due that this node did not ask for.
    private func work(_ lane: Lane, _ found: JobSignal) async {
        let places = Places(lane.width)
        let signal = gateway.signal(of: lane.kinds)
        await withDiscardingTaskGroup { group in
            while !Task.isShuttingDownGracefully && !Task.isCancelled {
                let (asked, foundBefore) = (signal.asked, found.asked)
                let free = places.free
                let jobs = free > 0 ? await claim(lane, free) : []
                for job in jobs {
                    places.take()
                    group.addTask {
                        await perform(job)
                        places.leave()
                        signal.notify()
                    }
                }
                // A full lane goes on when a place is free; an idle one when something is asked for.
                guard jobs.count < free || free == 0 else { continue }
                await waitForFirst({ await signal.wait(since: asked) }, { await found.wait(since: foundBefore) })
            }
        }
    }

    private func claim(_ lane: Lane, _ free: Int) async -> [ClaimedJob] {
        (try? await gateway.claimJobs(lane.kinds, of: lane.endpoints, limit: Int64(free))) ?? []
    }

    private func waitForFirst(
        _ one: @escaping @Sendable () async -> Void, _ other: @escaping @Sendable () async -> Void
    ) async {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await one() }
                group.addTask { await other() }
                await group.next()
                group.cancelAll()
            }
        }
    }

    private func perform(_ job: ClaimedJob) async {
        guard job.kind.isContinuous else { return await gateway.perform(job) }
        await gateway.perform(job) { asked in
            // What follows at once shares a pass, and so a commit.
            await cancelWhenGracefulShutdown { await gateway.pause(Self.gathering) }
            await waitForFirst({ await gateway.outbox.wait(since: asked) }, { await gateway.pause(Self.looking) })
            return !Task.isShuttingDownGracefully && !Task.isCancelled
        }
    }
}

/// How many places of a lane are free.
private final class Places: Sendable {
    private let width: Int
    private let taken = Atomic<Int>(0)

    init(_ width: Int) { self.width = width }

    var free: Int { width - taken.load(ordering: .acquiring) }

    func take() { taken.add(1, ordering: .acquiringAndReleasing) }
    func leave() { taken.subtract(1, ordering: .acquiringAndReleasing) }
}
