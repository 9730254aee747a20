import Domain
import ProviderKit
import Store

extension Settlement {
    /// Moves a refund: one of ours, or one that was made at the provider and is told of here first.
    func settle(_ report: RefundReport, from account: AccountID, _ told: Scene) throws {
        guard told.belongs(to: account) else { return }
        let scene = try scene(of: report, told)
        guard let refund = try find(report, scene) else { return }
        if let amount = report.amount, amount != refund.amount {
            try record(.amountMismatch, scene.order, "\(refund.id) of \(refund.amount) was reported with \(amount)")
            return
        }
        let fact: Refund.State.Fact =
            switch report.outcome {
            case .pending: .accepted
            case .succeeded: .succeeded
            case .failed: .failed
            case .reversed: .reversed
            }
        try move(refund, fact, reference: report.reference, scene)
    }

    /// The payment whose money goes back: the one that is named, or one that was paid beside it under the same number.
    private func scene(of report: RefundReport, _ told: Scene) throws -> Scene {
        if let known = try report.refund.flatMap({ try tx.refunds.find($0) }), known.payment != told.payment.id,
            let record = try tx.payments.find(known.payment).value(), record.payment.original == told.payment.id
        {
            return Scene(order: told.order, record: record)
        }
        return try scene(beside: told, under: report.paymentReference)
    }

    /// The payment that was paid beside this one under the provider's id, where there is one; else this one.
    func scene(beside told: Scene, under reference: String?) throws -> Scene {
        guard let reference = reference?.stored(255), reference != told.payment.reference,
            let record = try tx.payments.find(beside: told.payment.id, under: reference)
        else { return told }
        return Scene(order: told.order, record: record)
    }

    /// Records that a refund call ended without an answer.
    func settleUnknown(_ refund: Refund) throws {
        guard let scene = try lock(refund.payment), let current = try tx.refunds.find(refund.id) else { return }
        try move(current, .outcomeUnknown, reference: nil, scene)
    }

    /// Makes the durable intent of a refund, its amount bound by the guarded statement.
    ///
    /// - Returns: nil when that is more than what is left; the caller holds the payment's lock.
    func openRefund(_ amount: Money, of payment: Payment, reason: String) throws -> Refund? {
        guard try tx.payments.reserveRefund(amount.value, of: payment.id) else { return nil }
        let refund = Refund(
            id: ids.make(), order: payment.order, payment: payment.id, amount: amount, reason: reason, createdAt: now)
        try tx.refunds.insert(refund)
        guard let order = try tx.orders.find(payment.order) else { return refund }
        try note(order, "refund.created", "\(refund.id) \(amount)")
        try audit(order, "refund.created", before: "", after: "\(refund.id) \(amount)", reason: reason)
        return refund
    }

    private func find(_ report: RefundReport, _ scene: Scene) throws -> Refund? {
        if let id = report.refund, let refund = try tx.refunds.find(id) {
            guard refund.payment == scene.payment.id else {
                try record(.contradictingFact, scene.order, "\(id) was reported for \(scene.payment.id)")
                return nil
            }
            return refund
        }
        let known = try tx.refunds.list(of: scene.payment.id).value()
        if let reference = report.reference, let refund = known.first(where: { $0.reference == reference }) {
            return refund
        }
        return try adopt(report, scene)
    }

    /// Takes in a refund that was made at the provider, or that an older backup of the database does not know: it is never
    /// sent there, only followed.
    ///
    /// One whose amount is not known is not booked: its provider is asked for that first.
    private func adopt(_ report: RefundReport, _ scene: Scene) throws -> Refund? {
        let whole = scene.payment.amount
        guard let amount = report.amount else { return nil }
        guard amount.currency == whole.currency, (1...whole.value).contains(amount.value) else {
            try record(.contradictingFact, scene.order, "a refund of \(amount) was reported for \(scene.payment.id)")
            return nil
        }
        let refund = Refund(
            id: report.refund ?? ids.make(), order: scene.order.id, payment: scene.payment.id, amount: amount,
            reason: Refund.madeElsewhere, state: .pending, reference: report.reference?.stored(255), counted: false,
            createdAt: now)
        try tx.refunds.insert(refund)
        try note(scene.order, "refund.adopted", "\(refund.id) \(refund.amount)")
        try audit(scene.order, "refund.adopted", before: "", after: "\(refund.id) \(refund.amount)")
        try recount(scene.payment.id, scene.order)
        return refund
    }

    private func move(_ refund: Refund, _ fact: Refund.State.Fact, reference: String?, _ scene: Scene) throws {
        let move = refund.state.applying(fact)
        if let anomaly = move.anomaly {
            try record(
                anomaly, scene.order, "\(refund.id) of \(refund.amount) was reported \(fact.rawValue) after it failed")
        }
        let state = move.state
        guard state != refund.state else { return }
        try tx.refunds.move(refund.id, from: refund.state, to: state, reference: reference?.stored(255))
        try note(scene.order, "refund.\(state.rawValue)", "\(refund.id) \(refund.amount)")
        try audit(
            scene.order, "refund.\(state.rawValue)", before: "\(refund.id) \(refund.state.rawValue)",
            after: "\(refund.id) \(state.rawValue)")
        try recount(scene.payment.id, scene.order)
        try regrade(scene.order.id)
        switch state {
        case .succeeded: try emit(.refundSucceeded, scene.order.id)
        case .failed, .reversed: try emit(.refundFailed, scene.order.id)
        case .created, .pending, .unknown: break
        }
    }

    /// Sums a payment's refunds and lost disputes anew, in the order of their making; what a provider gave back beyond
    /// what was captured is kept but not counted, and is an anomaly.
    func recount(_ payment: ID<Payment>, _ order: Order) throws {
        let (disputes, refunds) = (try tx.disputes.list(of: payment), try tx.refunds.list(of: payment))
        guard let record = try tx.payments.find(payment).value() else { return }
        var left = record.captured
        var (refunding, refunded, lost) = (0 as Int64, 0 as Int64, 0 as Int64)
        var exceeds = false
        let known = try disputes.value()
        for dispute in known where dispute.state == .lost {
            let taken = min(dispute.amount.value, left)
            exceeds = exceeds || taken < dispute.amount.value
            lost += taken
            left -= taken
        }
        let open = known.filter { $0.state == .open }.reduce(into: 0 as Int64) { $0 += $1.amount.value }
        let disputed = min(open, left)
        for refund in try refunds.value() {
            let fits = refund.state.isBinding && refund.amount.value <= left
            if fits {
                left -= refund.amount.value
                refunding += refund.amount.value
                if refund.state == .succeeded { refunded += refund.amount.value }
            }
            exceeds = exceeds || (refund.state.isBinding && !fits)
            if fits != refund.counted { try tx.refunds.setCounted(refund.id, fits) }
        }
        try tx.payments.setSums(payment, refunding: refunding, refunded: refunded, lost: lost, disputed: disputed)
        if exceeds && record.captured > 0 {
            try self.record(.contradictingFact, order, "more than \(payment) captured was given back")
        }
    }
}
