import Domain
import ServiceLifecycle
import Store

extension Gateway {
    /// Runs a job while its lease is kept alive; a run whose lease is lost is cancelled before another's begins.
    ///
    /// A worker's run and a request's alike may take longer than a lease lasts.
    func keepingLease(of job: ClaimedJob, _ run: @escaping @Sendable () async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await run() }
            group.addTask {
                while !Task.isCancelled {
                    await self.pause(.seconds(job.kind.lease / 4))
                    if Task.isCancelled { return }
                    // A database that is away for a moment is asked again while the lease lasts.
                    guard await self.keepsLease(job) else { return }
                }
            }
            await group.next()
            group.cancelAll()
        }
    }

    /// - Returns: false when the lease is another's by now.
    func keepsLease(_ job: ClaimedJob) async -> Bool {
        let now = time.now
        do throws(GatewayError) {
            return try await write { tx in try tx.jobs.extend(job.lease, by: job.kind.lease, at: now) }
        } catch {
            // The database is away: nothing that the run writes can be kept either, until it is back.
            return true
        }
    }

    /// - Throws: `leaseLost` in a run that was cancelled, or whose process stops: what it does next would be done by its
    ///   successor as well, or is done by it alone.
    func requireRunning() throws(GatewayError) {
        guard JobLease.current != nil else { return }
        if Task.isCancelled || Task.isShuttingDownGracefully { throw .leaseLost }
    }
}
