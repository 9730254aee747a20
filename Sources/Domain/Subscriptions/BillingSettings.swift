/// The rules of `billing` in `paydesk.yaml`, which hold for every managed subscription.
package struct BillingSettings: Sendable, Equatable {
    /// The treatment of a managed subscription beside a running one of a store.
    package enum Overlap: String, Sendable, CaseIterable {
        /// The managed one ends with its period.
        case stopManaged = "stop_managed"
        /// Both renew.
        case keep
    }

    /// The days after the first refusal on which a renewal is tried again, ascending; at most eight, each 1 to 28.
    package var retryDays: [Int64]
    /// The days before a period's end on which the renewal is announced.
    package var upcomingDays: Int64
    /// The days of notice that a raised price needs.
    package var noticeDays: Int64
    package var overlap: Overlap
    /// The charges of renewals that one account starts in a second, on all nodes together.
    package var perSecond: Int64

    package init(
        retryDays: [Int64] = [1, 3, 5, 7], upcomingDays: Int64 = 7, noticeDays: Int64 = 30,
        overlap: Overlap = .stopManaged, perSecond: Int64 = 20
    ) {
        self.retryDays = retryDays
        self.upcomingDays = upcomingDays
        self.noticeDays = noticeDays
        self.overlap = overlap
        self.perSecond = perSecond
    }

    /// The most tries of one renewal that are made without the payer.
    package static let mostTries: Int64 = 15
    /// The days after a period's end after which a renewal that was never tried is given up.
    package static let lapseDays: Int64 = 30
}
