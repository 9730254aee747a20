/// A measured number, the number that it is compared with, and its aim.
struct Figure {
    let section: Section
    let name: String
    let value: Double
    let unit: String
    /// The rate by the clock, where `value` is a rate per second of CPU time.
    var perSecond: Double?
    var base: Base?
    var aim: Aim?
    /// True where the run fails when the aim is not met; for demands on correctness, not on speed.
    var isDuty = false

    enum Base {
        /// The mean of this run's `openssl speed ecdsap256`.
        case openSSL
        case figure(String, Double)
    }
}

/// A bound of the ratio, or of the value where nothing is compared.
enum Aim {
    case atLeast(Double)
    case atMost(Double)
    case exactly(Double)

    func isMet(by number: Double) -> Bool {
        switch self {
        case .atLeast(let limit): number >= limit
        case .atMost(let limit): number <= limit
        case .exactly(let value): number == value
        }
    }

    var text: String {
        switch self {
        case .atLeast(let limit): "≥ \(limit.short)"
        case .atMost(let limit): "≤ \(limit.short)"
        case .exactly(let value): "= \(value.short)"
        }
    }
}

extension Double {
    /// The number with three significant digits, or with all digits before the point.
    var short: String {
        let digits = self >= 100 ? 0 : self >= 10 ? 1 : self >= 1 ? 2 : self >= 0.1 ? 3 : 4
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        let rounded = (self * scale).rounded() / scale
        return rounded == rounded.rounded() && magnitude < 1e15 ? String(Int64(rounded)) : String(rounded)
    }
}
