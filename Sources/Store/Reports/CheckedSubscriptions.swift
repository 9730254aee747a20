package import Domain
import FoundationEssentials

/// A managed subscription as it is stored, with everything that its history makes otherwise or not at all.
package struct CheckedSubscription: Sendable {
    package let record: ManagedSubscriptionRecord
    package var history: SubscriptionHistory
    /// Its grants; one that began has one.
    package let grants: [Grant]
    /// The periods of its open orders.
    package let openPeriods: Set<Int64>
    /// True while a mandate's charge of an open order is under way, or its outcome is not known.
    package let isCharging: Bool
    package let paidOrders: Int64
    /// The newest order that was paid, with the payment that paid it and its disputes.
    package let newestOrder: Order?
    package let newestDisputes: [Dispute]
    /// True while a dispute of any of its orders is open or lost.
    package let isDisputed: Bool
    /// The announced price of which its user was told last.
    package let priceTold: String?
}

/// The fold of a subscription's history, as far as its entries can be read.
package struct SubscriptionHistory: Sendable {
    /// An order that does not agree with the period that it began.
    package struct OrderFault: Sendable, Equatable {
        package let order: ID<Order>
        package let detail: String
    }

    package private(set) var rebuild: SubscriptionRebuild
    /// The first entry that cannot follow those before it; nil where all can.
    package private(set) var fault: String?
    /// True where an earlier release began it, without the facts that a rebuild needs.
    package private(set) var isOlder = false
    package fileprivate(set) var orderFaults: [OrderFault] = []
    private var count: Int64 = 0

    /// The most orders of one subscription that are named.
    static let mostFaults = 5

    init(_ id: ID<Subscription>) { rebuild = SubscriptionRebuild(id) }

    /// Adds the next entry.
    ///
    /// - Returns: the period that begins with it; nil where none does, or where an entry before it is at fault.
    mutating func add(_ row: Row) throws(StoreError) -> SubscriptionRebuild.PaidPeriod? {
        count += 1
        guard fault == nil, !isOlder else { return nil }
        let (position, word) = (try row.int("position"), try row.text("cause"))
        guard position == count else {
            fault = "its history lacks entry \(count)"
            return nil
        }
        guard let cause = SubscriptionEntry.Kind(rawValue: word) else {
            fault = "entry \(position) of its history, \(word), is of no kind that is known"
            return nil
        }
        let facts = try? JSONDecoder().decode(SubscriptionEntryFacts.self, from: Data(try row.text("detail").utf8))
        if position == 1, isOlderBeginning(cause, facts) {
            isOlder = true
            return nil
        }
        let entry = SubscriptionEntry(at: try row.time("at"), cause: cause, facts: facts ?? SubscriptionEntryFacts())
        do throws(SubscriptionRebuild.Fault) {
            return try rebuild.apply(entry)
        } catch {
            fault = "entry \(position) of its history, \(word), \(error.words)"
            return nil
        }
    }

    /// Earlier releases wrote no entry of a checkout, and short texts instead of facts.
    private func isOlderBeginning(_ cause: SubscriptionEntry.Kind, _ facts: SubscriptionEntryFacts?) -> Bool {
        switch cause {
        case .told(.imported): facts == nil
        case .told(.started), .told(.expired), .quiet(.moved), .quiet(.notBegun): facts?.opening == nil
        default: false
        }
    }

    /// Judges a history without entries: an earlier release wrote none before a subscription began.
    mutating func end(_ stored: ManagedSubscription) {
        guard count == 0 else { return }
        if stored.state == .running { fault = "it has no history" } else { isOlder = true }
    }
}

extension SubscriptionRebuild.Fault {
    fileprivate var words: String {
        switch self {
        case .notOpened: "does not follow an opening"
        case .lacksFact: "lacks a fact"
        case .impossible: "cannot follow the entries before it"
        case .otherRenewal: "is another kind of renewal by the entries before it"
        }
    }
}

extension ConsistencyQueries {
    /// The entries that are read at once.
    private static var entryPage: Int64 { 1_000 }

    /// Lists managed subscriptions with what their histories make them, in the order of their ids.
    ///
    /// The entries are read in pages and folded one by one, so that a long history takes no more memory than a short
    /// one.
    package func listSubscriptions(after last: String, limit: Int64) throws(StoreError) -> [CheckedSubscription] {
        let rows = try db.rows("SELECT * FROM managed_subscriptions WHERE id > ? ORDER BY id LIMIT ?", [last, limit])
        guard let end = try rows.last?.text("id") else { return [] }
        let records = try rows.map(ManagedSubscriptionRecord.init(row:))
        let told = try rows.map { row throws(StoreError) in try row.optionalText("price_told") }
        let histories = try foldHistories(of: records, after: last, to: end)
        let parts = try SubscriptionParts(of: records.map(\.subscription.id), in: db)
        var checked: [CheckedSubscription] = []
        for (record, priceTold) in zip(records, told) {
            let id = record.subscription.id
            guard let history = histories[id.rawValue] else { continue }
            checked.append(try parts.checked(record, history, priceTold: priceTold))
        }
        return checked
    }

