/// The position of business time: the row of the table `clock`.
///
/// In production mode the offset is 0, and business time is the real time.
package struct ClockState: Hashable, Sendable {
    /// The seconds by which business time is ahead of the real time, at least 0.
    package var offsetSeconds: Int64
    /// The business time at which the clock stands while it is being moved; nil while it runs.
    package var standsAt: Timestamp?
    /// The real time at which a move that does not go on has lost the clock, which then runs again.
    package var standsUntil: Timestamp
    /// The number of changes of this row.
    package var version: Int64

    package init(
        offsetSeconds: Int64 = 0, standsAt: Timestamp? = nil, standsUntil: Timestamp = Timestamp(0), version: Int64 = 0
    ) {
        self.offsetSeconds = offsetSeconds
        self.standsAt = standsAt
        self.standsUntil = standsUntil
        self.version = version
    }

    /// True while a move holds the clock.
    package func isMoving(at real: Timestamp) -> Bool { standsAt != nil && real < standsUntil }

    /// Returns the business time at a real time.
    package func businessTime(at real: Timestamp) -> Timestamp {
        if let standsAt, isMoving(at: real) { return standsAt }
        return real.adding(seconds: offsetSeconds)
    }
}

/// The clock of what is sold: the real time plus an offset that development mode can increase.
///
/// `docs/domain.md` section 11 says which column, job and answer uses which of the two clocks.
public struct BusinessTime: Sendable {
    /// The clock of leases, ids, signatures and limits.
    public let real: TimeSource
    private let state: @Sendable () -> ClockState

    /// Makes a clock whose offset is 0.
    public init(real: TimeSource) {
        self.init(real: real) { ClockState() }
    }

    /// - Parameter state: returns the position that this process knows.
    package init(real: TimeSource, state: @escaping @Sendable () -> ClockState) {
        self.real = real
        self.state = state
    }

    public var now: Timestamp { state().businessTime(at: real.now) }

    /// Milliseconds since 1970-01-01 UTC; whole seconds while the clock is being moved.
    public func milliseconds() -> Int64 {
        let (real, state) = (real.milliseconds(), state())
        let second = Timestamp(real.flooredSeconds)
        if state.isMoving(at: second) { return state.businessTime(at: second).rawValue * 1_000 }
        return real + state.offsetSeconds * 1_000
    }

    /// True while the clock is being moved.
    package var isMoving: Bool { state().isMoving(at: real.now) }

    /// Reads both clocks at once.
    package var reading: ClockReading {
        let real = real.now
        return ClockReading(real: real, business: state().businessTime(at: real))
    }

    /// Returns the real time at which business time will be `time`, if it is not moved before.
    package func realTime(of time: Timestamp) -> Timestamp {
        let reading = reading
        return time.adding(seconds: reading.real.rawValue - reading.business.rawValue)
    }
}

/// Both clocks at one instant.
package struct ClockReading: Hashable, Sendable {
    package let real: Timestamp
    package let business: Timestamp

    package init(real: Timestamp, business: Timestamp) {
        self.real = real
        self.business = business
    }
}
