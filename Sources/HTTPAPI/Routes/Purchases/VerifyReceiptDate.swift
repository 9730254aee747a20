import Foundation

/// Formats dates as `verifyReceipt` does: `2023-12-31 23:59:59 Etc/GMT`.
enum VerifyReceiptDate {
    private static let pacificTime = TimeZone(identifier: "America/Los_Angeles")

    static func greenwich(_ milliseconds: Int64) -> String { "\(text(date(milliseconds))) Etc/GMT" }

    /// - Returns: nil where the machine lacks that time zone.
    static func pacific(_ milliseconds: Int64) -> String? {
        guard let pacificTime else { return nil }
        let date = date(milliseconds)
        return
            "\(text(date.addingTimeInterval(TimeInterval(pacificTime.secondsFromGMT(for: date))))) America/Los_Angeles"
    }

    private static func date(_ milliseconds: Int64) -> Date {
        Date(timeIntervalSince1970: (Double(milliseconds) / 1_000).rounded(.down))
    }

    private static func text(_ date: Date) -> String {
        date.formatted(
            Date.ISO8601FormatStyle(dateSeparator: .dash, dateTimeSeparator: .space, timeSeparator: .colon)
                .year().month().day().time(includingFractionalSeconds: false))
    }
}
