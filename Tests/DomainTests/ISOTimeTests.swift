import Testing

@testable import Domain

@Suite("Times as ISO 8601 writes them")
struct ISOTimeTests {
    @Test(arguments: [
        ("2026-01-31", 1_769_817_600), ("2026-01-31T08:00:00Z", 1_769_846_400), ("1970-01-01T00:00:00Z", 0),
        ("2026-01-31T08:00:00+08:00", 1_769_817_600), ("2026-01-31T08:00:00 08:00", 1_769_817_600),
        ("2026-01-31T08:00:00.123Z", 1_769_846_400), ("2026-01-31T08:00-0130", 1_769_851_800),
        ("2024-02-29", 1_709_164_800), ("0000-03-01T00:00:00Z", -62_162_035_200),
    ])
    func `a date or time is read`(_ text: String, _ seconds: Int64) {
        #expect(Timestamp(iso8601: text)?.rawValue == seconds)
    }

    @Test(arguments: [
        "", "2026", "2026-13-01", "2026-02-29", "2026-01-31T", "2026-01-31T08", "2026-01-31T24:00:00Z",
        "2026-01-31T08:00:00", "2026-01-31T08:00:00+8", "2026-01-31T08:00:00Zx", "26-01-31",
        "2026-01-31T08:00:00+08:61",
    ])
    func `anything else is not`(_ text: String) { #expect(Timestamp(iso8601: text) == nil) }

    @Test func `a date is what it was written from`() {
        for day in stride(from: Int64(-40_000), through: 40_000, by: 37) {
            let time = Timestamp(day * 86_400)
            #expect(Timestamp(iso8601: time.utcDate) == time)
        }
    }
}
