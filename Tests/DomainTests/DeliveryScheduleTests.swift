import Testing

@testable import Domain

@Suite("When webhooks are sent again")
struct DeliveryScheduleTests {
    @Test func `the pauses are those of the contract`() {
        let delays = (1...10).map { DeliverySchedule.delay(after: $0) }
        #expect(delays == [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400, nil])
        #expect(DeliverySchedule.delay(after: 1, pause: 60) == 60)
        #expect(DeliverySchedule.delay(after: 3, pause: 60) == 1_800)
        #expect(DeliverySchedule.delay(after: 1, pause: .max) == 86_400)
        #expect(DeliverySchedule.delay(after: 10, pause: 60) == nil)
    }

    /// 1994-11-06 08:49:37 UTC, the example of RFC 9110.
    static let moment = Timestamp(784_111_777)
    static let texts: [(String, Int64?)] = [
        ("0", 0), ("120", 120), (" 120 ", 120), ("99999999999999999999", .max), ("-1", nil), ("1.5", nil), ("", nil),
        ("Sun, 06 Nov 1994 08:49:47 GMT", 10), ("Sunday, 06-Nov-94 08:49:47 GMT", 10), ("Sun Nov  6 08:49:47 1994", 10),
        ("Sun, 06 Nov 1994 08:49:27 GMT", 0), ("Mon, 07 Nov 1994 08:49:37 GMT", 86_400),
        ("Thu, 29 Feb 1996 08:49:37 GMT", 41_472_000), ("Sun, 06 Nov 1994 08:49:47 CET", nil),
        ("Sun, 06 Now 1994 08:49:47 GMT", nil), ("Sun, 32 Nov 1994 08:49:47 GMT", nil),
        ("Sun, 06 Nov 1994 25:49:47 GMT", nil), ("Sun, 06 Nov 1994 08:49 GMT", nil), ("soon", nil), ("GMT", nil),
    ]

    @Test(arguments: texts)
    func `Retry-After is seconds or a date`(_ text: String, _ seconds: Int64?) {
        #expect(RetryAfter.seconds(text, now: Self.moment) == seconds)
    }

    struct Item: DispatchOrder.Place, Sendable {
        let id: ID<Event>
        let subject: String
        let sequence: Int64
    }

    @Test func `events are in the order of their ids except within a subject`() throws {
        let order: [(Int64, String, Int64)] = [
            (5, "a", 1), (1, "b", 2), (2, "a", 3), (3, "b", 1), (4, "a", 2), (6, "c", 1),
        ]
        let items = try order.map { time, subject, sequence in
            let ids = IDSource(
                time: TimeSource { time }, random: RandomSource { Array(repeating: UInt8(sequence), count: $0) })
            return Item(id: try #require(ID(ids.make(Event.self).rawValue)), subject: subject, sequence: sequence)
        }
        for shuffled in [items, items.reversed(), items.sorted { $0.id < $1.id }] {
            let arranged = DispatchOrder.arranged(shuffled).map { "\($0.subject)\($0.sequence)" }
            #expect(arranged == ["b1", "a1", "b2", "a2", "a3", "c1"])
        }
    }
}
