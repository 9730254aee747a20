import Domain
import FoundationEssentials
import ProviderKit
package import Store

/// The result of a rebuild.
package struct ReplayReport: Encodable, Sendable {
    package struct Difference: Encodable, Sendable, Equatable {
        package let subject: String
        package let detail: String
    }

    /// The number of facts and acts that were applied again.
    package var steps = 0
    package var orders = 0
    package var grants = 0
    package var subscriptions = 0
    /// The number of orders and subscriptions that cannot be rebuilt and are not compared, because earlier releases did
    /// not store providers' answers, or what people decided about subscriptions.
    package var skipped = 0
    package var differences: [Difference] = []
}

/// Rebuilds orders and entitlements from the stored facts in a second database and compares them; it only reads the
/// real one.
///
/// It copies orders and the intents of payments and refunds in their first state, and applies again, in order, the
/// notifications and answers of providers, the signed statements of stores, and the acts of people. Managed
/// subscriptions and their grants are made from their histories.
package struct ReplayInbox: Sendable {
    static let page: Int64 = 500
    /// The largest number of differences that are listed.
    static let limit = 100

    let source: Store
    let scratch: Store
    private let registry: ProviderRegistry
    let ids: IDSource
    private let policies: OrderPolicies
    private let billing: Billing
    let progress: ReadingProgress

    /// - Parameter scratch: an empty database with the schema.
    package init(source: Store, scratch: Store, gateway: Gateway, progress: ReadingProgress = ReadingProgress()) {
        self.source = source
        self.scratch = scratch
        registry = gateway.registry
        ids = gateway.ids
        // The refunds that a policy decided are among the intents; the policy must not decide them again.
        var policies = gateway.settings.policies
        policies.holdInsteadOfRefunding()
        self.policies = policies
        billing = gateway.settlements.billing
        self.progress = progress
    }

    package func run() async throws -> ReplayReport {
        for table in ReplayTable.all { try await copy(table) }
        try await scratch.write { tx in try tx.replay.rebuildBalances() }
        var report = ReplayReport()
        var applied = progress.begin("facts and acts applied")
        var last: ReplayStep?
        while true {
            let steps = try await source.report { [last] db in try db.replay.listSteps(after: last, limit: Self.page) }
            guard let end = steps.last else { break }
            for step in steps { try await perform(step) }
            report.steps += steps.count
            applied.add(steps.count)
            last = end
        }
        try await recountRefunds()
        // Last, because the statements of stores above know only the subscriptions as they are stored.
        try await rebuildSubscriptions(&report)
        try await compare(&report)
        return report
    }

    private func copy(_ table: ReplayTable) async throws {
        var copied = progress.begin("\(table.name) copied")
        var last: Row?
        while true {
            let rows = try await source.report { [last] db in
                try db.replay.listRows(of: table, after: last, limit: Self.page)
            }
            guard let end = rows.last else { return }
            try await scratch.write { tx in try tx.replay.insert(rows, into: table) }
            copied.add(rows.count)
            last = end
        }
    }

    private func perform(_ step: ReplayStep) async throws {
        switch step.kind {
        case .facts:
            guard let account = AccountID(step.account) else { return }
            let facts = try JSONDecoder().decode([ProviderFact].self, from: Data(step.body.utf8))
            try await settle(step.at) { settlement in
                // Statements of stores are left out here: they are applied with the purchases and subscriptions that
                // they led to.
                for fact in facts where try Self.isApplied(fact, in: settlement.tx) {
                    _ = try settlement.apply(fact, from: account, isStored: true)
                }
            }
        case .close:
            guard let id = ID<Order>(step.subject) else { return }
            try await settle(step.at) { settlement in
                if let order = try settlement.tx.orders.find(id) {
                    try OrderWriter(settlement).close(order, reason: "again")
                }
            }
        case .free:
            guard let id = ID<Order>(step.subject) else { return }
            try await settle(step.at) { settlement in
                if let order = try settlement.tx.orders.find(id) { try OrderWriter(settlement).completeFree(order) }
            }
        case .refund:
            try await intend(step)
        case .mismatch:
            let words = step.body.split(separator: " ").map(String.init)
            guard let id = ID<Order>(step.subject), words.count == 2, let n = Int64(words[0]),
                let act = Mismatch.Act(rawValue: words[1])
            else { return }
            try await settle(step.at) { settlement in
                guard let found = try settlement.tx.mismatches.find(n, of: id) else { return }
                try settlement.payments.resolve(found, act, refunds: false)
            }
        case .purchase:
            try await attach(step)
        }
    }

    /// False for a fact about a managed subscription, whose history has what the fact did to it and the money of whose
    /// orders is taken over as it is, and for a token or a withdrawn consent, which change no order.
    private static func isApplied(_ fact: ProviderFact, in tx: any Transaction) throws -> Bool {
        switch fact {
        case .setup, .mandate, .consent, .externalToken: false
        case .store: true
        case .payment, .refund, .dispute:
            try fact.payment.flatMap { try tx.orders.find(of: $0).value() }?.period == nil
        }
    }

    /// Inserts a refund's intent, which reserves its amount.
    private func intend(_ step: ReplayStep) async throws {
        let row = try await source.read { db in try db.replay.findRow(of: ReplayTable.refunds, id: step.subject) }
        guard let row, let id = ID<Refund>(step.subject) else { return }
        try await settle(step.at) { settlement in
            // A provider may have reported the refund first, which then adopted it.
            guard try settlement.tx.refunds.find(id) == nil else { return }
            try settlement.tx.replay.insert([row], into: ReplayTable.refunds)
            guard let refund = try settlement.tx.refunds.find(id),
                let order = try settlement.tx.orders.find(refund.order)
            else {
                return
            }
            try settlement.refunds.recount(refund.payment, order)
        }
    }

    /// Grants a stored purchase again to its user, and revokes it again where its store did.
    ///
    /// The record has the merged state of all transactions of the purchase.
    private func attach(_ step: ReplayStep) async throws {
        let read = try await source.report { db -> (PurchaseRecord, Order?, String)? in
            guard let environment = Environment(rawValue: step.subject),
                let kept = try db.purchases.find(environment, step.body).value(), let owner = kept.user,
                let record = try db.purchases.listTransactions(of: kept).first(where: { $0.key == kept.key })
            else { return nil }
            let order = try record.order.flatMap { try db.orders.find($0) }
            return (record, order, try db.users.findExternalID(owner) ?? "")
        }
        guard let (record, order, name) = read, let owner = record.user else { return }
        let rules = registry.source(of: record.account).rules
        // Units stay with their first owner, also where the purchase has moved since.
        let user = order.map { $0.terms.units.isEmpty ? owner : $0.user } ?? owner
        var versions = [record.purchase]
        if record.purchase.revocation != nil, record.order != nil { versions.insert(record.purchase.given, at: 0) }
        for (index, version) in versions.enumerated() {
            let claim = PurchaseClaim(
                purchase: version, account: record.account, evidence: nil, rules: rules, fallback: nil)
            try await settle(step.at) { settlement in
                let key = version.key(claimant: user)
                if index == 0 {
                    _ = try settlement.tx.purchases.upsert(
                        version.with(signedAt: version.signedAt - 1), key: key, account: record.account,
                        evidence: nil, at: step.at)
                    try settlement.tx.purchases.assign(
                        version, key: key, user: nil, sku: record.sku, days: record.days, order: nil)
                }
                try settlement.tx.users.lock(user)
                _ = try settlement.purchases.fulfil(
                    claim, owner: user, entitled: claim.rules.entitles(name), isAlone: true)
            }
        }
    }

    /// Computes the sums of payments from refunds about which no fact is stored yet.
    private func recountRefunds() async throws {
        var last = ""
        while true {
            let cursor = last
            let payments = try await scratch.report { db in
                try db.replay.listRefundedPayments(after: cursor, limit: Self.page)
            }
            guard let end = payments.last else { return }
            try await settle(Timestamp(0)) { settlement in
                for id in payments {
                    guard let payment = try settlement.tx.payments.find(id).value()?.payment,
                        let order = try settlement.tx.orders.find(payment.order)
                    else { continue }
                    try settlement.refunds.recount(id, order)
                }
            }
            last = end.rawValue
        }
    }

    private func settle(_ now: Timestamp, _ body: @escaping @Sendable (inout Settlement) throws -> Void) async throws {
        let (ids, policies, registry, billing) = (ids, policies, registry, billing)
        try await scratch.write { tx in
            var settlement = Settlement(
                tx: tx, ids: ids, now: now, policies: policies, registry: registry,
                context: AuditContext(actor: .system("replay"), requestID: ""), billing: billing)
            try body(&settlement)
        }
    }
}

extension StorePurchase {
    /// This purchase in its state before its store revoked it.
    fileprivate var given: StorePurchase { with(signedAt: signedAt - 1, revocation: nil) }

    fileprivate func with(signedAt: Int64) -> StorePurchase { with(signedAt: signedAt, revocation: revocation) }

    private func with(signedAt: Int64, revocation: Revocation?) -> StorePurchase {
        var copy = StorePurchase(
            environment: environment, bundleID: bundleID, productID: productID, transactionID: transactionID,
            originalTransactionID: originalTransactionID, kind: kind, purchasedAt: purchasedAt, expiresAt: expiresAt,
            signedAt: signedAt, quantity: quantity, priceMilliunits: priceMilliunits, currency: currency,
            appAccountToken: appAccountToken, isRenewal: isRenewal, isUpgraded: isUpgraded,
            isFamilyShared: isFamilyShared, revocation: revocation)
        (copy.offer, copy.commitmentEndsAt, copy.receipt) = (offer, commitmentEndsAt, receipt)
        (copy.webOrderLineItemID, copy.receiptEndsAt, copy.box) = (webOrderLineItemID, receiptEndsAt, box)
        copy.appTransactionID = appTransactionID
        return copy
    }
}
