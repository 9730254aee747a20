import CoreMetrics
import Domain
import Logging
import ProviderKit
import Synchronization

extension ProviderLog {
    /// Writes to Paydesk's log; each line names the account.
    static func to(_ logger: Logger, account: AccountID, unread: UnreadFieldLog) -> ProviderLog {
        ProviderLog(unread: { unread.add($0, account: account) }) { level, message, metadata in
            var fields = Logger.Metadata(uniqueKeysWithValues: metadata.map { ($0.key, .string($0.value)) })
            fields["account"] = .string(account.rawValue)
            let grade: Logger.Level =
                switch level {
                case .debug: .debug
                case .notice: .notice
                case .warning: .warning
                case .error: .error
                }
            logger.log(level: grade, "\(message)", metadata: fields)
        }
    }
}

/// Counts the fields of peers that could not be read, `paydesk_unread_fields_total{field}`, and logs each name once.
final class UnreadFieldLog: Sendable {
    private let logger: Logger
    private let counters = Mutex<[String: Counter]>([:])

    init(_ logger: Logger) { self.logger = logger }

    func add(_ field: String, account: AccountID) {
        let (counter, isNew) = counters.withLock { counters in
            if let known = counters[field] { return (known, false) }
            let counter = Counter(label: "paydesk_unread_fields_total", dimensions: [("field", field)])
            counters[field] = counter
            return (counter, true)
        }
        counter.increment()
        guard isNew else { return }
        logger.notice(
            "a field could not be read and counts as absent",
            metadata: ["field": "\(field)", "account": "\(account.rawValue)"])
    }
}
