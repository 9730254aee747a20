package import Domain
import Store

/// The kinds of jobs, by the names that admins see.
package enum JobKind: String, Sendable, CaseIterable {
    /// Settles what a stored notification states; the subject is the notification.
    case processNotification = "process_notification"
    /// Asks the providers about an order whose time is over, and closes it.
    case expireOrder = "expire_order"
    /// Asks about a payment that is not final.
    case reconcilePayment = "reconcile_payment"
    /// Asks about a refund that is not final.
    case reconcileRefund = "reconcile_refund"
    /// Cancels the other attempts of a paid order; the subject is the order.
    case closeAttempts = "close_attempts"
    /// Completes the work of an abandoned request.
    case completeRequest = "complete_request"
    /// Reconciles an account now, as an admin asked.
    case syncAccount = "sync_account"
    /// Asks a store about a subscription and its customer's purchases; the subject is the subscription.
    case checkSubscription = "check_subscription"
    /// Asks a store for the notifications that it sent; the subject is `account/environment`.
    case replayNotifications = "replay_notifications"
    /// Tells a store how much of a purchase was used; the subject is `environment/account/transaction`.
    case answerConsumption = "answer_consumption"
    /// Asks a store again about a receipt that it could not answer for; the subject is the receipt's digest.
    case checkReceipt = "check_receipt"
    /// Grants the kept purchases whose product a SKU knows by now; the subject is empty.
    case grantUnmapped = "grant_unmapped"
    /// Brings what earlier releases made of store purchases in line with what is made of them now; the subject is empty.
    case regradePurchases = "regrade_purchases"
    /// Finds orders, payments, refunds and requests that are due, and makes their jobs.
    case findWork = "find_work"
    /// Announces changes of entitlements by time alone.
    case crossBoundaries = "cross_boundaries"
    /// Gives committed events their global number and makes their deliveries.
    case dispatchEvents = "dispatch_events"
    /// Makes first attempts; the subject is the webhook.
    case deliverWebhook = "deliver_webhook"
    /// Makes further attempts; the subject is the webhook.
    case retryDeliveries = "retry_deliveries"
    /// Ends or deletes the deliveries of a webhook that was disabled or deleted; the subject is the webhook.
    case endDeliveries = "end_deliveries"
    /// Chains the heads of the audit into one.
    case sealAudit = "seal_audit"
    /// Deletes rows that are kept for a time only.
    case applyRetention = "apply_retention"

    /// The kinds of which there is always one job, with an empty subject.
    package static let standing: [JobKind] = [
        .findWork, .crossBoundaries, .dispatchEvents, .sealAudit, .applyRetention,
    ]

    /// True for kinds that a node repeats under one lease, so that looking for work costs no commit.
    var isContinuous: Bool { self == .dispatchEvents }

    /// True for kinds that no failure ends.
    var isEndless: Bool {
        switch self {
        case .deliverWebhook, .retryDeliveries, .endDeliveries, .replayNotifications, .checkSubscription,
            .grantUnmapped, .regradePurchases:
            true
        default: Self.standing.contains(self)
        }
    }

    /// True for kinds that ask about money until its state is known: a slow transfer takes weeks, a provider can be away for
    /// as long, and no other job would ask.
    var waitsForMoney: Bool { [.expireOrder, .reconcilePayment, .reconcileRefund].contains(self) }

    /// The seconds of a lease, after which another worker may claim the job of a silent one.
    ///
    /// Shorter for continuous jobs, which are always held by some node, and for notifications of payments, which should be
    /// settled soon.
    var lease: Int64 { isContinuous ? 15 : self == .processNotification ? 10 : 60 }

    /// Seconds before the second run, the third and so on; after the last one the job goes into quarantine.
    ///
    /// Endless jobs continue at the last interval; those that wait for money begin the schedule anew after it.
    var backOff: [Int64] {
        switch self {
        case .processNotification: [1, 5, 30, 300, 3_600, 21_600]
        case .expireOrder, .reconcilePayment, .reconcileRefund, .completeRequest:
            [60, 300, 3_600, 21_600] + Array(repeating: 86_400, count: 7)
        case .syncAccount, .closeAttempts: [60, 300, 3_600]
        case .checkSubscription, .replayNotifications: [30, 60, 300, 900, 3_600, 10_800]
        // A purchase that was just made can be unknown for a while.
        case .checkReceipt: [30, 60, 300, 900, 3_600, 10_800, 43_200, 86_400]
        // The store waits for 12 hours.
        case .answerConsumption: [60, 300, 900] + Array(repeating: 3_600, count: 11)
        case .findWork, .crossBoundaries: [5, 15, 60]
        case .dispatchEvents, .deliverWebhook, .retryDeliveries: [1, 5, 15]
        case .endDeliveries: [5, 15, 60]
        case .sealAudit, .applyRetention: [60, 300]
        case .grantUnmapped, .regradePurchases: [60, 300, 3_600]
        }
    }
}

extension JobKind {
    /// Seconds before the run that follows the second one without a result, the third and so on.
    ///
    /// Mostly such a run ended with its process, and the job should not wait long. But the job may have ended the process:
    /// then it must neither keep it down nor be repeated for ever.
    private static let silentBackOff: [Int64] = [
        5, 10, 20, 40, 80, 300, 3_600, 21_600, 86_400, 86_400, 86_400,
    ]

    /// The seconds after its begin at which a job is due again whose run ends without a result.
    ///
    /// Nil where it is due at once, as are endless jobs.
    ///
    /// - Parameter silence: the run's number among those in a row, from 1.
    func delay(afterSilence silence: Int64) -> Int64? {
        guard silence > 1, !isEndless else { return nil }
        return Self.silentBackOff[min(Int(silence) - 2, Self.silentBackOff.count - 1)]
    }

    /// The number of runs without a result after which the job itself is taken for the reason.
    static let mostSilentRuns = Int64(silentBackOff.count) + 1

    /// True for kinds that are never put into quarantine.
    var goesOn: Bool { isEndless || waitsForMoney }
}

/// The end of a run that succeeded.
package enum JobOutcome: Sendable, Equatable {
    case done
    /// To be run again in so many seconds; the count of attempts begins anew.
    case again(after: Int64)
    /// To be run again by the schedule of failures, without being one.
    case pending
}

/// The end of a run that failed.
package enum JobFailure: Error, Sendable, Equatable {
    /// Another run may do better.
    case retry(String)
    /// Every further run would fail as well.
    case poison(String)
    /// Another worker holds the job; this run records nothing.
    case leaseLost
}

/// A job that this worker holds.
package struct ClaimedJob: Sendable {
    package let id: ID<Job>
    package let kind: JobKind
    package let subject: String
    /// This run's number since the last success, from 1.
    package let attempt: Int64
    /// This run's number since the last one with a result, from 1.
    let silence: Int64
    let lease: JobLease
    let asked: Int64
    /// The accounts that it may ask, where its lane limits runs by account.
    package var accounts: Set<AccountID> = []
}

extension ClaimedJob {
    /// The job as the actor of what its run changes.
    var audit: AuditContext { AuditContext(actor: .system(kind.rawValue), requestID: id.rawValue) }
}
