import Domain
import ProviderKit
import Store

extension Settlement {
    /// Moves a dispute: opening suspends the order's grant, winning reinstates it, losing revokes it.
    func settle(_ report: DisputeReport, from account: AccountID, _ scene: Scene) throws {
        guard scene.belongs(to: account) else { return }
        let fact: Dispute.State =
            switch report.outcome {
            case .opened: .open
            case .won: .won
            case .lost: .lost
            }
        let whole = scene.payment.amount
        var disputed = report.amount
        if let amount = disputed, amount.currency != whole.currency || !(1...whole.value).contains(amount.value) {
            try record(.amountMismatch, scene.order, "a dispute of \(amount) was reported for \(scene.payment.id)")
            // A bank may ask for more than was paid, by its own rate of exchange; it is a dispute all the same.
            guard amount.currency == whole.currency, amount.value > whole.value else { return }
            disputed = whole
        }
        let reference = report.reference?.stored(255) ?? scene.payment.id.rawValue
        if let dispute = try tx.disputes(of: scene.payment.id).first(where: { $0.reference == reference }) {
            let move = dispute.state.applying(fact)
            if let anomaly = move.anomaly {
                try record(anomaly, scene.order, "\(dispute.id) was reported \(fact.rawValue)")
            }
            guard move.state != dispute.state else { return }
            try tx.moveDispute(dispute.id, to: move.state, amount: disputed ?? dispute.amount)
            try follow(dispute.id, from: dispute.state.rawValue, to: move.state, scene)
        } else {
            let dispute = Dispute(
                id: ids.make(), order: scene.order.id, payment: scene.payment.id, reference: reference,
                amount: disputed ?? whole, state: fact, createdAt: now)
            try tx.insertDispute(dispute)
            try follow(dispute.id, from: "", to: fact, scene)
        }
    }

    private func follow(_ dispute: ID<Dispute>, from old: String, to new: Dispute.State, _ scene: Scene) throws {
        let word = new == .open ? "opened" : new.rawValue
        try note(scene.order, "dispute.\(word)", dispute.rawValue)
        try audit(scene.order, "dispute.\(word)", before: "\(dispute) \(old)", after: "\(dispute) \(new.rawValue)")
        try recount(scene.payment.id, scene.order)
        try regrade(scene.order.id)
        try emit(new == .open ? .disputeOpened : .disputeClosed, scene.order.id)
    }
}
