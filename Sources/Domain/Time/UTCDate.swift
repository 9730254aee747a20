import Encodings

extension Timestamp {
    /// The day in UTC as ISO 8601 writes it, `2026-03-01`.
    package var utcDate: String {
        let (year, month, day) = civil
        func padded(_ number: Int64, _ length: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, length - digits.count)) + digits
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }

    /// The time in UTC as ISO 8601 writes it, `2026-03-01T08:00:00Z`.
    package var iso8601: String {
        let second = ((rawValue % 86_400) + 86_400) % 86_400
        func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : String(number) }
        return "\(utcDate)T\(padded(second / 3_600)):\(padded(second / 60 % 60)):\(padded(second % 60))Z"
    }

    /// The same time of day in UTC a number of months later, on the same day of the month or on the last of a shorter one.
    func adding(months: Int64) -> Timestamp {
        let secondOfDay = ((rawValue % 86_400) + 86_400) % 86_400
        let date = civil
        let month = date.year * 12 + date.month - 1 + months
        let (year, index) = (month / 12, month % 12 + 1)
        let day = min(date.day, Self.days(of: index, in: year))
        return Timestamp(Self.days(since1970: year, index, day) * 86_400 + secondOfDay)
    }

    /// The proleptic Gregorian date, from days counted since 0000-03-01 in eras of 400 years (Hinnant, `civil_from_days`).
    private var civil: (year: Int64, month: Int64, day: Int64) {
        let rest = rawValue % 86_400
        let days = (rawValue / 86_400) - (rest < 0 ? 1 : 0) + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}

extension Timestamp {
    /// Reads an ISO 8601 date, which is its first second in UTC, or time: `2026-01-31`, `2026-01-31T08:00:00Z`,
    /// `2026-01-31T08:00:00+08:00` (RFC 3339 section 5.6, seconds and their fraction optional).
    ///
    /// A space is read as `+`, because decoding a query string turns `+` into a space.
    package init?(iso8601 text: String) {
        let bytes = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int64? {
            guard range.upperBound <= bytes.count else { return nil }
            return bytes[range].reduce(Int64?(0)) { sum, byte in
                guard let sum, byte.isDigit else { return nil }
                return sum * 10 + Int64(byte - 0x30)
            }
        }
        func stands(_ character: Character, _ index: Int) -> Bool {
            index < bytes.count && bytes[index] == character.asciiValue
        }
        guard let year = number(0..<4), stands("-", 4), let month = number(5..<7), stands("-", 7),
            let day = number(8..<10), (1...12).contains(month), (1...Self.days(of: month, in: year)).contains(day)
        else { return nil }
        let date = Self.days(since1970: year, month, day) * 86_400
        if bytes.count == 10 {
            self.init(date)
            return
        }
        guard stands("T", 10) || stands("t", 10), let hour = number(11..<13), hour < 24, stands(":", 13),
            let minute = number(14..<16), minute < 60
        else { return nil }
        var (next, second) = (16, Int64(0))
        if stands(":", next) {
            guard let found = number(17..<19), found < 61 else { return nil }
            (second, next) = (min(found, 59), 19)
            if stands(".", next) {
                next += 1
                while next < bytes.count, number(next..<next + 1) != nil { next += 1 }
            }
        }
        var offset: Int64 = 0
        if !((stands("Z", next) || stands("z", next)) && next + 1 == bytes.count) {
            let isEast = stands("+", next) || stands(" ", next)
            guard isEast || stands("-", next), let hours = number(next + 1..<next + 3), hours < 24 else { return nil }
            let minutesAt = stands(":", next + 3) ? next + 4 : next + 3
            guard minutesAt + 2 == bytes.count, let minutes = number(minutesAt..<minutesAt + 2), minutes < 60 else {
                return nil
            }
            offset = (hours * 60 + minutes) * (isEast ? 60 : -60)
        }
        self.init(date + hour * 3_600 + minute * 60 + second - offset)
    }

    private static func days(of month: Int64, in year: Int64) -> Int64 {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return switch month {
        case 2: isLeap ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days of the proleptic Gregorian calendar, counted from March so that leap days come last.
    private static func days(since1970 year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }
}
