package import Domain
import ProviderKit
import Store

/// The position of business time, and the result of a move.
package struct ClockView: Codable, Sendable, Equatable {
    package let now: Timestamp
    package let offset_seconds: Int64
    package let target: Timestamp
    /// The jobs that the move ran.
    package let jobs_run: Int64
    /// The jobs that are due and not done; above 0 where a move has not reached its target.
    package let pending: Int64
    package let warnings: [String]
}

/// Reads and moves business time, in development mode.
package struct BusinessClock: Sendable {
    let store: StoreAccess
    let settlements: SettlementRunner
    let clock: NodeClock
    let isMovable: Bool
    let follower: ClockFollower
    let sources: [any DueSource]
    let pause: @Sendable (Duration) async -> Void

    private var time: BusinessTime { clock.time }

    private enum Begun: Sendable {
        case reached(ClockGoal)
        case holds(HeldClock, ClockGoal)
    }

    /// Reads the position at the start of a process; on SQLite this ends the move of a process that has died.
    package func open() async throws(GatewayError) {
        if store.database.engine.dialect == .sqlite { try await store.write { tx in try tx.clock.endAnyMove() } }
        clock.adopt(try await store.read { db in try db.clock.find() })
    }

    /// Reads business time.
    ///
    /// - Throws: `notFound` in production mode.
    package func read() async throws(GatewayError) -> ClockView {
        guard isMovable else { throw .notFound }
        try await follower.refresh()
        return try await view(target: nil)
    }

    /// Moves business time forward, from due time to due time.
    ///
    /// - Throws: `notFound` in production mode, `invalidRequest`, `clockIsMoving` while another move runs.
    package func move(_ request: ClockRequest, context: CallContext) async throws(GatewayError) -> ClockView {
        guard isMovable else { throw .notFound }
        try await follower.refresh()
        let begun = try await begin(request, context)
        guard case .holds(let held, let goal) = begun else {
            guard case .reached(let goal) = begun else { throw .internalError }
            return try await view(target: goal.time)
        }
        clock.hold(held.state)
        // The dispatcher gives its lease back when it sees that the clock stands.
        settlements.signals.events.notify()
        // A client that hangs up does not end the move.
        let result = await settlements.providers.calls.perform { () async -> Result<ClockView, GatewayError> in
            do throws(GatewayError) {
                let move = ClockMove(
                    store: store, clock: clock, sources: sources, pause: pause, move: held.move, goal: goal)
                let (jobs, isComplete) = try await move.run()
                settlements.signals.workers.notify()
                return .success(try await view(target: goal.time, jobs: jobs, isComplete: isComplete))
            } catch {
                return .failure(error)
            }
        }
        settlements.signals.dueTimes.notify()
        return try result.get()
    }

    /// Takes the clock, and makes the jobs that always exist where there are none.
    private func begin(_ request: ClockRequest, _ context: CallContext) async throws(GatewayError) -> Begun {
        let now = time.reading
        let standing = JobKind.standing.map { (id: settlements.ids.make(Job.self), kind: $0.rawValue) }
        return try await settlements.run(context.audit) { settlement in
            let tx = settlement.tx
            let found = try tx.clock.lock(at: now.real)
            let earlier = context.resumed.flatMap(ClockGoal.init(resource:))
            if let earlier, earlier.isReached(offset: found.state.offsetSeconds, real: found.real) {
                return .reached(earlier)
            }
            guard !found.isHeld else { throw GatewayError.clockIsMoving }
            let goal = try earlier ?? ClockGoal(request, offset: found.state.offsetSeconds, real: found.real)
            if earlier == nil { try tx.bind(context, to: goal.resource) }
            let held = try tx.clock.begin(lease: ClockMove.lease, at: now)
            for job in standing { try tx.jobs.ensure(job.id, kind: job.kind, subject: "", at: now.business) }
            try settlement.log.audit(
                subject: "clock", "clock.moved", before: found.state.businessTime(at: found.real).iso8601,
                after: goal.time.iso8601)
            return .holds(held, goal)
        }
    }

    private func view(
        target: Timestamp?, jobs: Int64 = 0, isComplete: Bool = true
    ) async throws(GatewayError) -> ClockView {
        let now = time.now
        let kinds = JobKind.allCases.filter { !JobKind.standing.contains($0) }.map(\.rawValue)
        let accounts = settlements.providers.registry.accounts.filter { !$0.manifest.followsBusinessTime }.map(\.id)
        let (pending, behind) = try await store.report { db in
            (
                try db.dueTimes.countDueJobs(of: kinds, at: now),
                try accounts.filter { try db.dueTimes.hasRunningSubscription(at: $0) }
            )
        }
        return ClockView(
            now: now, offset_seconds: clock.state.offsetSeconds, target: target ?? now, jobs_run: jobs,
            pending: isComplete ? pending : max(1, pending),
            warnings: behind.map { "\($0.rawValue) keeps its own time" })
    }
}
