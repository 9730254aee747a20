import Domain
import Testing

struct TimestampTests {
    @Test(
        arguments: [
            (0, 0, 0), (10, 5, 15), (10, -15, -5), (.max, 1, .max), (.max, .max, .max), (.max - 1, 2, .max),
            (.min, -1, .min), (.min, .min, .min), (.min, .max, -1), (.max, .min, -1), (.max - 1, 1, .max),
        ] as [(Int64, Int64, Int64)])
    func `seconds stop at the ends of the range`(_ start: Int64, _ seconds: Int64, _ end: Int64) {
        #expect(Timestamp(start).adding(seconds: seconds) == Timestamp(end))
    }

    @Test(
        arguments: [
            (0, 0, 0), (0, 1, 86_400), (0, -1, -86_400), (1_736_860_000, 30, 1_739_452_000), (5, 3_660, 316_224_005),
            (0, .max, .max), (0, .min, .min), (-10, .max, .max), (10, .min, .min), (.max, 1, .max), (.min, -1, .min),
            (.min, .max, .max), (.max, .min, .min), (.min, 106_751_991_167_301, 30_592),
        ] as [(Int64, Int64, Int64)])
    func `days have 86,400 seconds and stop at the ends of the range`(_ start: Int64, _ days: Int64, _ end: Int64) {
        #expect(Timestamp(start).adding(days: days) == Timestamp(end))
    }

    @Test(
        arguments: [
            (0, 0), (999, 0), (1_000, 1), (1_999, 1), (-1, -1), (-999, -1), (-1_000, -1), (-1_001, -2), (-1_999, -2),
            (1_736_860_000_999, 1_736_860_000), (.max, 9_223_372_036_854_775), (.min, -9_223_372_036_854_776),
        ] as [(Int64, Int64)])
    func `milliseconds are floored, before 1970 too`(_ milliseconds: Int64, _ seconds: Int64) {
        #expect(TimeSource { milliseconds }.now == Timestamp(seconds))
    }

    @Test func `times sort and are whole seconds in JSON`() throws {
        #expect(Timestamp(-1) < Timestamp(0) && Timestamp(0) < Timestamp(1))
        #expect(try json([Timestamp(1_736_860_000), Timestamp(-1)]) == "[1736860000,-1]")
        #expect(try decoded("[1736860000]", as: [Timestamp].self) == [Timestamp(rawValue: 1_736_860_000)])
        #expect(throws: DecodingError.self) { try decoded("[1736860000.5]", as: [Timestamp].self) }
        #expect(Timestamp.farFuture == Timestamp(253_402_300_799))
    }
}
