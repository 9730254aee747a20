import Domain
import Logging
import ServiceLifecycle
import Store
import Synchronization

/// The service that claims due jobs and runs them, in a lane for each group of kinds, so that no group waits for
/// another.
package struct JobRunner: Service {
    /// A group of kinds with a common limit of concurrent runs.
    package struct Lane: Sendable {
        package let kinds: [JobKind]
        /// The endpoints whose jobs the lane claims, where the subjects are webhooks.
        let endpoints: WebhookHealth
        package let width: Int
        /// The largest number of concurrent runs for one account, so that an account that hangs leaves the rest to the
        /// others; nil = no limit.
        package let perAccount: Int?

        init(kinds: [JobKind], of endpoints: WebhookHealth = .any, width: Int, perAccount: Int? = nil) {
            self.kinds = kinds
            self.endpoints = endpoints
            self.width = width
            self.perAccount = perAccount
        }

        /// Makes the lanes of deliveries; endpoints that fail all the time have a lane of their own, so that no other
        /// endpoint waits for them.
        ///
        /// - Parameter widths: the numbers of endpoints that are served concurrently.
        static func delivering(widths: (first: Int, further: Int, failing: Int)) -> [Lane] {
            let grace = DeliverySchedule.failingGrace
            return [
                Lane(kinds: [.deliverWebhook], of: .healthy(grace: grace), width: widths.first),
                Lane(kinds: [.retryDeliveries], of: .healthy(grace: grace), width: widths.further),
                Lane(kinds: [.deliverWebhook, .retryDeliveries], of: .failing(grace: grace), width: widths.failing),
            ]
        }

        /// The lanes of a node; kinds that call providers, which may hang, are apart from those that use only the
        /// database.
        package static let all =
            [
                Lane(kinds: [.processNotification], width: 8),
                Lane(
                    kinds: [.expireOrder, .reconcilePayment, .reconcileRefund, .closeAttempts, .completeRequest],
                    width: 32,
                    perAccount: 8),
                Lane(kinds: [.renewSubscription, .reconcileSetup, .revokeMandate], width: 32, perAccount: 16),
                Lane(kinds: [.announceRenewal, .announcePrices], width: 4),
                Lane(kinds: [.checkHeldCharges], width: 1),
                Lane(kinds: [.reportExternalPurchase], width: 8),
                Lane(kinds: [.syncAccount], width: 2),
                Lane(kinds: [.checkSubscription, .checkReceipt], width: 8),
                Lane(kinds: [.replayNotifications], width: 2),
                Lane(kinds: [.answerConsumption], width: 2),
                Lane(kinds: [.grantUnmapped, .regradePurchases, .nameAppTransactions], width: 1),
                Lane(kinds: [.findWork], width: 1),
                Lane(kinds: [.crossBoundaries], width: 1),
                Lane(kinds: [.dispatchEvents], width: 1),
                Lane(kinds: [.endDeliveries], width: 1),
                Lane(kinds: [.sealAudit, .applyRetention], width: 1),
            ] + delivering(widths: (first: 128, further: 64, failing: 64))
    }

    /// The pause of a continuous job after each pass.
    private static let gathering = Duration.milliseconds(10)

    private let gateway: Gateway
    private let lanes: [Lane]
    /// The longest time until the next pass of a continuous job.
    ///
    /// Events of this process are signalled; those of other nodes, which only PostgreSQL has, must be looked for.
    private var looking: Duration { gateway.knowsDueTimes ? Self.longestSleep : .milliseconds(100) }
    /// The longest time without a look for what is due, where only this process writes and nothing is.
    private static let longestSleep = Duration.seconds(5)
    /// The interval at which all lanes together look for work that another node or the clock made.
    private let interval: Duration

    package init(gateway: Gateway, lanes: [Lane] = Lane.all, interval: Duration = .milliseconds(500)) {
        self.gateway = gateway
        self.lanes = lanes
        self.interval = interval
    }

    /// Runs until the graceful shutdown; jobs under way are finished.
    package func run() async throws {
        try await prepare()
        let lanes = lanes.map { (lane: $0, found: JobSignal()) }
        await withDiscardingTaskGroup { group in
            for (lane, found) in lanes { group.addTask { await work(lane, found) } }
            group.addTask { await look(for: lanes) }
            if let box = gateway.appStore { group.addTask { await keep(box) } }
        }
    }

    /// Makes the jobs that always exist, as soon as the database answers.
    private func prepare() async throws(GatewayError) {
        while !Task.isShuttingDownGracefully && !Task.isCancelled {
            do throws(GatewayError) {
                try await gateway.workFinder.endOldLeases()
                return try await gateway.workFinder.prepare()
            } catch .temporarilyUnavailable {
                await cancelWhenGracefulShutdown { await gateway.pause(interval) }
            }
        }
    }

    /// Wakes the lanes for which a job is due, by one query for all lanes.
    private func look(for lanes: [(lane: Lane, found: JobSignal)]) async {
        let kinds = Set(lanes.flatMap(\.lane.kinds)).sorted { $0.rawValue < $1.rawValue }
        while !Task.isShuttingDownGracefully && !Task.isCancelled {
            let asked = gateway.signals.dueTimes.asked
            if gateway.knowsDueTimes, let search = try? await gateway.jobQueue.search(for: kinds) {
                wake(lanes, for: search.due)
                if search.due.isEmpty, await sleep(since: asked, for: search.next) { continue }
            } else if let due = try? await gateway.jobQueue.dueKinds(of: kinds) {
                wake(lanes, for: due)
            }
            await cancelWhenGracefulShutdown { await gateway.pause(interval) }
        }
    }

    private func wake(_ lanes: [(lane: Lane, found: JobSignal)], for due: [JobKind]) {
        for (lane, found) in lanes where lane.kinds.contains(where: due.contains) { found.notify() }
    }

    /// Sleeps while nothing can be due: for a time, or until a commit changes what is due when.
    ///
    /// - Parameters:
    ///   - asked: the number of such commits before the search for what is due.
    ///   - time: the time until something is due; nil for never.
    /// - Returns: true after the time; false after a commit, and at once where other processes write as well.
    private func sleep(since asked: UInt64, for time: Duration?) async -> Bool {
        let (signal, time) = (gateway.signals.dueTimes, time ?? Self.longestSleep)
        guard gateway.knowsDueTimes, time > .zero else { return false }
        await waitForFirst(
            { await signal.wait(since: asked) }, { await gateway.pause(min(time, Self.longestSleep)) })
        return signal.asked == asked
    }

    /// Lets the App Store in a box renew, and send what an ended process has left, while real time passes.
    private func keep(_ box: BoxedAppStore) async {
        // Another node may be about to send what it has just stored.
        let isAlone = gateway.store.engine.dialect == .sqlite
        while !Task.isShuttingDownGracefully && !Task.isCancelled {
            let asked = gateway.signals.dueTimes.asked
            // A move of the clock runs the box itself, and an outage is over one day.
            if (try? await gateway.clockFollower.refresh()) != nil, !gateway.clock.isMoving {
                _ = try? await box.runDue(patience: isAlone ? 0 : 3_000)
            }
            if let wait = try? await box.timeUntilDue(), await sleep(since: asked, for: wait) { continue }
            await cancelWhenGracefulShutdown { await gateway.pause(interval) }
        }
    }

    /// - Parameter found: notified when a job is due that this node did not make.
    private func work(_ lane: Lane, _ found: JobSignal) async {
        let places = Places(lane)
        let signal = gateway.signals.signal(of: lane.kinds)
        await withDiscardingTaskGroup { group in
            while !Task.isShuttingDownGracefully && !Task.isCancelled {
                let (asked, foundBefore) = (signal.asked, found.asked)
                let room = places.room
                let jobs = room.count > 0 ? await claim(lane, room) : []
                for job in jobs {
                    places.take(job)
                    group.addTask {
                        await perform(job)
                        places.leave(job)
                        signal.notify()
                    }
                }
                // A full lane continues when a run ends; an idle one at the next signal.
                guard jobs.count < room.count || room.count == 0 else { continue }
                await waitForFirst({ await signal.wait(since: asked) }, { await found.wait(since: foundBefore) })
            }
        }
    }

    private func claim(_ lane: Lane, _ room: Places.Room) async -> [ClaimedJob] {
        let jobs = try? await gateway.jobQueue.claim(
            lane.kinds, of: lane.endpoints, besides: room.full, limit: Int64(room.count))
        return jobs ?? []
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
        guard job.kind.isContinuous else { return await gateway.worker.perform(job) }
        await gateway.worker.perform(job) { asked in
            // Events that follow within this time share a pass, and so a commit.
            await cancelWhenGracefulShutdown { await gateway.pause(Self.gathering) }
            if gateway.clock.isMoving { return false }
            await waitForFirst(
                { await gateway.signals.events.wait(since: asked) }, { await gateway.pause(looking) })
            // A move of the clock dispatches events itself.
            return !gateway.clock.isMoving && !Task.isShuttingDownGracefully && !Task.isCancelled
        }
    }
}

