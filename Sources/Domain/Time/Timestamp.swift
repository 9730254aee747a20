/// A point in time: whole seconds since 1970-01-01 UTC.
public struct Timestamp: RawRepresentable, Hashable, Comparable, Sendable, Codable {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }
    public init(_ seconds: Int64) { self.rawValue = seconds }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.rawValue < right.rawValue }

    /// The time a number of seconds later; it stops at the ends of the range instead of wrapping.
    public func adding(seconds: Int64) -> Timestamp {
        let (sum, overflow) = rawValue.addingReportingOverflow(seconds)
        return Timestamp(overflow ? (seconds > 0 ? .max : .min) : sum)
    }

    /// The time a number of days of 86,400 seconds later; it stops at the ends of the range as well.
    public func adding(days: Int64) -> Timestamp {
        Timestamp(Int64(clamping: Int128(rawValue) + Int128(days) * 86_400))
    }

    /// 9999-12-31 23:59:59 UTC, the end of perpetual access in answers whose format has no value for "perpetual".
    package static let farFuture = Timestamp(253_402_300_799)
}

/// The injected clock: nothing below the executable asks the system for the time.
public struct TimeSource: Sendable {
    /// Milliseconds since 1970-01-01 UTC.
    public let milliseconds: @Sendable () -> Int64

    public init(milliseconds: @escaping @Sendable () -> Int64) { self.milliseconds = milliseconds }

    public var now: Timestamp { Timestamp(milliseconds().flooredQuotient(1_000)) }
}

extension Int64 {
    /// The whole seconds of a number of milliseconds, rounded toward minus infinity, also for times before 1970.
    package var flooredSeconds: Int64 { flooredQuotient(1_000) }

    fileprivate func flooredQuotient(_ divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

/// The injected source of unpredictable bytes.
public struct RandomSource: Sendable {
    /// Returns this number of bytes from a cryptographically secure generator.
    public let bytes: @Sendable (_ count: Int) -> [UInt8]

    public init(bytes: @escaping @Sendable (_ count: Int) -> [UInt8]) { self.bytes = bytes }
}
