import Domain
import ProviderKit
import Store

/// A source of due work, which a move of the clock asks for its next time and then lets run what is due.
protocol DueSource: Sendable {
    /// Returns the next business time after `time` at which something of this source becomes due; nil for never.
    func nextDue(after time: Timestamp) async throws(GatewayError) -> Timestamp?

    /// Runs what is due at the business time at which the clock stands.
    func runDue() async throws(GatewayError) -> DueProgress
}

extension DueSource {
    func nextDue(after time: Timestamp) async throws(GatewayError) -> Timestamp? { nil }
}

/// The result of running what is due.
struct DueProgress: Sendable, Equatable {
    /// The jobs that were run, those that always exist left out.
    var jobs: Int64 = 0
    /// True where a job waits for its provider or for another worker's lease.
    var isWaiting = false

    static func + (left: DueProgress, right: DueProgress) -> DueProgress {
        DueProgress(jobs: left.jobs + right.jobs, isWaiting: left.isWaiting || right.isWaiting)
    }
}

/// The sources in the order in which they run within one instant.
enum DueSources {
    /// - Parameter box: nil where no App Store in a box runs.
    static func all(_ jobs: SteppedJobs, registry: ProviderRegistry, box: BoxedAppStore?) -> [any DueSource] {
        let first: [any DueSource] = box.map { [BoxSource(box: $0)] } ?? []
        return first + [
            WorkSource(jobs: jobs, accounts: registry.syncing.map(\.id)), BoundarySource(jobs: jobs),
            EventSource(jobs: jobs), DeliverySource(jobs: jobs), HousekeepingSource(jobs: jobs),
        ]
    }
}

/// The renewals of the App Store in a box, and its notifications.
private struct BoxSource: DueSource {
    let box: BoxedAppStore

    func nextDue(after time: Timestamp) async throws(GatewayError) -> Timestamp? { try await box.nextDue(after: time) }

    func runDue() async throws(GatewayError) -> DueProgress { DueProgress(jobs: try await box.runDue()) }
}

/// Orders that expire, payments, refunds and subscriptions that are checked, and the jobs about them.
private struct WorkSource: DueSource {
    let jobs: SteppedJobs
    let accounts: [AccountID]

    static let kinds = JobKind.allCases.filter {
        !JobKind.standing.contains($0) && !DeliverySource.kinds.contains($0)
    }

    func nextDue(after time: Timestamp) async throws(GatewayError) -> Timestamp? {
        let (accounts, kinds) = (accounts, Self.kinds.map(\.rawValue))
        return try await jobs.store.read { db in
            let times = [
                try db.dueTimes.nextExpiry(after: time), try db.dueTimes.nextCheck(of: accounts, after: time),
                try db.dueTimes.nextJob(of: kinds, after: time), try db.dueTimes.nextRenewal(after: time),
                try db.dueTimes.nextExternalToken(after: time),
            ]
            return times.compactMap { $0 }.min()
        }
    }

    func runDue() async throws(GatewayError) -> DueProgress {
        try await jobs.runStanding(.findWork) + jobs.runDue(Self.kinds)
    }
}

/// The boundaries of entitlements.
private struct BoundarySource: DueSource {
    let jobs: SteppedJobs

    func nextDue(after time: Timestamp) async throws(GatewayError) -> Timestamp? {
        try await jobs.store.read { db in try db.dueTimes.nextBoundary(after: time) }
    }

    func runDue() async throws(GatewayError) -> DueProgress { try await jobs.runStanding(.crossBoundaries) }
}

/// The events that the other sources wrote.
private struct EventSource: DueSource {
    let jobs: SteppedJobs

    func runDue() async throws(GatewayError) -> DueProgress { try await jobs.runStanding(.dispatchEvents) }
}

/// The attempts to deliver events.
private struct DeliverySource: DueSource {
    let jobs: SteppedJobs

    static let kinds: [JobKind] = [.deliverWebhook, .retryDeliveries, .endDeliveries]

    func nextDue(after time: Timestamp) async throws(GatewayError) -> Timestamp? {
        let kinds = Self.kinds.map(\.rawValue)
        return try await jobs.store.read { db in try db.dueTimes.nextJob(of: kinds, after: time) }
    }

    func runDue() async throws(GatewayError) -> DueProgress { try await jobs.runDue(Self.kinds) }
}

/// The seals of the audit, and retention; neither stops the clock.
private struct HousekeepingSource: DueSource {
    let jobs: SteppedJobs

    func runDue() async throws(GatewayError) -> DueProgress {
        try await jobs.runStanding(.sealAudit, onlyDue: true) + jobs.runStanding(.applyRetention, onlyDue: true)
    }
}
