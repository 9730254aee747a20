package import Domain
import Store

/// A job in an admin's list.
package struct JobView: Encodable, Sendable {
    package let id: ID<Job>
    package let kind: String
    package let subject: String
    /// `waiting`, `running` or `quarantined`.
    package let status: String
    let run_at: Timestamp
    let attempts: Int64
    package let error: String
    let created_at: Timestamp

    init(_ record: JobRecord) {
        id = record.id
        kind = record.kind
        subject = record.subject
        status = record.isRunning ? "running" : record.state.rawValue
        run_at = record.runAt
        attempts = record.attempts
        error = record.error
        created_at = record.createdAt
    }
}

/// The jobs as admins see them.
package struct Jobs: Sendable {
    let store: StoreAccess
    let settlements: SettlementRunner
    let time: BusinessTime
    let signals: JobSignals

    /// Jobs that have not ended, newest first; a state that is nil restricts nothing.
    package func list(
        _ state: Job.State?, cursor: String?, limit: Int64
    ) async throws(GatewayError) -> Page<JobView> {
        let cursor = try Cursor(cursor, of: Job.self)
        let now = time.real.now
        let found = try await store.report { db in
            try db.jobs.list(state, before: cursor.position, limit: limit + 1, at: now)
        }
        return Page(found.map(JobView.init), limit: limit) { $0.id.rawValue }
    }

    /// Makes a job due now, also one in quarantine.
    ///
    /// - Throws: `notFound`.
    package func retry(_ job: String, context: CallContext) async throws(GatewayError) -> JobView {
        guard let id = ID<Job>(job) else { throw .unknown(.job, job) }
        let now = time.reading
        let record = try await settlements.run(context.audit) { settlement in
            guard let before = try settlement.tx.jobs.find(id, at: now.real),
                try settlement.tx.jobs.retry(id, at: now.business),
                let after = try settlement.tx.jobs.find(id, at: now.real)
            else { throw GatewayError.unknown(.job, job) }
            if after.kind == JobKind.processNotification.rawValue,
                let notification = ID<Domain.Notification>(after.subject)
            {
                try settlement.tx.notifications.release(notification)
            }
            try settlement.log.audit(
                subject: id.rawValue, "job.retried", before: "\(before.state.rawValue): \(before.error)",
                after: "waiting")
            return after
        }
        signals.workers.notify()
        return JobView(record)
    }
}
