/// Compares the book of the service that charges with what users own; each line of the result is a broken promise.
///
/// A period that is due is charged once and given once. A charge whose answer was lost is undecided until the server has
/// asked about it, which is no violation before the end.
struct RenewalChecker {
    private let records: RenewalRecords
    private let isEnd: Bool
    /// The charges by order.
    private let charges: [String: [RenewalRecords.Charge]]
    /// The payments by order.
    private let payments: [String: [RenewalRecords.Payment]]
    private var violations: [String] = []

    private init(_ records: RenewalRecords, isEnd: Bool) {
        self.records = records
        self.isEnd = isEnd
        charges = Dictionary(grouping: records.charges, by: \.order)
        payments = Dictionary(grouping: records.payments.values, by: \.order)
    }

    /// - Parameter isEnd: true where every charge must be decided.
    static func check(_ lives: [RenewalLife], _ records: RenewalRecords, isEnd: Bool) -> [String] {
        var checker = RenewalChecker(records, isEnd: isEnd)
        for life in lives { checker.checkLife(life) }
        checker.checkBook(lives)
        checker.checkCauses(Set(lives.map(\.subscription)))
        return checker.violations
    }

    private mutating func require(_ holds: Bool, _ violation: @autoclosure () -> String) {
        if !holds { violations.append(violation()) }
    }

    // MARK: A life

    private mutating func checkLife(_ life: RenewalLife) {
        let id = life.subscription
        let orders = records.orders[id] ?? []
        let paid = orders.filter { $0.period > 0 && $0.state == "paid" }
        let isUndecided = !isEnd && orders.contains { $0.state == "open" && isInFlight($0) }
        let count = Int64(paid.count)
        require(
            count >= life.due || (isUndecided && count == life.due - 1),
            "subscription \(id): \(life.due) periods are due, and \(count) are charged")
        require(count <= life.due, "subscription \(id): \(count) periods are charged, and \(life.due) are due")
        require(
            orders.count { $0.period == 0 && $0.origin == "import" && $0.state == "paid" } == 1,
            "subscription \(id): has no order of its beginning")
        for (index, order) in paid.enumerated() { checkPeriod(order, Int64(index) + 1, life) }
        for order in orders where order.state != "paid" { checkOpen(order, after: count, life) }
        checkRow(life, paid: count)
        checkAccess(life, paid: count, newest: orders.last { $0.state == "paid" })
    }

    /// Checks a period that was given: charged once, after the period before, announced once.
    private mutating func checkPeriod(_ order: RenewalRecords.Order, _ index: Int64, _ life: RenewalLife) {
        let name = "subscription \(life.subscription), period \(index), order \(order.id)"
        require(order.period == index, "\(name): is of period \(order.period)")
        require(
            order.start == life.start(of: index) && order.end == life.start(of: index + 1),
            "\(name): does not follow the period before")
        require(
            order.user == life.user && order.origin == "renewal" && order.amount == life.plan.price,
            "\(name): is not \(life.user)'s renewal at its price")
        let taken = charges[order.id]?.count ?? 0
        require(taken <= 1, "\(name): is charged \(taken) times")
        require(taken >= 1, "\(name): is given, and not charged")
        let succeeded = (payments[order.id] ?? []).filter { $0.state == "succeeded" }
        require(
            succeeded.count == 1 && succeeded.allSatisfy { $0.chargesMandate && $0.account == life.account },
            "\(name): has \(succeeded.count) payments that charged its mandate")
        require(!isEnd || !isInFlight(order), "\(name): has a charge that is not decided")
        let times = records.announced[order.id] ?? 0
        require(times == 1, "\(name): is announced as paid \(times) times")
    }

    private mutating func checkOpen(_ order: RenewalRecords.Order, after paid: Int64, _ life: RenewalLife) {
        let name = "subscription \(life.subscription), order \(order.id)"
        require(
            order.state == "open" && order.period == paid + 1 && paid < life.due,
            "\(name): is \(order.state), of period \(order.period)")
        require(!isEnd, "\(name): its period is not decided")
        let taken = charges[order.id]?.count ?? 0
        require(taken <= 1, "\(name): is charged \(taken) times")
        require(taken == 0 || isInFlight(order), "\(name): is charged, and nobody will ask about it")
        require(records.announced[order.id] == nil, "\(name): is announced as paid")
    }

