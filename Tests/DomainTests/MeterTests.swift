import Domain
import Testing

struct MeterTests {
    private static let shanghai = "Asia/Shanghai"
    private static let newYork = "America/New_York"

    private func meter(
        _ period: Meter.Period = .day, _ timeZone: String = shanghai, limits: [String: Int64?] = ["": 10]
    ) throws -> Meter {
        try #require(Meter(id: "tokens", period: period, timeZone: timeZone, limits: limits))
    }

    @Test(
        arguments: [
            (.day, shanghai, 1_736_870_400, 1_736_956_800, 24), (.day, shanghai, 1_709_136_000, 1_709_222_400, 24),
            (.day, newYork, 1_751_601_600, 1_751_688_000, 24), (.day, newYork, 1_741_496_400, 1_741_579_200, 23),
            (.day, newYork, 1_762_056_000, 1_762_146_000, 25), (.day, "Africa/Cairo", 1_745_532_000, 1_745_614_800, 23),
            (.day, "Asia/Kathmandu", 1_736_878_500, 1_736_964_900, 24), (.day, "UTC", -86_400, 0, 24),
            (.month, shanghai, 1_706_716_800, 1_709_222_400, 29 * 24),
            (.month, shanghai, 1_732_982_400, 1_735_660_800, 31 * 24),
            (.month, newYork, 1_740_805_200, 1_743_480_000, 31 * 24 - 1),
            (.month, newYork, 1_761_969_600, 1_764_565_200, 30 * 24 + 1),
        ] as [(Meter.Period, String, Int64, Int64, Int64)])
    func `a window is the day or month of the meter's own time zone`(
        _ period: Meter.Period, _ timeZone: String, _ start: Int64, _ end: Int64, _ hours: Int64
    ) throws {
        let meter = try meter(period, timeZone)
        #expect(end - start == hours * 3_600)
        for moment in [start, start + 1, (start + end) / 2, end - 1] {
            #expect(meter.window(at: Timestamp(moment)) == (Timestamp(start), Timestamp(end)))
        }
        #expect(meter.window(at: Timestamp(start - 1)).end == Timestamp(start))
        #expect(meter.window(at: Timestamp(end)).start == Timestamp(end))
    }

    @Test(arguments: [(.day, 365), (.month, 12)] as [(Meter.Period, Int)], [shanghai, newYork, "Africa/Cairo", "UTC"])
    func `windows lie end to end for a whole year`(_ period: (Meter.Period, Int), _ timeZone: String) throws {
        let meter = try meter(period.0, timeZone)
        let first = meter.window(at: Timestamp(1_735_732_800))
        var last = first
        for _ in 0..<period.1 {
            let next = meter.window(at: last.end)
            #expect(next.start == last.end && next.end > next.start)
            last = next
        }
        #expect(last.end.rawValue - first.end.rawValue == 365 * 86_400)
    }

    @Test(
        arguments: [("", 10), ("VIP", 100), ("SVIP", nil), ("vip", 10), ("OTHER", 10), ("NONE", 0)]
            as [(String, Int64?)])
    func `a tier has its own limit, and an unlisted one that of no tier`(_ tier: String, _ limit: Int64?) throws {
        #expect(try meter(limits: ["": 10, "VIP": 100, "SVIP": nil, "NONE": 0]).limit(tier: tier) == limit)
    }

    @Test(arguments: [("", nil), ("VIP", 5), ("OTHER", nil)] as [(String, Int64?)])
    func `no limit for no tier is no limit for the unlisted`(_ tier: String, _ limit: Int64?) throws {
        #expect(try meter(limits: ["": nil, "VIP": 5]).limit(tier: tier) == limit)
    }

    @Test(
        arguments: [
            ("", shanghai, ["": 1]), ("Tokens", shanghai, ["": 1]), ("a b", shanghai, ["": 1]),
            ("tokens", "", ["": 1]), ("tokens", "Mars/Olympus", ["": 1]), ("tokens", "Asia/Shang hai", ["": 1]),
            ("tokens", shanghai, [:]), ("tokens", shanghai, ["VIP": 1]), ("tokens", shanghai, ["": -1]),
            ("tokens", shanghai, ["": 1, "VIP": -1]), ("tokens", shanghai, ["": nil, "VIP": .min]),
        ] as [(String, String, [String: Int64?])])
    func `a meter without a name, a known zone or sound limits is none`(
        _ id: String, _ timeZone: String, _ limits: [String: Int64?]
    ) {
        #expect(Meter(id: id, period: .day, timeZone: timeZone, limits: limits) == nil)
    }

    @Test(arguments: [(10, 3, 7), (10, 10, 0), (10, 12, 0), (0, 0, 0), (nil, 3, nil)] as [(Int64?, Int64, Int64?)])
    func `what remains is never below zero`(_ limit: Int64?, _ used: Int64, _ remaining: Int64?) {
        #expect(Usage(meter: "tokens", limit: limit, used: used, resetsAt: day(1)).remaining == remaining)
    }
}
