import Domain
import Metrics
import ProviderKit
import Synchronization

/// Counts the charges of mandates by their outcome, `paydesk_renewals_total{outcome}`, and holds the number of renewals
/// that are overdue.
package final class RenewalMeter: Sendable {
    /// The end of a call that charges a mandate.
    enum Outcome: String, CaseIterable {
        case succeeded, pending, soft, hard, unknown, unavailable
        case actionRequired = "action_required"

        init(_ report: PaymentReport) {
            switch report.outcome {
            case .succeeded: self = .succeeded
            case .accepted, .pending, .tryFailed, .cancelled: self = .pending
            case .failed:
                self =
                    switch report.refusal {
                    case .hard: .hard
                    case .actionRequired: .actionRequired
                    case .soft, nil: .soft
                    }
            }
        }
    }

    private let counters: [Outcome: Counter]
    private let waiting = Atomic<Int64>(0)

    init() {
        counters = Dictionary(
            uniqueKeysWithValues: Outcome.allCases.map {
                ($0, Counter(label: "paydesk_renewals_total", dimensions: [("outcome", $0.rawValue)]))
            })
    }

    func count(_ outcome: Outcome) { counters[outcome]?.increment() }

    /// The subscriptions whose act was due ten minutes before the last search for work.
    package var overdue: Int64 { waiting.load(ordering: .relaxed) }

    func setOverdue(_ count: Int64) { waiting.store(count, ordering: .relaxed) }
}
