import Domain
import Store

extension InvariantCheck {
    private static let orderPage: Int64 = 200

    /// Checks all orders: the grants and units of each paid one, and the history of each.
    func checkOrders() async throws -> [Violation] {
        var (given, told): ([Violation], [Violation]) = ([], [])
        var orders = progress.begin("orders")
        var last = ""
        // A job still has to apply store purchases again that earlier releases applied by other rules.
        let isRegraded = try await store.read { db in try !db.jobs.hasAny(JobKind.regradePurchases.rawValue) }
        while given.count < Int(Self.limit) || told.count < Int(Self.limit) {
            let cursor = last
            let page = try await store.report { db in
                try db.consistency.listOrders(after: cursor, limit: Self.orderPage)
            }
            guard let end = page.last else { break }
            last = end.order.id.rawValue
            orders.add(page.count)
            if given.count < Int(Self.limit) { given += page.compactMap { $0.wrongGift(isRegraded: isRegraded) } }
            if told.count < Int(Self.limit) { told += page.flatMap { OrderHistory($0).violations } }
        }
        return given + told
    }
}

extension CheckedOrder {
    /// Returns the violation in the grants and units of a paid order.
    ///
    /// A store purchase has rules of its own, and its order gives nothing else.
    fileprivate func wrongGift(isRegraded: Bool) -> Violation? {
        guard order.state == .paid else { return nil }
        if isPurchase { return isRegraded ? wrongPurchase : nil }
        guard order.origin == .checkout, order.period == nil else { return nil }
        let standing = order.standing(disputes)
        let own = grants.filter { $0.source.kind == .order }
        let isDue = order.terms.term != nil && !order.anomalies.contains(.duplicateOwnership)
        guard own.count == (isDue ? 1 : 0), own.allSatisfy({ order.granted($0, standing) }) else {
            return violation("what the order granted is not what its facts make it")
        }
        guard booked.filter({ $0.value != 0 }) == (order.gives(standing) ? order.terms.units : [:]) else {
            return violation("the units of the order are not what it credited")
        }
        return nil
    }

    /// The violation in the units and passes of a store purchase that was revoked in part.
    private var wrongPurchase: Violation? {
        guard booked.values.allSatisfy({ $0 == 0 }) else {
            return violation("a store's purchase paid the order, which credited units beside it")
        }
        let left = order.terms.remainder(of: order.quantity, after: order.revokedShare)
        guard bookedByPurchase.allSatisfy({ unit, sum in sum == left.units[unit] ?? 0 }) else {
            return violation("the units of the order are not what its store left of them")
        }
        let passes = grants.filter { $0.source.kind == .appleTransaction && $0.revocation == nil }
        guard passes.allSatisfy({ if case .days(let days) = $0.term { days == left.days } else { true } }) else {
            return violation("a pass of the order lasts longer or shorter than what its store left of it")
        }
        return nil
    }

    private func violation(_ detail: String) -> Violation {
        Violation(invariant: 13, subject: order.id.rawValue, detail: detail)
    }
}

extension Order {
    /// Returns true where a grant agrees with this order's terms and state; a grant that an admin revoked stays
    /// revoked.
    fileprivate func granted(_ grant: Grant, _ standing: Standing) -> Bool {
        guard grant.user == user, grant.sku == sku, grant.term == terms.term, grant.tier == terms.tier,
            grant.environment == environment
        else { return false }
        if grant.revocation?.reason == .admin { return true }
        return (grant.revocation != nil) == (standing.revocation != nil) && grant.suspended == standing.isSuspended
    }
}
