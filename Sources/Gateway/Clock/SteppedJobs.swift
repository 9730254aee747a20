import Domain
import Store

/// Runs jobs while the clock stands.
struct SteppedJobs: Sendable {
    let store: StoreAccess
    let queue: JobQueue
    let calls: ProviderCalls
    let time: BusinessTime
    let perform: @Sendable (ClaimedJob) async -> Void

    /// The jobs that run at the same time.
    private static let width: Int64 = 32
    /// The pauses until another worker's lease has ended, and their number.
    private static let pause = Duration.milliseconds(100)
    private static let pauses = 100
    /// The longest time for which a move waits for the jobs of one claim, which may call providers.
    private static let patience = Duration.seconds(12)

    /// Runs a job that always exists, once, and again while it says that there is more.
    ///
    /// - Parameter onlyDue: true to leave it out where it is not due.
    func runStanding(_ kind: JobKind, onlyDue: Bool = false) async throws(GatewayError) -> DueProgress {
        if onlyDue, try await !isDue(kind) { return DueProgress() }
        repeat {
            guard let job = try await claim(kind) else { return DueProgress(isWaiting: true) }
            guard await finish([job]) else { return DueProgress(isWaiting: true) }
        } while try await isDue(kind)
        return DueProgress()
    }

    /// Runs the due jobs of these kinds until none is due.
    func runDue(_ kinds: [JobKind]) async throws(GatewayError) -> DueProgress {
        var progress = DueProgress()
        var pauses = 0
        while true {
            let claimed = try await queue.claim(kinds, limit: Self.width, inMove: true)
            if claimed.isEmpty {
                let (now, names) = (time.reading, kinds.map(\.rawValue))
                guard try await store.read({ db in try db.dueTimes.hasRunningJob(of: names, at: now) }) else {
                    return progress
                }
                guard pauses < Self.pauses else {
                    progress.isWaiting = true
                    return progress
                }
                pauses += 1
                await queue.pause(Self.pause)
                continue
            }
            progress.jobs += Int64(claimed.count)
            guard await finish(claimed) else {
                progress.isWaiting = true
                return progress
            }
        }
    }

    private func isDue(_ kind: JobKind) async throws(GatewayError) -> Bool {
        try await queue.dueKinds(of: [kind], inMove: true).contains(kind)
    }

    /// Claims a job that always exists; nil where another worker holds it for too long.
    private func claim(_ kind: JobKind) async throws(GatewayError) -> ClaimedJob? {
        for _ in 0..<Self.pauses {
            if let job = try await queue.claim(kind, subject: "") { return job }
            await queue.pause(Self.pause)
        }
        return nil
    }

    /// Runs claimed jobs, which go on under their leases where it takes too long.
    ///
    /// - Returns: false where some have not ended in time.
    private func finish(_ jobs: [ClaimedJob]) async -> Bool {
        let (ends, end) = AsyncStream<Bool>.makeStream()
        for job in jobs {
            Task {
                await calls.perform { await perform(job) }
                end.yield(true)
            }
        }
        let limit = Task {
            await queue.pause(Self.patience)
            end.yield(false)
        }
        defer { limit.cancel() }
        var left = jobs.count
        for await hasEnded in ends {
            guard hasEnded else { return false }
            left -= 1
            if left == 0 { break }
        }
        return true
    }
}
