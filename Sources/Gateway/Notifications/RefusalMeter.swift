import Domain
import Metrics
import ProviderKit

/// Counts refused notifications by account and reason: `paydesk_notifications_refused_total{account,reason}`.
///
/// Accounts are the configured ones and reasons a closed list, so the number of series is bounded.
struct RefusalMeter: Sendable {
    private struct Series: Hashable {
        let account: AccountID
        let reason: String
    }

    private let counters: [Series: Counter]

    init(_ accounts: [AccountID]) {
        var counters: [Series: Counter] = [:]
        for account in accounts {
            for reason in UnprovenReason.words {
                counters[Series(account: account, reason: reason)] = Counter(
                    label: "paydesk_notifications_refused_total",
                    dimensions: [("account", account.rawValue), ("reason", reason)])
            }
        }
        self.counters = counters
    }

    func count(_ reason: UnprovenReason, at account: AccountID) {
        counters[Series(account: account, reason: reason.word)]?.increment()
    }
}
