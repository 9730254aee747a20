/// The place from which the periods of a managed subscription are counted.
///
/// With the start A and the index a, period i runs from A + (i − a) lengths to A + (i − a + 1) lengths: always from the
/// anchor, never from the period before, so that a month that begins on the 31st does not become shorter for ever.
package struct PeriodAnchor: Hashable, Sendable {
    package let at: Timestamp
    /// The period that begins at ``at``.
    package let index: Int64

    package init(at: Timestamp, index: Int64) {
        self.at = at
        self.index = index
    }

    package func start(of index: Int64, _ period: BillingPeriod) -> Timestamp {
        at.adding(period, times: index - self.index)
    }

    package func end(of index: Int64, _ period: BillingPeriod) -> Timestamp {
        at.adding(period, times: index - self.index + 1)
    }
}
