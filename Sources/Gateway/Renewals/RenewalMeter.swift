import Domain
import Metrics
import ProviderKit
import Synchronization

/// Counts the charges of mandates by their outcome, `paydesk_renewals_total{outcome}`, and keeps the number of renewals
/// that are overdue and the state of the hold.
package final class RenewalMeter: Sendable {
    /// The end of a call that charges a mandate, or `lapsed` for a renewal that ended without one.
    enum Outcome: String, CaseIterable {
        case succeeded, pending, soft, hard, unknown, unavailable, lapsed
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

    /// The seconds after which a renewal that is due and undecided is overdue.
    package static let overdueSeconds: Int64 = 600

    private let counters: [Outcome: Counter]
    private let waiting = Atomic<Int64>(0)
    private let held = Atomic<Bool>(false)

    init() {
        counters = Dictionary(
            uniqueKeysWithValues: Outcome.allCases.map {
                ($0, Counter(label: "paydesk_renewals_total", dimensions: [("outcome", $0.rawValue)]))
            })
    }

    func count(_ outcome: Outcome) { counters[outcome]?.increment() }

    /// The subscriptions whose renewal or next try was overdue at the last search for work.
    package var overdue: Int64 { waiting.load(ordering: .relaxed) }

    /// True while no mandate is charged, as this node saw it last.
    package var isHeld: Bool { held.load(ordering: .relaxed) }

    func setHeld(_ isHeld: Bool) { held.store(isHeld, ordering: .relaxed) }

    func setOverdue(_ count: Int64) { waiting.store(count, ordering: .relaxed) }
}
