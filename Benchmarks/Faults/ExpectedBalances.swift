extension Expectation {
    /// The least and the most units that each user can have: those that clients were told of, and those that may have
    /// come without an answer.
    var balances: [String: ClosedRange<Int64>] {
        var least: [String: Int64] = [:]
        var most: [String: Int64] = [:]
        for purchase in purchases.values where purchase.sale.isConsumable {
            let candidates = purchase.candidates
            let isSure = candidates.count == 1 && !(purchase.attached.isEmpty && purchase.refused.isEmpty)
            for user in candidates {
                most[user, default: 0] += purchase.sale.units
                if isSure { least[user, default: 0] += purchase.sale.units }
            }
        }
        for checkout in checkouts.values where checkout.cart.isConsumable {
            let (user, units) = (checkout.cart.user, checkout.cart.units)
            guard let ending = checkout.told.first.flatMap({ endings[$0.id] }) else {
                if checkout.cart.isPaidAtOnce { most[user, default: 0] += units }
                continue
            }
            if ending.mayBePaid { most[user, default: 0] += units }
            if ending.mustBePaid { least[user, default: 0] += units }
            // A refund that is known to have failed took nothing back.
            guard ending.isRefundWhole, ending.refunds.values.allSatisfy(\.self) else { continue }
            least[user, default: 0] -= units
            if !ending.refunds.isEmpty { most[user, default: 0] -= units }
        }
        return Dictionary(
            uniqueKeysWithValues: most.map { ($0.key, min(least[$0.key] ?? 0, $0.value)...$0.value) })
    }
}
