import Domain
import Logging
import ProviderKit

extension ProviderLog {
    /// Writes to Paydesk's log, each line with its account.
    static func to(_ logger: Logger, account: AccountID) -> ProviderLog {
        ProviderLog { level, message, metadata in
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