    private func foldHistories(
        of records: [ManagedSubscriptionRecord], after last: String, to end: String
    ) throws(StoreError) -> [String: SubscriptionHistory] {
        var histories: [String: SubscriptionHistory] = [:]
        for record in records {
            histories[record.subscription.id.rawValue] = SubscriptionHistory(record.subscription.id)
        }
        var (subscription, position) = (last, Int64.max)
        while true {
            let page = try db.rows(
                """
                SELECT * FROM subscription_timeline WHERE (subscription_id, position) > (?, ?) AND subscription_id <= ?
                ORDER BY subscription_id, position LIMIT ?
                """, [subscription, position, end, Self.entryPage])
            guard let newest = page.last else { break }
            (subscription, position) = (try newest.text("subscription_id"), try newest.int("position"))
            var begun: [(subscription: String, period: SubscriptionRebuild.PaidPeriod)] = []
            for row in page {
                let id = try row.text("subscription_id")
                if let period = try histories[id]?.add(row) { begun.append((id, period)) }
            }
            let orders = try db.rowsByKey(begun.map(\.period.order), "id") {
                "SELECT * FROM orders WHERE id IN (\($0))"
            }
            for (id, period) in begun {
                guard let detail = try Self.fault(of: orders[period.order.rawValue]?.first, period, of: id),
                    histories[id]?.orderFaults.count ?? 0 < SubscriptionHistory.mostFaults
                else { continue }
                histories[id]?.orderFaults.append(.init(order: period.order, detail: detail))
            }
            guard page.count == Int(Self.entryPage) else { break }
        }
        for record in records { histories[record.subscription.id.rawValue]?.end(record.subscription) }
        return histories
    }

    /// Compares an order with the period that it began.
    ///
    /// - Returns: the first difference; nil where there is none.
    private static func fault(
        of row: Row?, _ period: SubscriptionRebuild.PaidPeriod, of subscription: String
    ) throws(StoreError) -> String? {
        guard let row else { return "the order of period \(period.index) is not there" }
        let time: (Int64) -> String = { "\($0)" }
        let differences: [SubscriptionDifference?] = [
            SubscriptionDifference("subscription_id", try row.optionalText("subscription_id"), subscription),
            SubscriptionDifference("user_id", try row.text("user_id"), period.user.rawValue),
            SubscriptionDifference("origin", try row.text("origin"), period.origin.rawValue),
            SubscriptionDifference("state", try row.text("state"), Order.State.paid.rawValue),
            SubscriptionDifference("period_index", try row.optionalInt("period_index"), period.index),
            SubscriptionDifference("sku", try row.text("sku"), period.sku.rawValue),
            SubscriptionDifference("amount", try row.optionalInt("amount"), period.amount.value),
            SubscriptionDifference("currency", try row.optionalText("currency"), period.amount.currency.code),
            SubscriptionDifference("period_start", try row.optionalInt("period_start"), period.start.rawValue, time),
            SubscriptionDifference("period_end", try row.optionalInt("period_end"), period.end.rawValue, time),
        ]
        guard let first = differences.lazy.compactMap(\.self).first else { return nil }
        return "the \(first.part) of the order of period \(period.index) is \(first.stored), by the history of its "
            + "subscription \(first.rebuilt)"
    }
}

/// The stored parts of a page of managed subscriptions, read with a few statements.
private struct SubscriptionParts {
    private let grants: [String: [Row]]
    private let open: [String: [Row]]
    private let charging: [String: [Row]]
    private let paid: [String: [Row]]
    private let disputed: [String: [Row]]
    private let db: any Database

    init(of ids: [ID<Subscription>], in db: any Database) throws(StoreError) {
        self.db = db
        grants = try db.rowsByKey(ids, "source_id") {
            """
            SELECT * FROM grants WHERE source_kind = 'managed_subscription'
                AND environment IN ('Production', 'Sandbox', 'Xcode') AND source_id IN (\($0))
            """
        }
        open = try db.rowsByKey(ids, "subscription_id") {
            "SELECT subscription_id, period_index FROM orders WHERE state = 'open' AND subscription_id IN (\($0))"
        }
        charging = try db.rowsByKey(ids, "subscription_id") {
            """
            SELECT o.subscription_id FROM orders o JOIN payments p ON p.order_id = o.id
            WHERE o.state = 'open' AND p.mandate_id IS NOT NULL AND \(InFlight.isTrue(of: "p.state"))
                AND o.subscription_id IN (\($0))
            """
        }
        // The newest paid order and how many there are.
        paid = try db.rowsByKey(ids, "subscription_id") {
            """
            SELECT subscription_id, id, n FROM (
                SELECT subscription_id, id, COUNT(*) OVER (PARTITION BY subscription_id) AS n,
                    ROW_NUMBER() OVER (PARTITION BY subscription_id ORDER BY period_index DESC, id DESC) AS age
                FROM orders WHERE state = 'paid' AND subscription_id IN (\($0))) paid
            WHERE age = 1
            """
        }
        disputed = try db.rowsByKey(ids, "subscription_id") {
            """
            SELECT DISTINCT o.subscription_id FROM orders o JOIN disputes d ON d.order_id = o.id
            WHERE d.state IN ('open', 'lost') AND o.subscription_id IN (\($0))
            """
        }
    }

    func checked(
        _ record: ManagedSubscriptionRecord, _ history: SubscriptionHistory, priceTold: String?
    ) throws(StoreError) -> CheckedSubscription {
        let id = record.subscription.id.rawValue
        let newest = try paid[id]?.first.map { row throws(StoreError) in try row.id("id", Order.self) }
        return CheckedSubscription(
            record: record, history: history,
            grants: try (grants[id] ?? []).map { row throws(StoreError) in try Grant(row: row) },
            openPeriods: Set(try (open[id] ?? []).map { row throws(StoreError) in try row.int("period_index") }),
            isCharging: charging[id] != nil, paidOrders: try paid[id]?.first?.int("n") ?? 0,
            newestOrder: try newest.flatMap { order throws(StoreError) in try db.orders.find(order) },
            newestDisputes: try newest.map { order throws(StoreError) in try db.disputes.list(of: order).value() }
                ?? [],
            isDisputed: disputed[id] != nil, priceTold: priceTold)
    }
}
