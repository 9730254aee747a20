import Encodings

/// The delays after which an event is sent again (Standard Webhooks; `api.md` section 10).
package enum DeliverySchedule {
    /// The seconds between an attempt that failed and the next one.
    package static let delays: [Int64] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
    /// The longest pause that an endpoint's `Retry-After` can ask for, in seconds; a longer one is cut to this.
    package static let longestPause: Int64 = 86_400
    /// The time in seconds after which an endpoint is disabled whose every attempt failed.
    package static let failingLimit: Int64 = 5 * 86_400
    /// The time in seconds after which an endpoint that has only failed is served apart from the others.
    package static let failingGrace: Int64 = 10
    /// The time in seconds for which both secrets sign after a rotation.
    package static let rotationOverlap: Int64 = 86_400

    /// - Parameters:
    ///   - attempts: how many have failed, this one included.
    ///   - pause: the seconds that the endpoint asked for.
    /// - Returns: nil when there is no further attempt.
    package static func delay(after attempts: Int64, pause: Int64? = nil) -> Int64? {
        let index = Int(max(1, attempts)) - 1
        guard index < delays.count else { return nil }
        return max(delays[index], min(pause ?? 0, longestPause))
    }

    /// Returns whether the `Retry-After` of an answer with this status is heeded.
    package static func heedsPause(_ status: Int) -> Bool { [429, 502, 503, 504].contains(status) }
}

/// `Retry-After` of RFC 9110 section 10.2.3: seconds, or a date in one of its three forms.
package enum RetryAfter {
    /// - Returns: seconds from now, 0 for a date that is over, nil for any other text.
    package static func seconds(_ text: String, now: Timestamp) -> Int64? {
        let words = text.split { $0 == " " || $0 == "\t" }
        if words.count == 1, let word = words.first, word.utf8.allSatisfy(\.isDigit) {
            return Int64(word) ?? .max
        }
        guard let date = date(words.map(String.init), now: now) else { return nil }
        return max(0, date.rawValue - now.rawValue)
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func date(_ words: [String], now: Timestamp) -> Timestamp? {
        switch words.count {
        case 6 where words[5] == "GMT":  // Sun, 06 Nov 1994 08:49:37 GMT
            return time(day: words[1], month: words[2], year: Int64(words[3]), clock: words[4])
        case 4 where words[3] == "GMT":  // Sunday, 06-Nov-94 08:49:37 GMT
            let parts = words[1].split(separator: "-").map(String.init)
            guard parts.count == 3, let short = Int64(parts[2]), (0...99).contains(short) else { return nil }
            // Two digits mean the year that is not more than 50 years ahead.
            let latest = 1970 + now.rawValue / 31_556_952 + 50
            let year = latest - (latest - short) % 100
            return time(day: parts[0], month: parts[1], year: year, clock: words[2])
        case 5:  // Sun Nov  6 08:49:37 1994
            return time(day: words[2], month: words[1], year: Int64(words[4]), clock: words[3])
        default: return nil
        }
    }

    private static func time(day: String, month: String, year: Int64?, clock: String) -> Timestamp? {
        let parts = clock.split(separator: ":").compactMap { Int64($0) }
        guard let day = Int64(day), (1...31).contains(day), let month = months.firstIndex(of: month), let year,
            (1970...9999).contains(year), parts.count == 3, (0...23).contains(parts[0]), (0...59).contains(parts[1]),
            (0...60).contains(parts[2])
        else { return nil }
        let days = Self.days(year: year, month: Int64(month) + 1, day: day)
        return Timestamp(days * 86_400 + parts[0] * 3_600 + parts[1] * 60 + parts[2])
    }

    /// Days since 1970-01-01 in the proleptic Gregorian calendar; years are counted from March.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let era = shifted / 400
        let ofEra = shifted - era * 400
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    }
}
