package import Domain
import FoundationEssentials
import ProviderKit
import Store

/// A notification in an admin's list.
package struct NotificationView: Encodable, Sendable {
    package let id: ID<Domain.Notification>
    let account: String
    /// The provider's own type.
    let type: String
    let provider_event_id: String
    package let status: String
    /// The reason of a refusal; nil for an accepted notification.
    @Nullable package private(set) var reason: String?
    let received_at: Timestamp
    @Nullable private(set) var processed_at: Timestamp?

    init(_ summary: NotificationSummary) {
        id = summary.id
        account = summary.account.rawValue
        type = summary.type
        provider_event_id = summary.eventID
        status = summary.status.rawValue
        reason = summary.refusal
        received_at = summary.receivedAt
        processed_at = summary.processedAt
    }
}

extension Notifications {
    /// Lists the inbox, newest first; a nil status means all.
    package func list(
        _ status: Domain.Notification.Status?, account: String? = nil, cursor: String?, limit: Int64
    ) async throws(GatewayError) -> Page<NotificationView> {
        let cursor = try Cursor(cursor, of: Domain.Notification.self)
        let found = try await store.report { db in
            guard let account else {
                return try db.notifications.list(status, before: cursor.position, limit: limit + 1)
            }
            return try db.notifications.list(of: account, status, before: cursor.position, limit: limit + 1)
        }
        return Page(found.map(NotificationView.init), limit: limit) { $0.id.rawValue }
    }

    /// Verifies a stored notification again and processes it again; facts that were applied before change nothing.
    ///
    /// The stored facts are processed if the raw text has been deleted.
    /// - Throws: `notFound`, `invalidNotification` where it still does not verify.
    package func replay(
        _ notification: String, context: CallContext
    ) async throws(GatewayError) -> NotificationView {
        guard let id = ID<Domain.Notification>(notification),
            let kept = try await store.read({ db in try db.notifications.findRaw(id) })
        else { throw .unknown(.notification, notification) }
        let record = try await verifyAgain(kept)
        let (job, now) = (settlements.ids.make(Job.self), settlements.time.now)
        let replayed = try await settlements.run(context.audit) { settlement in
            let tx = settlement.tx
            let target = try tx.notifications.replayTarget(of: kept.id, as: record)
            // The job comes first, in the lock order of the worker that runs it.
            try tx.jobs.delete(kind: JobKind.processNotification.rawValue, subject: target.rawValue)
            try tx.notifications.replay(kept.id, as: record, into: target)
            try tx.jobs.ensure(job, kind: JobKind.processNotification.rawValue, subject: target.rawValue, at: now)
            try settlement.log.audit(
                subject: target.rawValue, "notification.replayed", before: kept.status.rawValue, after: "stored")
            return target
        }
        await processNow(replayed)
        guard let after = try await store.read({ db in try db.notifications.find(replayed) }) else {
            throw .unknown(.notification, notification)
        }
        return NotificationView(after)
    }

    /// Verifies the raw text of a kept notification.
    ///
    /// - Returns: nil where the raw text was deleted.
    private func verifyAgain(_ kept: NotificationContent) async throws(GatewayError) -> NotificationRecord? {
        guard let body = kept.body, let head = kept.headers, let account = registry[kept.account] else {
            guard kept.status != .rejected else { throw .invalidNotification }
            return nil
        }
        let raw: RawNotification?
        do {
            raw = try SealedNotification.open(body: body, head: head, kept.id, by: keyRing)
        } catch {
            throw .internalError
        }
        guard let raw else {
            guard kept.status != .rejected else { throw .invalidNotification }
            return nil
        }
        let verified: VerifiedNotification
        do throws(NotificationRefusal) {
            verified = try await verify(raw, at: account)
        } catch {
            throw error.gatewayError
        }
        return try seal(raw, verified, at: account.id, receivedAt: kept.receivedAt)
    }
}
