import Crypto
import Domain
import FoundationEssentials
import ProviderKit
import Store

/// The tokens of one transaction: keeps them, follows their orders, and makes the reports about them.
struct ExternalPurchaseLedger {
    let log: ChangeLog
    let registry: ProviderRegistry
    let followUps: FollowUps

    var tx: any Transaction { log.tx }

    /// Keeps a token that was handed in for a user, who is locked.
    ///
    /// A token of which Apple told first becomes ours.
    ///
    /// - Throws: `conflict` for a token of another user.
    func keep(
        _ token: ExternalPurchaseToken, at account: AccountID, for user: ID<User>, source: ExternalToken.Source
    ) throws -> ExternalToken {
        var found = try tx.externalPurchases.ensure(try new(token, at: account, user: user, source: source))
        let isForeign =
            try found.user.map { $0 != user }
            ?? tx.externalPurchases.hasOrder(of: found.id, besides: user)
        guard !isForeign else { throw GatewayError.conflict(reason: "the token is another user's") }
        guard found.user == nil || found.source == .apple else { return found }
        found.user = user
        if found.source == .apple { found.source = source }
        try tx.externalPurchases.update(found)
        return found
    }

    /// Applies a store's word about a token, which carries no user and grants nothing.
    func apply(_ notice: ExternalTokenNotice, from account: AccountID) throws {
        var found = try tx.externalPurchases.ensure(try new(notice.token, at: account, user: nil, source: .apple))
        guard notice.isReminder else { return }
        found.dueAt = min(found.dueAt, log.now)
        try tx.externalPurchases.update(found)
        try look(at: found.id)
    }

    private func new(
        _ token: ExternalPurchaseToken, at account: AccountID, user: ID<User>?, source: ExternalToken.Source
    ) throws -> ExternalToken {
        let days = reporting(account)?.externalPurchases.reportAfterDays ?? 8
        return ExternalToken(
            id: log.ids.make(), account: account, token: token, user: user, source: source,
            dueAt: token.createdAt.adding(days: days), createdAt: log.now)
    }

    func reporting(_ account: AccountID) -> (any ExternalPurchaseReporting)? {
        registry[account]?.provider as? any ExternalPurchaseReporting
    }

    /// Has a token's reports looked at now.
    func look(at token: ID<ExternalToken>) throws {
        try tx.externalPurchases.setLook(log.now, at: token)
        try tx.jobs.enqueue(
            log.ids.make(), kind: JobKind.reportExternalPurchase.rawValue, subject: token.rawValue, delay: 0,
            at: log.now)
        followUps.wakeWorkers()
    }

    /// Has the tokens looked at whose orders this transaction has changed, and keeps the tax of what was paid in it.
    func lookAtChanged() throws {
        for token in log.changed.externalTokens.sorted() {
            for order in try tx.externalPurchases.orders(of: token) where order.paidAt == log.now {
                try keepRate(of: order, token)
            }
            try look(at: token)
        }
    }

    /// Keeps the rate of tax of the moment at which an order was paid; without one, that of its checkout stays.
    private func keepRate(of order: Order, _ token: ID<ExternalToken>) throws {
        guard let external = order.external, let account = try tx.externalPurchases.find(token)?.account,
            let regions = reporting(account)?.externalPurchases.regions, let paidAt = order.paidAt,
            let currency = (order.charged ?? order.amount)?.currency, let sku = try tx.skus.find(order.sku),
            let rate = try? regions.rate(
                in: external.storefront, of: sku.taxCategory, currency: currency, at: paidAt),
            rate != external.taxRate
        else { return }
        try tx.orders.setTaxRate(rate, of: order.id)
    }
}

// The reports about a token.
extension ExternalPurchaseLedger {
    /// The next step of a token's job.
    enum Step: Sendable {
        case done
        /// Apple takes no call yet.
        case later(Int64)
        /// A report that may have been sent: the store is asked first.
        case ask(ExternalToken, ExternalReportRecord)
        /// A report that this transaction has stored.
        case send(ExternalToken, ExternalReportRecord)
    }

    /// The seconds after which an account without a key, or one that is not configured, is looked at again.
    private static let patience: Int64 = 86_400

