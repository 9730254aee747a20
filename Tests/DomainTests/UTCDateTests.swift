import Domain
import Foundation
import Testing

struct UTCDateTests {
    @Test(
        arguments: [
            (0, "1970-01-01"), (86_399, "1970-01-01"), (86_400, "1970-01-02"), (-1, "1969-12-31"),
            (-86_400, "1969-12-31"), (-86_401, "1969-12-30"), (951_782_400, "2000-02-29"), (951_868_800, "2000-03-01"),
            (1_709_164_800, "2024-02-29"), (4_107_542_400, "2100-03-01"), (253_402_300_799, "9999-12-31"),
            (-62_135_596_800, "0001-01-01"),
        ] as [(Int64, String)])
    func `a day is that of UTC`(_ seconds: Int64, _ date: String) {
        #expect(Timestamp(seconds).utcDate == date)
    }

    @Test func `400 years of days are those of the calendar`() {
        for day in 0..<146_097 {
            let seconds = Int64(day) * 86_400 + 43_200
            let date = Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601.year().month().day())
            guard Timestamp(seconds).utcDate != date else { continue }
            Issue.record("\(date) is \(Timestamp(seconds).utcDate)")
            return
        }
    }

    @Test func `the ends of the range have dates, and the least ids sort by time`() {
        #expect(!Timestamp(.max).utcDate.isEmpty && !Timestamp(.min).utcDate.isEmpty)
        let ids = [Int64.min, 0, 1, 1_736_860_000, 253_402_300_799].map { ID<Order>.least(at: Timestamp($0)).rawValue }
        #expect(ids == ids.sorted() && ids[0] == ids[1] && Set(ids).count == 4)
        let source = IDSource(
            time: TimeSource { 1_736_860_000_000 }, random: RandomSource { Array(repeating: 0, count: $0) })
        let made = source.make(Order.self)
        #expect(
            ID<Order>.least(at: Timestamp(1_736_860_000)) <= made
                && made < ID<Order>.least(at: Timestamp(1_736_860_001)))
    }
}