    private func isInFlight(_ order: RenewalRecords.Order) -> Bool {
        (payments[order.id] ?? []).contains(where: \.isInFlight)
    }

    private mutating func checkRow(_ life: RenewalLife, paid: Int64) {
        let id = life.subscription
        guard let row = records.subscriptions[id] else {
            violations.append("subscription \(id): is not there")
            return
        }
        require(
            row.user == life.user && row.sku == life.plan.sku && row.account == life.account,
            "subscription \(id): is not \(life.user)'s \(life.plan.sku) at \(life.account)")
        require(row.state == "running" && !row.isRefused, "subscription \(id): is \(row.state), or was refused")
        // The beginning of period 0 is the time of the import.
        require(
            row.periodIndex == paid && row.periodEnd == life.start(of: paid + 1)
                && (paid == 0 || row.periodStart == life.start(of: paid)),
            "subscription \(id): is in period \(row.periodIndex) until \(row.periodEnd), and \(paid) are paid")
        let mandates = records.mandates[id] ?? []
        require(mandates == ["active"], "subscription \(id): has the mandates \(mandates)")
        let renewed = records.renewed[id] ?? 0
        require(renewed == paid, "subscription \(id): \(renewed) renewals are in its timeline, and \(paid) are paid")
    }

    /// Checks that the user owns what was paid for, and no more than the grace beside it.
    private mutating func checkAccess(_ life: RenewalLife, paid: Int64, newest: RenewalRecords.Order?) {
        let id = life.subscription
        let grants = records.grants[id] ?? []
        require(grants.count == 1, "subscription \(id): has \(grants.count) grants")
        guard let grant = grants.first else { return }
        let end = life.start(of: paid + 1)
        let grace = max(life.plan.graceDays * 86_400, 3_600)
        require(
            grant.user == life.user && !grant.isRevoked && grant.order == newest?.id,
            "subscription \(id): its grant is not \(life.user)'s by the newest paid order")
        require(
            grant.paidUntil == end && grant.endsAt == end + grace,
            "subscription \(id): is paid until \(end), and the access is given until \(grant.endsAt ?? 0)")
    }

    // MARK: The book

    /// Checks that every charge of the book is known, and that nothing counts as charged that the book does not have.
    private mutating func checkBook(_ lives: [RenewalLife]) {
        let lengths = Dictionary(lives.map { ($0.subscription, $0.plan) }) { first, _ in first }
        var plans: [String: RenewalPlan] = [:]
        for (subscription, orders) in records.orders {
            for order in orders { plans[order.id] = lengths[subscription] }
        }
        for charge in records.charges {
            let payment = records.payments[charge.payment]
            require(
                payment?.order == charge.order && payment?.account == charge.account
                    && payment?.amount == charge.amount && plans[charge.order]?.price == charge.amount,
                "charge \(charge.payment): took \(charge.amount) for order \(charge.order), which is not what was asked"
            )
            let isKnown = payment.map { $0.state == "succeeded" || ($0.isInFlight && !isEnd) } ?? false
            require(isKnown, "charge \(charge.payment): took its money, and is \(payment?.state ?? "not there")")
        }
        let taken = Set(records.charges.map(\.payment))
        for payment in records.payments.values where payment.state == "succeeded" {
            require(taken.contains(payment.id), "payment \(payment.id): succeeded, and the service took nothing")
        }
    }

    /// Checks that there is nothing that nobody began.
    private mutating func checkCauses(_ known: Set<String>) {
        let found: [(String, Set<String>)] = [
            ("subscription", Set(records.subscriptions.keys)), ("orders of subscription", Set(records.orders.keys)),
            ("grant of subscription", Set(records.grants.keys)),
            ("mandate of subscription", Set(records.mandates.keys)),
        ]
        for (name, subjects) in found {
            for id in subjects.subtracting(known).sorted() { violations.append("\(name) \(id): nobody began it") }
        }
    }
}
