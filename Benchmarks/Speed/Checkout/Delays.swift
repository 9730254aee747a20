/// The delays of answers in seconds.
struct Delays {
    let median: Double
    let p99: Double
    /// The number of requests that got no answer, or another than 200.
    let missing: Int

    /// - Throws: if there is no answer at all.
    init(_ all: [Double?]) throws {
        let sorted = all.compactMap(\.self).sorted()
        guard !sorted.isEmpty else { throw BenchFailure(description: "no checkout got a contract") }
        missing = all.count - sorted.count
        median = sorted[sorted.count / 2]
        p99 = sorted[sorted.count * 99 / 100]
    }
}
