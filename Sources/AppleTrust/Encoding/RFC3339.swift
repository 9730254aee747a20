import Encodings

/// Dates as receipts spell them (RFC 3339 section 5.6).
enum RFC3339 {
    /// Milliseconds since 1970-01-01 UTC, finer fractions floored; nil for anything but a date and time with its offset.
    static func milliseconds(_ text: String) -> Int64? {
        var reader = Reader(Array(text.utf8))
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
            let day = reader.number(2), reader.skip("T") || reader.skip("t"), let hour = reader.number(2),
            reader.skip(":"), let minute = reader.number(2), reader.skip(":"), let second = reader.number(2),
            let fraction = reader.fraction(), let offset = reader.offset(), reader.isAtEnd,
            (1...12).contains(month), day >= 1, day <= days(in: month, of: year), hour <= 23, minute <= 59,
            // A leap second counts as the second after it.
            second <= 60
        else { return nil }
        let minutes = (days(until: year, month, day) * 24 + hour) * 60 + minute - offset
        return (minutes * 60 + second) * 1_000 + fraction
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][Int(month) - 1]
    }

    /// Days from 1970-01-01 in the Gregorian calendar; years are counted from March, so that a leap day is the last of
    /// its year.
    private static func days(until year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let inYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let century = (shifted >= 0 ? shifted : shifted - 399) / 400
        let inCentury = shifted - century * 400
        return century * 146_097 + inCentury * 365 + inCentury / 4 - inCentury / 100 + inYear - 719_468
    }

    private struct Reader {
        private let text: [UInt8]
        private var position = 0

        init(_ text: [UInt8]) { self.text = text }

        var isAtEnd: Bool { position == text.count }

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard position < text.count, text[position] == UInt8(truncatingIfNeeded: character.value) else {
                return false
            }
            position += 1
            return true
        }

        mutating func digit() -> Int64? {
            guard position < text.count, text[position].isDigit else { return nil }
            defer { position += 1 }
            return Int64(text[position]) - 0x30
        }

        mutating func number(_ digits: Int) -> Int64? {
            var number: Int64 = 0
            for _ in 0..<digits {
                guard let digit = digit() else { return nil }
                number = number * 10 + digit
            }
            return number
        }

        /// Milliseconds; 0 where there is no fraction.
        mutating func fraction() -> Int64? {
            guard skip(".") else { return 0 }
            var (milliseconds, digits): (Int64, Int) = (0, 0)
            while let digit = digit() {
                if digits < 3 { milliseconds = milliseconds * 10 + digit }
                digits += 1
            }
            guard digits > 0 else { return nil }
            for _ in digits..<max(digits, 3) { milliseconds *= 10 }
            return milliseconds
        }

        /// Minutes east of UTC.
        mutating func offset() -> Int64? {
            if skip("Z") || skip("z") { return 0 }
            let sign: Int64
            if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
            guard let hours = number(2), skip(":"), let minutes = number(2), hours <= 23, minutes <= 59 else {
                return nil
            }
            return sign * (hours * 60 + minutes)
        }
    }
}
