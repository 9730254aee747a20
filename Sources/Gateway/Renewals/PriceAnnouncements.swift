package import Domain
import Store

/// An announced price: its id, and the number of running subscriptions that it concerns.
package struct AnnouncedPrice: Encodable, Sendable {
    package let id: ID<PriceChange>
    package let affected: Int64
}

/// Announces prices to the subscriptions of a SKU that run.
package struct PriceAnnouncements: Sendable {
    let settlements: SettlementRunner

    /// The subscriptions that one transaction tells.
    private static let page: Int64 = 200

    /// Announces prices that hold from each subscription's first period at or after a time.
    ///
    /// - Throws: `skuNotFound`, `invalidRequest` naming `prices`, or `effective_at` where a raise has too little notice.
    package func announce(
        _ sku: String, _ prices: [Money], effectiveAt: Timestamp, context: CallContext
    ) async throws(GatewayError) -> AnnouncedPrice {
        guard let code = SKUCode(sku) else { throw .skuNotFound(sku) }
        guard !prices.isEmpty, Set(prices.map(\.currency)).count == prices.count,
            prices.allSatisfy({ (1...1_000_000_000_000).contains($0.value) })
        else {
            throw .invalidRequest(field: "prices", reason: "one price above 0 for each currency, at least one")
        }
        let notice = settlements.billing.settings.noticeDays
        return try await settlements.run(context.audit) { settlement in
            let tx = settlement.tx
            guard let found = try tx.skus.lock(code), found.renewal == .managed else {
                throw GatewayError.skuNotFound(sku)
            }
            if let id = context.resumed.flatMap({ ID<PriceChange>($0) }) {
                return AnnouncedPrice(id: id, affected: try tx.priceChanges.countConcerned(by: id))
            }
            let raises = try prices.contains { try tx.priceChanges.raises(code, to: $0) }
            let earliest = raises ? settlement.now.adding(days: notice) : settlement.now
            guard effectiveAt >= earliest else {
                throw GatewayError.invalidRequest(
                    field: "effective_at",
                    reason: raises ? "a higher price needs a notice of \(notice) days" : "must not lie in the past")
            }
            let change = PriceChangeRecord(
                id: settlement.ids.make(), sku: code, prices: prices, effectiveAt: effectiveAt,
                announcedAt: settlement.now)
            try tx.priceChanges.insert(change)
            let affected = try tx.priceChanges.assign(change)
            try tx.bind(context, to: change.id.rawValue)
            try settlement.log.audit(
                subject: "sku/\(sku)", "sku.price_announced", before: "",
                after: "\(change.id) \(prices.map { "\($0)" }.joined(separator: " ")) from \(effectiveAt.rawValue)")
            if try !settlement.managed.tell(change.id, limit: Self.page) { try Self.goOn(change.id, settlement) }
            return AnnouncedPrice(id: change.id, affected: affected)
        }
    }

    /// Tells further subscriptions of a price, a page at a time.
    func tell(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<PriceChange>(job.subject) else { return .done }
        let isDone = try await settlements.run(job.audit) { settlement in
            try settlement.managed.tell(id, limit: Self.page)
        }
        return isDone ? .done : .again(after: 0)
    }

    private static func goOn(_ id: ID<PriceChange>, _ settlement: Settlement) throws {
        try settlement.tx.jobs.ensure(
            settlement.ids.make(), kind: JobKind.announcePrices.rawValue, subject: id.rawValue, at: settlement.now)
        settlement.followUps.wakeWorkers()
    }
}

extension ManagedSubscriptionLedger {
    /// Tells subscriptions of an announced price.
    ///
    /// - Returns: true where all have been told.
    func tell(_ change: ID<PriceChange>, limit: Int64) throws -> Bool {
        let waiting = try tx.priceChanges.listUntold(of: change, limit: limit)
        for record in waiting.sorted(by: { $0.subscription.user < $1.subscription.user }) {
            try tx.users.lock(record.subscription.user)
            guard var standing = try lock(record.subscription.id) else { continue }
            try tx.priceChanges.markTold(change, of: record.subscription.id)
            try schedule(&standing)
            try tx.managedSubscriptions.update(standing.record)
            let snapshot = try ManagedSnapshots.snapshot(standing, from: tx, at: log.now)
            try log.emit(
                .subscriptionPriceChange, subject: record.subscription.id.rawValue, user: record.subscription.user,
                partner: record.subscription.partner, data: try snapshot.storedJSON())
        }
        return waiting.count < Int(limit)
    }
}