/// The concurrent runs of a lane, counted by account.
private final class Places: Sendable {
    /// The number of jobs that may be claimed now.
    struct Room {
        let count: Int
        /// The accounts at their limit of runs; nil in a lane without that limit.
        let full: [AccountID]?
    }

    private struct State {
        var taken = 0
        var byAccount: [AccountID: Int] = [:]
    }

    private let lane: JobRunner.Lane
    private let state = Mutex(State())

    init(_ lane: JobRunner.Lane) { self.lane = lane }

    /// The number of further jobs, at most as many as the busiest account may still run, because all may be of that
    /// account.
    var room: Room {
        state.withLock { state in
            let free = lane.width - state.taken
            guard let perAccount = lane.perAccount else { return Room(count: free, full: nil) }
            let most = state.byAccount.values.filter { $0 < perAccount }.max() ?? 0
            let full = state.byAccount.filter { $0.value >= perAccount }.keys.sorted()
            return Room(count: min(free, perAccount - most), full: full)
        }
    }

    func take(_ job: ClaimedJob) { count(job, by: 1) }
    func leave(_ job: ClaimedJob) { count(job, by: -1) }

    private func count(_ job: ClaimedJob, by number: Int) {
        state.withLock { state in
            state.taken += number
            for account in job.accounts {
                let held = state.byAccount[account, default: 0] + number
                state.byAccount[account] = held > 0 ? held : nil
            }
        }
    }
}
