import Domain
import FoundationEssentials
import Store

extension ReplayInbox {
    /// Compares the rebuilt rows with the stored ones, matched by their sources, because the rebuild makes new ids.
    func compare(_ report: inout ReplayReport) async throws {
        try await compareOrders(&report)
        try await comparePurchases(&report)
        try await compareGrants(&report)
        try await compareBalances(&report)
        report.differences = Array(report.differences.prefix(Self.limit))
    }

    private func compareOrders(_ report: inout ReplayReport) async throws {
        let since = try await source.report { db in try db.replay.factsSince() }
        var compared = progress.begin("orders compared")
        var last = ""
        while report.differences.count < Self.limit {
            let cursor = last
            let page = try await source.report { db in
                try db.replay.listCheckoutOrders(after: cursor, limit: Self.page).compactMap {
                    try OrderShape($0, in: db)
                }
            }
            guard let end = page.last else { return }
            last = end.order.rawValue
            compared.add(page.count)
            let rebuilt = try await scratch.report { db in try page.map { try OrderShape($0.order, in: db) } }
            for (stored, rebuilt) in zip(page, rebuilt) {
                guard stored.createdAt >= since else {
                    report.skipped += 1
                    continue
                }
                report.orders += 1
                guard let detail = stored.difference(from: rebuilt) else { continue }
                report.differences.append(.init(subject: stored.order.rawValue, detail: detail))
            }
        }
    }

    /// Compares the orders that purchases completed or made.
    private func comparePurchases(_ report: inout ReplayReport) async throws {
        var compared = progress.begin("purchases compared")
        var last: (Environment, String)?
        while report.differences.count < Self.limit {
            let page = try await source.report { [last] db in
                try db.replay.listAttachedPurchases(after: last, limit: Self.page).map { try PurchaseShape($0, in: db) }
            }
            guard let end = page.last else { return }
            last = (end.environment, end.key)
            compared.add(page.count)
            let rebuilt = try await scratch.report { db in
                try page.map { shape in
                    try db.purchases.find(shape.environment, shape.key).value().map { try PurchaseShape($0, in: db) }
                }
            }
            report.orders += page.count
            for (stored, rebuilt) in zip(page, rebuilt) where stored != rebuilt {
                report.differences.append(
                    .init(
                        subject: "\(stored.environment.rawValue) \(stored.key)",
                        detail: "the order is \(stored.words), rebuilt \(rebuilt?.words ?? "it is not there")"))
            }
        }
    }

    private func compareGrants(_ report: inout ReplayReport) async throws {
        let skipped = try await source.report { db in try db.replay.factsSince() }
        for (one, other, isSource) in [(source, scratch, true), (scratch, source, false)] {
            var compared = progress.begin("grants compared")
            var last = ""
            while report.differences.count < Self.limit {
                let cursor = last
                let page = try await one.report { db in try db.grants.list(after: cursor, limit: Self.page) }
                guard let end = page.last else { break }
                last = end.id.rawValue
                compared.add(page.count)
                let twins = try await other.report { db in try page.map { try db.grants.find(like: $0) } }
                // The grants of managed subscriptions were compared with their histories.
                for (grant, twin) in zip(page, twins) where grant.source.kind != .managedSubscription {
                    if isSource, try await isOlder(grant, than: skipped) { continue }
                    if isSource { report.grants += 1 }
                    guard !grant.isAlike(twin) else { continue }
                    report.differences.append(
                        .init(
                            subject: "\(grant.source.kind.rawValue) \(grant.source.id)",
                            detail: isSource
                                ? "what it granted is not what is rebuilt: \(grant.words) and \(twin?.words ?? "nothing")"
                                : "it grants \(grant.words) when it is rebuilt"))
                }
            }
        }
    }

    private func isOlder(_ grant: Grant, than since: Timestamp) async throws -> Bool {
        guard grant.source.kind == .order, let order = grant.order else { return false }
        return try await source.report { db in try db.orders.find(order).map { $0.createdAt < since } ?? false }
    }

    private func compareBalances(_ report: inout ReplayReport) async throws {
        guard report.skipped == 0 else { return }
        let stored = try await source.report { db in try db.replay.listBalances() }
        let rebuilt = try await scratch.report { db in try db.replay.listBalances() }
        for place in Set(stored.keys).union(rebuilt.keys).sorted()
        where stored[place] ?? 0 != rebuilt[place] ?? 0 && report.differences.count < Self.limit {
            report.differences.append(
                .init(subject: place, detail: "the balance is \(stored[place] ?? 0), rebuilt \(rebuilt[place] ?? 0)"))
        }
    }
}

