import Domain
import Store

/// The history of an order, its payments and refunds, compared with their states.
///
/// Each must begin with an intent, follow the tables of `docs/domain.md` sections 3 and 4, and end in the current
/// state.
struct OrderHistory {
    private let order: Order
    private let payments: [PaymentRecord]
    private let refunds: [Refund]
    private let timeline: [TimelineEntry]

    init(_ checked: CheckedOrder) {
        order = checked.order
        payments = checked.payments
        refunds = checked.refunds
        timeline = checked.timeline
    }

    /// The violations; a timeline at its limit lacks first the attempts and then everything, which is then not checked.
    var violations: [Violation] {
        guard timeline.count < ChangeLog.timelineLimit else { return [] }
        var found = orderViolations + refunds.flatMap(violations)
        if timeline.count < ChangeLog.attemptLimit { found += payments.flatMap(violations) }
        return found
    }

    private var orderViolations: [Violation] {
        let states =
            [Order.State.open]
            + timeline.compactMap { line in
                switch line.type {
                case "order.paid", "order.imported": .paid
                case "order.closed": .closed
                default: nil
                }
            }
        let isLegal = zip(states, states.dropFirst()).allSatisfy { $0 != $1 && $0 != .paid && $1 != .open }
        return judge(order.id.rawValue, isLegal: isLegal, endsWell: states.last == order.state)
    }

    private func violations(_ record: PaymentRecord) -> [Violation] {
        let payment = record.payment
        let words = words("payment.", payment.id.rawValue)
        guard words.first == "created" else { return [Self.withoutIntent(payment.id.rawValue)] }
        let states = words.compactMap { Payment.State(rawValue: $0) }
        let isLegal = zip(states, states.dropFirst()).allSatisfy { from, to in
            Payment.State.Fact.allCases.contains { from.applying($0).state == to }
        }
        // A store purchase pays its order without an entry about the payment, and the payment captures nothing.
        let isStores = payment.state == .succeeded && record.captured == 0
        return judge(payment.id.rawValue, isLegal: isLegal, endsWell: isStores || states.last == payment.state)
    }

    private func violations(_ refund: Refund) -> [Violation] {
        let words = words("refund.", refund.id.rawValue)
        guard let first = words.first, first == "created" || first == "adopted" else {
            return [Self.withoutIntent(refund.id.rawValue)]
        }
        let states = words.compactMap { $0 == "adopted" ? .pending : Refund.State(rawValue: $0) }
        let isLegal = zip(states, states.dropFirst()).allSatisfy { from, to in
            Refund.State.Fact.allCases.contains { from.applying($0).state == to }
        }
        return judge(refund.id.rawValue, isLegal: isLegal, endsWell: states.last == refund.state)
    }

    /// Returns the types of the timeline's entries about a payment or refund, whose id begins the detail of each,
    /// without their prefix.
    private func words(_ prefix: String, _ id: String) -> [String] {
        timeline.filter { $0.type.hasPrefix(prefix) && $0.detail.prefix { $0 != " " } == id }
            .map { String($0.type.dropFirst(prefix.count)) }
    }

    private func judge(_ subject: String, isLegal: Bool, endsWell: Bool) -> [Violation] {
        if !isLegal {
            return [Violation(invariant: 5, subject: subject, detail: "its history has a step that no table knows")]
        }
        if !endsWell {
            return [Violation(invariant: 5, subject: subject, detail: "it stands elsewhere than its history leads")]
        }
        return []
    }

    private static func withoutIntent(_ subject: String) -> Violation {
        Violation(invariant: 7, subject: subject, detail: "a payment or refund has no intent before everything else")
    }
}
