import Domain
import ProviderKit
import Store

extension Settlement {
    /// A provider's clock may be ahead of ours by so many seconds; a later time would hold against everything after it.
    private static let clockSkew: Int64 = 86_400

    /// Brings a dispute to its newest state: open suspends the order's grant, won reinstates it, lost revokes it.
    func settle(_ report: DisputeReport, from account: AccountID, _ told: Scene) throws {
        guard told.belongs(to: account) else { return }
        let scene = try scene(beside: told, under: report.paymentReference)
        let fact: Dispute.State =
            switch report.outcome {
            case .opened: .open
            case .won: .won
            case .lost: .lost
            }
        let whole = scene.payment.amount
        var disputed = report.amount
        if let amount = disputed, amount.currency != whole.currency {
            // How much of the payment it is nobody can say, so all of it is in question.
            try record(.disputeCurrency, scene.order, "a dispute of \(amount) was reported for \(scene.payment.id)")
            disputed = whole
        } else if let amount = disputed, !(1...whole.value).contains(amount.value) {
            try record(.amountMismatch, scene.order, "a dispute of \(amount) was reported for \(scene.payment.id)")
            // A bank may ask for more than was paid, by its own rate of exchange; it is a dispute all the same.
            guard amount.value > whole.value else { return }
            disputed = whole
        }
        let at = report.at.flatMap { $0 > now.adding(seconds: Self.clockSkew) ? nil : $0 } ?? now
        let reference = report.reference?.stored(255) ?? scene.payment.id.rawValue
        if let dispute = try tx.disputes.list(of: scene.payment.id).value().first(where: { $0.reference == reference })
        {
            let amount = disputed ?? dispute.amount
            let isNewer = dispute.state == fact ? at > dispute.toldAt : dispute.isFollowed(by: fact, at: at)
            guard isNewer else { return }
            try tx.disputes.move(dispute.id, to: fact, amount: amount, toldAt: at)
            guard fact != dispute.state || amount != dispute.amount else { return }
            try follow(dispute.id, from: dispute.state.rawValue, to: fact, scene)
        } else {
            let dispute = Dispute(
                id: ids.make(), order: scene.order.id, payment: scene.payment.id, reference: reference,
                amount: disputed ?? whole, state: fact, createdAt: now, toldAt: at)
            try tx.disputes.insert(dispute)
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