    /// Takes a token's next step: its report is stored with its identifier before anything is sent.
    func step(_ id: ID<ExternalToken>) throws -> Step {
        guard var token = try tx.externalPurchases.lock(id) else { return .done }
        let reports = try tx.externalPurchases.reports(of: id)
        let purchases = try ExternalPurchaseReading(db: tx).purchases(of: id)
        let accepted = reports.filter { $0.state == .accepted }
        let pending = reports.first { $0.state == .created || $0.state == .unknown }
        let items = ExternalReportRules.nextItems(purchases, accepted: accepted.flatMap(\.items), at: log.now)
        let facts = ExternalTokenFacts(
            isPending: pending != nil, isRefused: reports.contains { $0.state == .refused },
            hasAccepted: !accepted.isEmpty, hasItems: !items.isEmpty,
            awaitsOrder: try tx.externalPurchases.awaitsOrder(of: id))
        token.state = token.state(facts, at: log.now)
        try tx.externalPurchases.update(token)
        if let pending { return try allowed(token) { .ask(token, pending) } }
        guard !facts.isRefused else { return try wait(for: token, until: nil) }
        let status: ExternalReportStatus
        if !items.isEmpty {
            status = .lineItem
        } else if token.leadsToNothing(facts, at: log.now) {
            status = token.statusOfNothing
        } else {
            let isAhead = !facts.hasAccepted && token.dueAt > log.now
            return try wait(for: token, until: isAhead ? token.dueAt : nil)
        }
        return try allowed(token) {
            guard let report = try intend(status, items, of: token) else { return try wait(for: token, until: nil) }
            return .send(token, report)
        }
    }

    private func wait(for token: ExternalToken, until time: Timestamp?) throws -> Step {
        try tx.externalPurchases.setLook(time, at: token.id)
        return .done
    }

    /// Takes a step that calls Apple, unless the account may not call it now.
    private func allowed(_ token: ExternalToken, _ step: () throws -> Step) throws -> Step {
        if let hold = try tx.externalPurchases.hold(of: token.account) {
            guard let until = hold.until else { return try wait(for: token, until: log.now) }
            if until > log.now { return .later(until.rawValue - log.now.rawValue) }
            try tx.externalPurchases.endHold(of: token.account)
        }
        let reachable = reporting(token.account)?.externalPurchases.reachable ?? []
        guard reachable.contains(token.token.environment) else {
            return try wait(for: token, until: log.now.adding(seconds: Self.patience))
        }
        return try step()
    }

    /// Stores a report.
    ///
    /// - Returns: nil where the token has one of this content.
    func intend(
        _ status: ExternalReportStatus, _ items: [ExternalReportedItem], of token: ExternalToken
    ) throws -> ExternalReportRecord? {
        let id = log.ids.make(ExternalReport.self)
        // The turns are part of the content: a fact that came and went twice has the same line items again.
        let turns = items.map { "\($0.kind.rawValue)/\($0.factID)/\($0.turn)/\($0.isErroneous)" }
        let content = try Self.body("", status, items, of: token) + turns.joined(separator: "\n")
        let digest = Hex.encoded(SHA256.hash(data: Data(content.utf8)))
        let identifier = NameUUID.text("\(id)/\(digest)")
        let report = ExternalReportRecord(
            id: id, token: token.id, requestIdentifier: identifier, status: status, digest: digest,
            body: try Self.body(identifier, status, items, of: token), items: items, createdAt: log.now)
        guard try tx.externalPurchases.insert(report) else { return nil }
        try log.audit(
            subject: token.id.rawValue, "external_report.created", before: "",
            after: "\(status.rawValue) \(identifier)", about: token.user)
        return report
    }

    private static func body(
        _ identifier: String, _ status: ExternalReportStatus, _ items: [ExternalReportedItem], of token: ExternalToken
    ) throws -> String {
        try JSONText.line(
            ExternalReportBody(
                requestIdentifier: identifier, externalPurchaseId: token.token.externalPurchaseID, status: status,
                lineItems: status == .lineItem ? items.map(\.item) : nil))
    }

    /// Sends the refused reports of a token again under their identifiers, with what was mended, and lets its account
    /// send.
    func retry(_ token: ExternalToken) throws {
        let reports = try tx.externalPurchases.reports(of: token.id)
        let purchases = try ExternalPurchaseReading(db: tx).purchases(of: token.id)
        let accepted = reports.filter { $0.state == .accepted }.flatMap(\.items)
        for report in reports where report.state == .refused {
            let items = ExternalReportRules.mended(report.items, purchases, accepted: accepted)
            if report.status == .lineItem && items.isEmpty {
                try tx.externalPurchases.delete(report.id)
                continue
            }
            try tx.externalPurchases.replace(
                report.id, body: try Self.body(report.requestIdentifier, report.status, items, of: token), items: items)
        }
        if try tx.externalPurchases.hold(of: token.account)?.until == nil {
            try tx.externalPurchases.endHold(of: token.account)
        }
        try look(at: token.id)
    }
}
