package import Domain
import Store

/// The kinds of jobs, with the names that admins see.
package enum JobKind: String, Sendable, CaseIterable {
    /// Applies a stored notification; the subject is the notification.
    case processNotification = "process_notification"
    /// Queries the providers about an expired order, and closes it.
    case expireOrder = "expire_order"
    /// Queries a payment that is not final.
    case reconcilePayment = "reconcile_payment"
    /// Queries a refund that is not final.
    case reconcileRefund = "reconcile_refund"
    /// Cancels the other attempts of a paid order; the subject is the order.
    case closeAttempts = "close_attempts"
    /// Acts on a managed subscription: renews it, tries again, gives it up; the subject is the subscription.
    case renewSubscription = "renew_subscription"
    /// Announces a renewal that comes soon; the subject is the subscription.
    case announceRenewal = "announce_renewal"
    /// Tells running subscriptions of an announced price; the subject is the announcement.
    case announcePrices = "announce_prices"
    /// Asks providers about charges of the days that a restored database does not know; the subject is empty.
    case checkHeldCharges = "check_held_charges"
    /// Queries a set-up that is not final, or cancels it where its subscription has ended.
    case reconcileSetup = "reconcile_setup"
    /// Revokes a mandate at its provider; the subject is the mandate.
    case revokeMandate = "revoke_mandate"
    /// Reports what became of a token of an external purchase; the subject is the token.
    case reportExternalPurchase = "report_external_purchase"
    /// Completes the work of an abandoned request.
    case completeRequest = "complete_request"
    /// Reconciles an account now, at an admin's request.
    case syncAccount = "sync_account"
    /// Queries a store about a subscription and its customer's purchases; the subject is the subscription.
    case checkSubscription = "check_subscription"
    /// Requests the notifications that a store sent; the subject is `account/environment`.
    case replayNotifications = "replay_notifications"
    /// Reports to a store how much of a purchase was used; the subject is `environment/account/transaction`.
    case answerConsumption = "answer_consumption"
    /// Queries a store again about a receipt that it could not answer for; the subject is the receipt's digest.
    case checkReceipt = "check_receipt"
    /// Grants the stored purchases whose product a SKU now names; the subject is empty.
    case grantUnmapped = "grant_unmapped"
    /// Applies store purchases again that earlier releases applied by other rules; the subject is empty.
    case regradePurchases = "regrade_purchases"
    /// Reads from the sealed evidence of earlier releases' purchases which customer of the store bought; the subject is
    /// empty.
    case nameAppTransactions = "name_app_transactions"
    /// Finds orders, payments, refunds and requests that are due, and makes their jobs.
    case findWork = "find_work"
    /// Announces changes of entitlements that time alone makes.
    case crossBoundaries = "cross_boundaries"
    /// Gives committed events their global number and makes their deliveries.
    case dispatchEvents = "dispatch_events"
    /// Makes the first attempts of deliveries; the subject is the webhook.
    case deliverWebhook = "deliver_webhook"
    /// Makes the further attempts of deliveries; the subject is the webhook.
    case retryDeliveries = "retry_deliveries"
    /// Ends or deletes the deliveries of a webhook that was disabled or deleted; the subject is the webhook.
    case endDeliveries = "end_deliveries"
    /// Seals the heads of the audit chains into one chain.
    case sealAudit = "seal_audit"
    /// Deletes rows after their retention.
    case applyRetention = "apply_retention"

    /// The kinds that always have one job, with an empty subject.
    package static let standing: [JobKind] = [
        .findWork, .crossBoundaries, .dispatchEvents, .sealAudit, .applyRetention,
    ]

    /// True for kinds that a node repeats under one lease, so that a search for work needs no commit.
    var isContinuous: Bool { self == .dispatchEvents }

    /// True for kinds that are repeated after every failure.
    var isEndless: Bool {
        switch self {
        case .deliverWebhook, .retryDeliveries, .endDeliveries, .replayNotifications, .checkSubscription,
            .grantUnmapped, .regradePurchases, .nameAppTransactions, .renewSubscription, .announceRenewal,
            .revokeMandate, .announcePrices, .checkHeldCharges, .reportExternalPurchase:
            true
        default: Self.standing.contains(self)
        }
    }

    /// True for kinds that query money until its state is final: a slow transfer takes weeks, a provider can be down
    /// for as long, and no other job would ask.
    var waitsForMoney: Bool { [.expireOrder, .reconcilePayment, .reconcileRefund, .reconcileSetup].contains(self) }

    /// The seconds of a lease; after it another worker may claim the job.
    ///
    /// Shorter for continuous jobs, which some node always holds, and for notifications of payments, which should be
    /// applied soon.
    var lease: Int64 { isContinuous ? 15 : self == .processNotification ? 10 : 60 }

    /// The seconds before the second run, the third and so on; after the last one the job goes into quarantine.
    ///
    /// Endless jobs repeat the last interval; those that wait for money begin the schedule again.
    var backOff: [Int64] {
        switch self {
        case .processNotification: [1, 5, 30, 300, 3_600, 21_600]
        case .renewSubscription: [60, 300, 3_600, 21_600]
        case .announceRenewal, .announcePrices: [5, 60, 3_600]
        case .checkHeldCharges: [30, 60, 300, 900]
        case .reportExternalPurchase: [3, 5, 10, 30, 60, 300, 900, 3_600]
        case .revokeMandate: [60, 300, 3_600, 21_600, 86_400]
        case .expireOrder, .reconcilePayment, .reconcileRefund, .reconcileSetup, .completeRequest:
            [60, 300, 3_600, 21_600] + Array(repeating: 86_400, count: 7)
        case .syncAccount, .closeAttempts: [60, 300, 3_600]
        case .checkSubscription, .replayNotifications: [30, 60, 300, 900, 3_600, 10_800]
        // A new purchase can be unknown to the store for a while.
        case .checkReceipt: [30, 60, 300, 900, 3_600, 10_800, 43_200, 86_400]
        // The store waits for the answer for 12 hours.
        case .answerConsumption: [60, 300, 900] + Array(repeating: 3_600, count: 11)
        case .findWork, .crossBoundaries: [5, 15, 60]
        case .dispatchEvents, .deliverWebhook, .retryDeliveries: [1, 5, 15]
        case .endDeliveries: [5, 15, 60]
        case .sealAudit, .applyRetention: [60, 300]
        case .grantUnmapped, .regradePurchases, .nameAppTransactions: [60, 300, 3_600]
        }
    }
}

