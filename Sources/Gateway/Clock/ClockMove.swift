import Domain
import ServiceLifecycle
import Store

/// Moves the clock once, from due time to due time.
///
/// At each step business time stands, and everything that is due runs until nothing is. The position is in the database
/// after each step, so that a process that dies loses nothing: the clock goes on from the last step.
struct ClockMove: Sendable {
    /// The seconds after which the clock runs again if the process of a move has died.
    static let lease: Int64 = 10
    /// The longest real time of a move in milliseconds.
    private static let longest: Int64 = 60_000

    let store: StoreAccess
    let clock: NodeClock
    let sources: [any DueSource]
    let pause: @Sendable (Duration) async -> Void
    let move: Int64
    let goal: ClockGoal

    private var time: BusinessTime { clock.time }

    /// Moves the clock as far as it gets.
    ///
    /// - Returns: the jobs that were run, and whether the goal was reached.
    func run() async throws(GatewayError) -> (jobs: Int64, isComplete: Bool) {
        let keeping = Task {
            while !Task.isCancelled {
                await pause(.seconds(Self.lease / 4))
                let now = time.real.now
                if !Task.isCancelled {
                    try? await store.write { tx in try tx.clock.extend(move, by: Self.lease, at: now) }
                }
            }
        }
        defer { keeping.cancel() }
        do throws(GatewayError) {
            let (jobs, isComplete) = try await steps()
            clock.adopt(try await end(isComplete))
            return (jobs, isComplete)
        } catch {
            // The clock runs on from the last step.
            if let state = try? await end(false) { clock.adopt(state) }
            clock.release()
            throw error
        }
    }

    private func steps() async throws(GatewayError) -> (jobs: Int64, isComplete: Bool) {
        let begun = time.real.milliseconds()
        var jobs: Int64 = 0
        while true {
            while true {
                let progress = try await runDue()
                jobs += progress.jobs
                let isOver = time.real.milliseconds() - begun >= Self.longest || Task.isShuttingDownGracefully
                if progress.isWaiting || isOver { return (jobs, false) }
                if progress.jobs == 0 { break }
            }
            // Real time goes on meanwhile: with a fixed offset, more becomes due.
            let elapsed = (time.real.milliseconds() - begun) / 1_000
            let limit = goal.offset == nil ? goal.time : goal.time.adding(seconds: elapsed)
            var due: [Timestamp?] = []
            for source in sources { due.append(try await source.nextDue(after: time.now)) }
            guard let next = ClockGoal.nextStep(after: time.now, due: due, limit: limit) else { return (jobs, true) }
            try await stand(at: next)
        }
    }

    /// Runs what is due now, source by source.
    private func runDue() async throws(GatewayError) -> DueProgress {
        var progress = DueProgress()
        for source in sources {
            progress = try await progress + source.runDue()
            if progress.isWaiting { return progress }
        }
        return progress
    }

    private func stand(at next: Timestamp) async throws(GatewayError) {
        let now = time.real.now
        let held = try await store.write { tx in
            try tx.clock.stand(at: next, in: move, lease: Self.lease, at: now)
        }
        clock.hold(held.state)
    }

    private func end(_ isComplete: Bool) async throws(GatewayError) -> ClockState {
        let (now, reached) = (time.real.now, time.now)
        return try await store.write { tx in
            if isComplete, let offset = goal.offset { return try tx.clock.end(move, offset: offset) }
            return try tx.clock.end(move, from: isComplete ? goal.time : reached, at: now)
        }
    }
}
