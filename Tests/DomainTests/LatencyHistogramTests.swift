import Testing

@testable import Domain

@Suite("Histograms of latencies")
struct LatencyHistogramTests {
    @Test(arguments: [
        (Int64(-1), 0), (0, 0), (500_000, 0), (500_001, 1), (1_000_000, 1), (10_000_000_000, 13), (10_000_000_001, 14),
        (.max, 14),
    ])
    func `a call counts in the bucket with the least bound that is not below its time`(_ time: Int64, _ bucket: Int) {
        let histogram = LatencyHistogram()
        histogram.observe(nanoseconds: time)
        var calls = Array(repeating: Int64(0), count: LatencyHistogram.bounds.count + 1)
        calls[bucket] = 1
        #expect(histogram.counted.calls == calls)
        #expect(histogram.counted.nanoseconds == max(0, time))
    }

    @Test func `calls that end at once are all counted`() async {
        let histogram = LatencyHistogram()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { for _ in 0..<1_000 { histogram.observe(nanoseconds: 2_000_000) } } }
        }
        #expect(histogram.counted.calls.reduce(0, +) == 8_000 && histogram.counted.nanoseconds == 16_000_000_000)
    }
}
