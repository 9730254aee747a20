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

    /// The example of RFC 9110, 1994-11-06 08:49:37 UTC.
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
        let follows: Bool
    }

    /// An event: the time of its id, its subject and number; `follows` is true where the one before it has no number
    /// yet.
    private typealias Place = (time: Int64, subject: String, sequence: Int64, follows: Bool)

    private static func arranged(_ places: [Place]) throws -> [[String]] {
        let items = try places.map { place in
            let ids = IDSource(
                time: TimeSource { place.time },
                random: RandomSource { Array(repeating: UInt8(place.sequence), count: $0) })
            return Item(
                id: try #require(ID(ids.make(Event.self).rawValue)), subject: place.subject, sequence: place.sequence,
                follows: place.follows)
        }
        return [items, items.reversed(), items.sorted { $0.id < $1.id }].map { shuffled in
            DispatchOrder.arranged(shuffled).map { "\($0.subject)\($0.sequence)" }
        }
    }

    @Test func `events are in the order of their ids except within a subject`() throws {
        let orders = try Self.arranged([
            (5, "a", 1, false), (1, "b", 2, true), (2, "a", 3, true), (3, "b", 1, false), (4, "a", 2, true),
            (6, "c", 1, false),
        ])
        #expect(orders == Array(repeating: ["b1", "a1", "b2", "a2", "a3", "c1"], count: 3))
    }

    @Test func `an event waits for the one before it`() throws {
        let orders = try Self.arranged([
            // The second event of `a` waits for an event that is not here; the third of `b` has none between.
            (1, "a", 2, true), (2, "a", 3, true), (3, "b", 7, false), (4, "b", 9, true), (5, "b", 10, true),
            (6, "c", 4, false), (7, "c", 5, true),
        ])
        #expect(orders == Array(repeating: ["b7", "c4", "c5"], count: 3))
    }
}
