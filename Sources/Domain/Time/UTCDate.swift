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