extension JobKind {
    /// The seconds before the run that follows the second run without a result, the third and so on.
    ///
    /// Mostly such a run ended with its process, and the job should not wait for long. But the job may have crashed the
    /// process: then it must not keep doing so, nor be repeated for ever.
    private static let silentBackOff: [Int64] = [
        5, 10, 20, 40, 80, 300, 3_600, 21_600, 86_400, 86_400, 86_400,
    ]

    /// Returns the seconds after its start at which a job is due again if this run ends without a result.
    ///
    /// Nil where it is due at once, as endless jobs are.
    ///
    /// - Parameter silence: the number of the run among consecutive ones without a result, from 1.
    func delay(afterSilence silence: Int64) -> Int64? {
        guard silence > 1, !isEndless else { return nil }
        return Self.silentBackOff[min(Int(silence) - 2, Self.silentBackOff.count - 1)]
    }

    /// The number of runs without a result after which the job itself is assumed to be the reason.
    static let mostSilentRuns = Int64(silentBackOff.count) + 1

    /// True for kinds that are never put into quarantine.
    var goesOn: Bool { isEndless || waitsForMoney }
}

/// The end of a run that succeeded.
package enum JobOutcome: Sendable, Equatable {
    case done
    /// The transaction of the run has ended the job.
    case recorded
    /// The job runs again after these seconds; its count of attempts begins again.
    case again(after: Int64)
    /// The job runs again by the schedule of failures, though it did not fail.
    case pending
}

/// The end of a run that failed.
package enum JobFailure: Error, Sendable, Equatable {
    /// A repetition may succeed.
    case retry(String)
    /// Every repetition would fail as well.
    case poison(String)
    /// Another worker has the job; this run records nothing.
    case leaseLost
}

/// A job that this worker has claimed.
package struct ClaimedJob: Sendable {
    package let id: ID<Job>
    package let kind: JobKind
    package let subject: String
    /// The number of this run since the last success, from 1.
    package let attempt: Int64
    /// The number of this run since the last one with a result, from 1.
    let silence: Int64
    let lease: JobLease
    let asked: Int64
    /// The accounts that the job may call, where its lane limits the runs of an account.
    package var accounts: Set<AccountID> = []
}

extension ClaimedJob {
    /// The job as the actor of the changes that it makes.
    var audit: AuditContext { AuditContext(actor: .system(kind.rawValue), requestID: id.rawValue) }
}
