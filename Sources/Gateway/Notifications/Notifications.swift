import Crypto
package import Domain
import FoundationEssentials
import Logging
package import ProviderKit
import Store

/// The inbox of the providers' notifications: verified, stored once, acknowledged, then processed from the stored row.
package struct Notifications: Sendable {
    let store: StoreAccess
    let settlements: SettlementRunner
    let queue: JobQueue
    let keyRing: KeyRing
    let refused: RefusedNotifications
    let lines: RepeatedLines
    let logger: Logger

    var registry: ProviderRegistry { settlements.providers.registry }

    /// Verifies a notification, stores it once with the job that processes it, and returns the provider's own
    /// acknowledgement.
    ///
    /// The acknowledgement follows after the notification is durable, also where processing fails; a repetition is
    /// acknowledged and changes nothing.
    /// - Parameter address: the sender's address; nil where unknown.
    /// - Throws: `notFound` for an unknown token or method, `invalidNotification` for one that does not verify, which
    ///   is counted and stored for a limited time with its reason.
    package func receive(
        token: String, _ notification: RawNotification, from address: IPAddress? = nil
    ) async throws(GatewayError) -> Acknowledgement {
        guard let account = registry.account(notifyToken: token),
            account.manifest.notifications.contains(notification.method)
        else { throw .notFound }
        let verified: VerifiedNotification
        do throws(NotificationRefusal) {
            verified = try await verify(notification, at: account)
        } catch {
            if case .unproven(let reason) = error {
                await refused.keep(notification, at: account.id, because: reason, from: address)
            }
            throw error.gatewayError
        }
        try await keep(try seal(notification, verified, at: account.id), verified.received.facts)
        return verified.received.acknowledgement
    }

    /// Stores a verified notification with its job, and runs the job now.
    ///
    /// The job is stored with this process's lease, which saves the commit of claiming it.
    private func keep(_ record: NotificationRecord, _ facts: [ProviderFact]) async throws(GatewayError) {
        let (id, now) = (settlements.ids.make(Job.self), settlements.time.reading)
        let (stored, job) = try await store.write { tx in
            let stored = try tx.notifications.insert(record)
            guard stored.isWaiting else { return (stored, nil as ClaimedJob?) }
            let job = ClaimedJob(
                id: id, kind: .processNotification, subject: stored.id.rawValue, attempt: 1, silence: 1,
                lease: JobLease(job: id, epoch: 1), asked: 1)
            return (stored, try tx.jobs.insert(job, at: now) ? job : nil)
        }
        guard stored.isWaiting else { return }
        guard let job else { return await processNow(stored.id) }
        // The facts that were stored first count, not those of a repetition.
        let known = stored.id == record.id ? facts : nil
        await queue.performNow(job) { (job) async throws(GatewayError) in try await process(job, known: known) }
    }

    /// Stores and processes a notification from a store's list of those that it sent.
    ///
    /// - Returns: true for one that was missing here.
    func takeMissed(_ notification: RawNotification, at id: AccountID) async throws(GatewayError) -> Bool {
        guard let account = registry[id] else { return false }
        let verified: VerifiedNotification
        do throws(NotificationRefusal) {
            verified = try await verify(notification, at: account)
        } catch {
            guard case .unproven(let reason) = error else { throw error.gatewayError }
            await refused.keep(notification, at: id, because: reason)
            return false
        }
        let event = verified.received.eventID
        if try await store.read({ db in try db.notifications.exists(id, eventID: event) }) { return false }
        try await keep(try seal(notification, verified, at: id), verified.received.facts)
        return true
    }

    /// Verifies a notification by its account's provider, and logs a refusal.
    func verify(
        _ notification: RawNotification, at account: ConfiguredAccount
    ) async throws(NotificationRefusal) -> VerifiedNotification {
        let result: Result<ReceivedNotification, ProviderError>
        do throws(GatewayError) {
            result = try await received(notification, at: account)
        } catch {
            throw .unavailable
        }
        do throws(ProviderError) {
            guard let verified = VerifiedNotification(try result.get()) else { throw .unproven(.unreadable) }
            return verified
        } catch {
            let refusal = NotificationRefusal(error)
            var metadata: Logger.Metadata = ["account": "\(account.id.rawValue)"]
            switch refusal {
            case .unproven(let reason):
                metadata["reason"] = "\(reason.word)"
                if case .rejected(let detail) = error { metadata["detail"] = "\(detail)" }
                lines.write("a notification was refused", of: account.id.rawValue, metadata) {
                    logger.notice("a notification was refused", metadata: $0)
                }
            case .unavailable:
                lines.write("a notification could not be verified now", of: account.id.rawValue, metadata) {
                    logger.notice("a notification could not be verified now", metadata: $0)
                }
            }
            throw refusal
        }
    }

    /// Verifies a notification with its account's provider, on threads beside the event loops.
    private func received(
        _ notification: RawNotification, at account: ConfiguredAccount
    ) async throws(GatewayError) -> Result<ReceivedNotification, ProviderError> {
        try await BackgroundThreads.verification.run {
            do throws(ProviderError) {
                return .success(try await account.provider.receive(notification))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Makes the row of a verified notification, with its raw text sealed.
    ///
    /// - Parameter receivedAt: the business time at which it arrived; nil for now.
    func seal(
        _ notification: RawNotification, _ verified: VerifiedNotification, at account: AccountID,
        receivedAt: Timestamp? = nil
    ) throws(GatewayError) -> NotificationRecord {
        let id = settlements.ids.make(Domain.Notification.self)
        guard let raw = try? SealedNotification(notification, id, by: keyRing) else { throw .internalError }
        let received = verified.received
        return NotificationRecord(
            id: id, account: account, eventID: received.eventID.firstScalars(255),
            type: received.type.firstScalars(128),
            facts: verified.facts, body: raw.body, headers: raw.head,
            digest: Data(SHA256.hash(data: notification.body)), receivedAt: receivedAt ?? settlements.time.now)
    }
}

/// A verified notification with its facts as they are stored.
struct VerifiedNotification {
    let received: ReceivedNotification
    /// JSON text.
    let facts: String

    /// - Returns: nil where a database cannot store it: SQL text cannot contain U+0000.
    init?(_ received: ReceivedNotification) {
        guard !received.eventID.utf8.contains(0), !received.type.utf8.contains(0),
            let facts = try? received.facts.storedJSON(), !facts.escapesNUL
        else { return nil }
        self.received = received
        self.facts = facts
    }
}

extension String {
    /// True where this JSON text has the escape of U+0000; an escaped backslash before `u0000` is something else.
    fileprivate var escapesNUL: Bool {
        let (escape, backslash) = (Array("u0000".utf8), UInt8(ascii: "\\"))
        var rest = utf8[...]
        while let at = rest.firstIndex(of: backslash) {
            rest = rest[at...].dropFirst()
            if rest.starts(with: escape) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}
