package import Domain
import Store

/// What jobs do; the raw values are what admins see.
package enum JobKind: String, Sendable, CaseIterable {
    /// Settles what a stored notification states; the subject is the notification.
    case processNotification = "process_notification"
    /// Asks the providers about an order whose time is over, and closes it.
    case expireOrder = "expire_order"
    /// Asks about a payment that is not final.
    case reconcilePayment = "reconcile_payment"
    /// Asks about a refund that is not final.
    case reconcileRefund = "reconcile_refund"
    /// Cancels what may still be paid of an order that is paid; the subject is the order.
    case closeAttempts = "close_attempts"
    /// Brings what an abandoned request made to a definite end.
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
    /// Announces what time alone changed in what users own.
    case crossBoundaries = "cross_boundaries"
    /// Gives committed events their global number and makes their deliveries.
    case dispatchEvents = "dispatch_events"
    /// Makes first attempts; the subject is the webhook.
    case deliverWebhook = "deliver_webhook"
    /// Makes further attempts; the subject is the webhook.
    case retryDeliveries = "retry_deliveries"
    /// Ends, or deletes, what was under way to a webhook that was switched off or deleted; the subject is the webhook.
    case endDeliveries = "end_deliveries"
    /// Chains the heads of the audit into one.
    case sealAudit = "seal_audit"
    /// Drops what is kept for a time only.
    case applyRetention = "apply_retention"

    /// Those of which there is one, whose subject is empty, and that never end.
    package static let standing: [JobKind] = [
        .findWork, .crossBoundaries, .dispatchEvents, .sealAudit, .applyRetention,
    ]

    /// Those that a node goes on with under one lease, so that looking for work costs no commit.
    var isContinuous: Bool { self == .dispatchEvents }

    /// Those that no failure ends: what they look after has no other way.
    var isEndless: Bool {
        switch self {
        case .deliverWebhook, .retryDeliveries, .endDeliveries, .replayNotifications, .checkSubscription,
            .grantUnmapped, .regradePurchases:
            true
        default: Self.standing.contains(self)
        }
    }

    /// Those that ask about money until somebody knows: a slow transfer takes weeks, a provider can be away for as long,
    /// and nothing else would ask.
    var waitsForMoney: Bool { [.expireOrder, .reconcilePayment, .reconcileRefund].contains(self) }

    /// So many seconds a worker may be silent before its job is another's.
    ///
    /// A continuous job is always held by somebody, and a payment that is notified should be settled soon, so that a lost
    /// node is missed sooner there.
    var lease: Int64 { isContinuous ? 15 : self == .processNotification ? 10 : 60 }

    /// Seconds before the second run, the third and so on; after the last one the job goes into quarantine.
    ///
    /// Endless jobs go on for ever at their last pace; those that wait for money begin the schedule anew after it.
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
    /// Seconds before the run that follows the second one without a word, the third and so on.
    ///
    /// Mostly such a run was ended with its process, which says little about the job, and what it looks after should not
    /// wait long. But it may have been the job's own doing: then it must neither keep its process down nor go on for ever.
    private static let silentBackOff: [Int64] = [
        5, 10, 20, 40, 80, 300, 3_600, 21_600, 86_400, 86_400, 86_400,
    ]

    /// When a job is due again whose run ends without a word: so many seconds after its begin; nil where it is due at
    /// once, as a job is that nothing may end.
    ///
    /// - Parameter silence: the run's number among those in a row, from 1.
    func delay(afterSilence silence: Int64) -> Int64? {
        guard silence > 1, !isEndless else { return nil }
        return Self.silentBackOff[min(Int(silence) - 2, Self.silentBackOff.count - 1)]
    }

    /// After so many runs in a row that end without a word it is the job's own doing, which somebody must look into.
    static let mostSilentRuns = Int64(silentBackOff.count) + 1

    /// Those that no number of runs puts into quarantine.
    var goesOn: Bool { isEndless || waitsForMoney }
}

/// How a run ended well.
package enum JobOutcome: Sendable, Equatable {
    case done
    /// To be run again in so many seconds; the count of attempts begins anew.
    case again(after: Int64)
    /// Not at its end yet: to be run again by the schedule of failures, without being one.
    case pending
}

/// How a run ended badly.
package enum JobFailure: Error, Sendable, Equatable {
    /// Another run may do better.
    case retry(String)
    /// Every run would end like this one.
    case poison(String)
    /// Another worker has the job by now; nothing of this run counts.
    case leaseLost
}

/// A job that this worker holds.
package struct ClaimedJob: Sendable {
    package let id: ID<Job>
    package let kind: JobKind
    package let subject: String
    /// This run's number since the last success, from 1.
    package let attempt: Int64
    /// This run's number since the last one that said how it ended, from 1.
    let silence: Int64
    let lease: JobLease
    let asked: Int64
    /// Those that it may ask, where its lane looks at that.
    package var accounts: Set<AccountID> = []
}

extension JobLease {
    /// The lease that the current task works under, as every write of a run checks it; nil outside of jobs.
    @TaskLocal static var current: JobLease?
}