/// The parts of an order that a rebuild must reproduce.
private struct OrderShape: Sendable {
    let order: ID<Order>
    let createdAt: Timestamp
    let state: Order.State
    let paidBy: ID<Payment>?
    let charged: Money?
    let anomalies: Set<Anomaly>
    let payments: [ID<Payment>: String]
    let refunds: [ID<Refund>: Refund.State]
    let disputes: [String: String]

    init?(_ id: ID<Order>, in db: any Database) throws {
        guard let order = try db.orders.find(id) else { return nil }
        self.order = id
        createdAt = order.createdAt
        state = order.state
        paidBy = order.paidBy
        charged = order.charged
        anomalies = Set(order.anomalies)
        payments = Dictionary(
            uniqueKeysWithValues: try db.payments.list(of: id).value().map { record in
                let state = record.payment.state.isFinal ? record.payment.state.rawValue : "in flight"
                return (
                    record.payment.id,
                    "\(state), captured \(record.captured), refunded \(record.refunded), lost \(record.lost)"
                )
            })
        refunds = Dictionary(
            uniqueKeysWithValues: try db.refunds.list(of: id).value().filter { $0.reason != Refund.madeElsewhere }
                .map { ($0.id, $0.state.isFinal ? $0.state : .pending) })
        disputes = Dictionary(
            try db.disputes.list(of: id).value().map {
                ("\($0.payment) \($0.reference)", "\($0.state.rawValue) \($0.amount)")
            }
        ) { first, _ in first }
    }

    /// Describes the first difference; nil where there is none.
    func difference(from rebuilt: OrderShape?) -> String? {
        guard let rebuilt else { return "it cannot be rebuilt" }
        if state != rebuilt.state { return "it is \(state.rawValue), rebuilt \(rebuilt.state.rawValue)" }
        if paidBy != rebuilt.paidBy { return "another payment paid it" }
        if charged != rebuilt.charged { return "another amount was charged" }
        if anomalies != rebuilt.anomalies {
            let (stored, made) = (anomalies.map(\.rawValue).sorted(), rebuilt.anomalies.map(\.rawValue).sorted())
            return "its anomalies are \(stored), rebuilt \(made)"
        }
        for (payment, words) in payments.sorted(by: { $0.key < $1.key }) where rebuilt.payments[payment] != words {
            return "\(payment) is \(words), rebuilt \(rebuilt.payments[payment] ?? "not there")"
        }
        for (refund, state) in refunds.sorted(by: { $0.key < $1.key }) where rebuilt.refunds[refund] != state {
            return "\(refund) is \(state.rawValue), rebuilt \(rebuilt.refunds[refund]?.rawValue ?? "not there")"
        }
        return disputes == rebuilt.disputes ? nil : "its disputes differ"
    }
}

/// The parts of a purchase's order that a rebuild must reproduce.
private struct PurchaseShape: Sendable, Equatable {
    let environment: Environment
    let key: String
    let sku: SKUCode?
    let status: Order.Status?
    let charged: Money?
    let refunded: Int64
    let quantity: Int64

    init(_ record: PurchaseRecord, in db: any Database) throws {
        environment = record.purchase.environment
        key = record.key
        sku = record.sku
        let order = try record.order.flatMap { try db.orders.find($0) }
        status = order?.status
        charged = order?.charged
        refunded = order?.refunded ?? 0
        quantity = order?.quantity ?? 0
    }

    var words: String {
        "\(status?.rawValue ?? "none") for \(sku?.rawValue ?? "no SKU"), charged \(charged.map { "\($0)" } ?? "nothing known")"
            + ", refunded \(refunded)"
    }
}

extension Grant {
    fileprivate func isAlike(_ other: Grant?) -> Bool {
        guard let other else { return false }
        // An admin's revocation stays, whatever the facts say.
        let isTaken = revocation?.reason == .admin || other.revocation?.reason == .admin
        return sku == other.sku && tier == other.tier && term == other.term && purchasedAt == other.purchasedAt
            && ahead.map(\.sku) == other.ahead.map(\.sku)
            && ahead.map(\.startsAt) == other.ahead.map(\.startsAt)
            && (isTaken || ((revocation == nil) == (other.revocation == nil) && suspended == other.suspended))
    }

    fileprivate var words: String {
        "\(sku.rawValue) \(term) from \(purchasedAt.rawValue)\(revocation == nil ? "" : ", revoked")\(suspended ? ", suspended" : "")"
    }
}
