/// Compares what clients were told with the database; each line of the result is a broken promise.
///
/// An effect that no client was told of may be there or not, but never in part and never twice.
struct Checker {
    let expected: Expectation
    let facts: Facts
    private(set) var violations: [String] = []

    init(_ calls: [Call], _ facts: Facts) {
        expected = Expectation(calls)
        self.facts = facts
    }

    static func check(_ calls: [Call], _ facts: Facts) -> [String] {
        var checker = Checker(calls, facts)
        checker.checkPurchases()
        checker.checkCheckouts()
        checker.checkEndings()
        checker.checkCauses()
        checker.checkBalances()
        checker.checkEvents()
        return checker.violations
    }

    mutating func require(_ holds: Bool, _ violation: @autoclosure () -> String) {
        if !holds { violations.append(violation()) }
    }

    // MARK: App Store

    private mutating func checkPurchases() {
        for (id, purchase) in expected.purchases {
            require(purchase.attached.count <= 1, "transaction \(id): told two users that it is theirs")
            for orders in purchase.attached.values where orders.count > 1 {
                violations.append("transaction \(id): told different orders, \(orders.sorted())")
            }
            let owner = facts.owners[id]
            if !purchase.attached.isEmpty || !purchase.refused.isEmpty {
                require(
                    owner.map(purchase.candidates.contains) ?? false,
                    "transaction \(id): is \(owner ?? "nobody")'s, not one of \(purchase.candidates.sorted())'s")
            }
            if let owner { checkOwned(purchase, owner: owner) } else { checkUnowned(purchase) }
        }
    }

    private mutating func checkOwned(_ purchase: Expectation.Purchase, owner: String) {
        let id = purchase.sale.id
        let row = facts.purchases[id]
        require(
            row?.user == owner && row?.quantity == purchase.sale.quantity && row?.original == id,
            "transaction \(id): its purchase is not kept as \(owner)'s")
        let order = row?.order.flatMap { facts.orders[$0] }
        require(
            order?.user == owner && order?.state == "paid" && order?.origin == "purchase"
                && order?.sku == purchase.sale.sku,
            "transaction \(id): has no paid order of \(owner)'s")
        if let told = purchase.attached.values.first?.first {
            require(order?.id == told, "transaction \(id): its order is not \(told)")
        }
        let source = Facts.Source(kind: "apple_transaction", id: id)
        let grants = facts.grants[source] ?? []
        require(
            grants.count == (purchase.sale.isConsumable ? 0 : 1)
                && grants.allSatisfy { $0.user == owner && !$0.isRevoked && $0.order == order?.id },
            "transaction \(id): \(grants.count) grants, or not \(owner)'s")
        let credits = facts.credits[source] ?? 0
        require(credits == (purchase.sale.isConsumable ? 1 : 0), "transaction \(id): credited \(credits) times")
    }

    /// Checks that a purchase without an owner left nothing.
    private mutating func checkUnowned(_ purchase: Expectation.Purchase) {
        let id = purchase.sale.id
        let source = Facts.Source(kind: "apple_transaction", id: id)
        require(
            facts.purchases[id] == nil && facts.grants[source] == nil && facts.credits[source] == nil,
            "transaction \(id): is nobody's, and yet left something")
    }

    // MARK: Without a cause

    /// Checks that the database has nothing that no client asked for.
    private mutating func checkCauses() {
        for id in facts.purchases.keys where expected.purchases[id] == nil {
            violations.append("transaction \(id): nobody attached it")
        }
        for (source, grants) in facts.grants {
            let isCaused =
                switch source.kind {
                case "apple_transaction": expected.purchases[source.id] != nil
                case "order": facts.orders[source.id].map { $0.origin == "checkout" && $0.state == "paid" } ?? false
                default: false
                }
            require(isCaused && grants.count == 1, "grants of \(source.kind) \(source.id): \(grants.count), uncaused?")
        }
        let purchased = Set(facts.purchases.values.compactMap(\.order))
        let carts = Set(expected.checkouts.values.map(\.cart.metadata))
        for order in facts.orders.values {
            let isCaused = order.origin == "checkout" ? carts.contains(order.metadata) : purchased.contains(order.id)
            require(isCaused, "order \(order.id): nobody asked for it")
        }
        let refused = facts.refused
        require(refused <= expected.forgeries, "\(refused) notifications are refused")
        let events = expected.rumours.union(expected.endings.values.flatMap(\.events))
        for (event, notification) in facts.notifications {
            require(
                events.contains(event)
                    && [Configuration.urlAccount, Configuration.serviceAccount].contains(notification.account),
                "notification \(event): nobody sent it")
            require(notification.status == "processed", "notification \(event): is \(notification.status)")
        }
    }

    // MARK: Sums

    /// Checks each balance: the units that clients were told of, and those that may have come without an answer.
    private mutating func checkBalances() {
        let ranges = expected.balances
        for user in Set(ranges.keys).union(facts.balances.keys) {
            let range = ranges[user] ?? 0...0
            let balance = facts.balances[user] ?? 0
            require(range.contains(balance), "user \(user): has \(balance) \(Configuration.unit), not \(range)")
        }
    }

    private mutating func checkEvents() {
        for subject in facts.gaps { violations.append("events of \(subject): a number is missing") }
    }
}

extension Sale {
    var sku: String { (isConsumable ? Configuration.coins : Configuration.pass).sku }
}
