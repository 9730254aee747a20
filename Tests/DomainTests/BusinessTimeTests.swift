import Testing

@testable import Domain

@Suite struct BusinessTimeTests {
    private static let real: Int64 = 1_000_500

    private static func time(_ state: ClockState) -> BusinessTime {
        BusinessTime(real: TimeSource { real }) { state }
    }

    @Test(
        arguments: [
            (ClockState(), 1_000, 1_000_500), (ClockState(offsetSeconds: 60), 1_060, 1_060_500),
            // A clock that is being moved stands, to the millisecond.
            (
                ClockState(offsetSeconds: 60, standsAt: Timestamp(5_000), standsUntil: Timestamp(1_001)), 5_000,
                5_000_000
            ),
            // A move whose lease has ended has lost the clock.
            (
                ClockState(offsetSeconds: 60, standsAt: Timestamp(5_000), standsUntil: Timestamp(1_000)), 1_060,
                1_060_500
            ),
            (ClockState(offsetSeconds: 60, standsUntil: Timestamp(9_000)), 1_060, 1_060_500),
        ] as [(ClockState, Int64, Int64)])
    func `business time is the real time and the offset, or stands while it is moved`(
        _ state: ClockState, _ now: Int64, _ milliseconds: Int64
    ) {
        let time = Self.time(state)
        #expect(time.now == Timestamp(now) && time.milliseconds() == milliseconds)
        #expect(time.real.now == Timestamp(1_000))
        #expect(time.reading == ClockReading(real: Timestamp(1_000), business: Timestamp(now)))
        #expect(time.realTime(of: Timestamp(now + 7)) == Timestamp(1_007))
    }

    @Test func `without a position both clocks are one`() {
        #expect(BusinessTime(real: TimeSource { Self.real }).now == Timestamp(1_000))
    }
}
