package import Domain

/// The ends of periods as the App Store counts them, in milliseconds since 1970, UTC.
package enum BoxCalendar {
    /// The end of the n-th period after an anchor.
    ///
    /// Months and years have their real lengths and end on the anchor's day and time, or on the last day of a shorter
    /// month; the next period goes back to the anchor's day: 31 January, 28 February, 31 March.
    package static func end(of periods: Int64, _ period: StoreKitPeriod, after anchor: Int64) -> Int64 {
        let seconds = anchor.flooredSeconds
        let end = Timestamp(seconds).adding(period.billing, times: periods)
        return end.rawValue * 1_000 + (anchor - seconds * 1_000)
    }
}
