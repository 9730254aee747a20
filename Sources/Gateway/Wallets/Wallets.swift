package import Domain
import Store

/// A credit by staff; its ledger entry has an id of its own.
enum Credit: Identified { static let idPrefix = "crd" }

/// A debit of units; its ledger entry has an id of its own.
enum Debit: Identified { static let idPrefix = "dbt" }

/// A user's balance of one unit.
package struct BalanceView: Encodable, Sendable, Equatable {
    package let unit: String
    package let balance: Int64
}

/// Users' balances of units: credits, debits and their history.
package struct Wallets: Sendable {
    let store: StoreAccess
    let settlements: SettlementRunner
    let ids: IDSource

    private static let amounts: ClosedRange<Int64> = 1...1_000_000_000_000
    private static let reasonLimit = 500
    /// The largest balance of a unit, so that sums stay exact in every client's JSON.
    private static let balanceLimit: Int64 = 9_000_000_000_000_000

    /// Credits units to a user's production balance.
    ///
    /// - Parameter kind: `admin` or `partner`.
    /// - Throws: `invalidRequest`; `conflict` where the balance would be too large.
    package func credit(
        _ amount: Int64, of unit: String, to user: ExternalUserID, reason: String, by kind: Grant.SourceKind,
        context: CallContext
    ) async throws(GatewayError) -> BalanceView {
        guard SKUCode(unit) != nil else {
            throw .invalidRequest(field: "unit", reason: "must match [a-z0-9][a-z0-9_.-]{0,63}")
        }
        guard Self.amounts.contains(amount) else {
            throw .invalidRequest(field: "amount", reason: "must be 1 to 1,000,000,000,000")
        }
        guard (1...500).contains(reason.unicodeScalars.count) else {
            throw .invalidRequest(field: "reason", reason: .length(1...500))
        }
        // An earlier run under the same key has credited them.
        if context.resumed != nil { return try await balance(of: unit, user: user) }
        let ids = ids
        return try await settlements.run(context.audit) { settlement in
            let tx = settlement.tx
            let userID = try tx.users.ensure(user, candidate: ids.make(), at: settlement.now)
            try tx.users.lock(userID)
            let before = try tx.wallets.balances(of: userID).value()[.production]?[unit] ?? 0
            guard before <= Self.balanceLimit - amount else {
                throw GatewayError.conflict(reason: "the balance would be larger than a balance may be")
            }
            let credit = ids.make(Credit.self)
            let after = try tx.wallets.book(
                amount, unit: unit, user: userID, environment: .production,
                source: LedgerSource(kind: kind.rawValue, id: credit.rawValue), step: 1, reason: reason,
                at: settlement.now)
            try tx.bind(context, to: credit.rawValue)
            try settlement.log.audit(
                subject: userID.rawValue, "balance.credited", before: "\(unit) \(before)",
                after: "\(unit) \(after) \(credit)", reason: reason, about: userID)
            try settlement.entitlements.publish(userID)
            return BalanceView(unit: unit, balance: after)
        }
    }

    /// Debits units from a user's production balance, all or nothing.
    ///
    /// - Parameter kind: `admin`, who must give a reason, or `partner`.
    /// - Throws: `invalidRequest`; `insufficientBalance` where less is left, or the unit was never credited.
    package func debit(
        _ amount: Int64, of unit: String, from user: ExternalUserID, reason: String,
        by kind: Grant.SourceKind = .partner, context: CallContext
    ) async throws(GatewayError) -> BalanceView {
        guard SKUCode(unit) != nil else {
            throw .invalidRequest(field: "unit", reason: "must match [a-z0-9][a-z0-9_.-]{0,63}")
        }
        guard Self.amounts.contains(amount) else {
            throw .invalidRequest(field: "amount", reason: "must be 1 to 1,000,000,000,000")
        }
        guard kind != .admin || reason.hasScalars(1...Self.reasonLimit) else {
            throw .invalidRequest(field: "reason", reason: .length(1...Self.reasonLimit))
        }
        guard reason.hasScalars(0...Self.reasonLimit) else {
            throw .invalidRequest(field: "reason", reason: "at most 500 characters")
        }
        // An earlier run under the same key has debited them.
        if context.resumed != nil { return try await balance(of: unit, user: user) }
        let ids = ids
        return try await settlements.run(context.audit) { settlement in
            let tx = settlement.tx
            guard let userID = try tx.users.findID(user) else { throw GatewayError.insufficientBalance }
            try tx.users.lock(userID)
            let debit = ids.make(Debit.self)
            let source = LedgerSource(kind: kind == .admin ? "admin_debit" : "debit", id: debit.rawValue)
            let left = try tx.wallets.debit(
                amount, unit: unit, user: userID, source: source,
                reason: reason.isEmpty ? nil : reason, at: settlement.now)
            guard let left else { throw GatewayError.insufficientBalance }
            try tx.bind(context, to: debit.rawValue)
            try settlement.log.audit(
                subject: userID.rawValue, "balance.debited", before: "\(unit) \(left + amount)",
                after: "\(unit) \(left) \(debit)", reason: reason, about: userID)
            try settlement.entitlements.publish(userID)
            return BalanceView(unit: unit, balance: left)
        }
    }

    func balance(of unit: String, user: ExternalUserID) async throws(GatewayError) -> BalanceView {
        let amount = try await store.read { db in
            try db.users.findID(user).flatMap { try db.wallets.balances(of: $0).value()[.production]?[unit] }
        }
        return BalanceView(unit: unit, balance: amount ?? 0)
    }

    /// Lists the changes of a user's balances of a unit, newest first.
    package func history(
        of unit: String, user: ExternalUserID, cursor: String?, limit: Int64
    ) async throws(GatewayError) -> Page<BalanceChange> {
        guard SKUCode(unit) != nil else {
            throw .invalidRequest(field: "unit", reason: "must match [a-z0-9][a-z0-9_.-]{0,63}")
        }
        let before = try Cursor(number: cursor).position
        let entries = try await store.read { db in
            try db.users.findID(user).map {
                try db.wallets.listEntries(of: $0, unit: unit, before: before, limit: limit + 1)
            } ?? []
        }
        return Page(entries.map(BalanceChange.init), limit: limit) { String($0.position) }
    }
}

/// A change of a balance in the form that staff see.
package struct BalanceChange: Encodable, Sendable {
    private struct Source: Encodable {
        let type: String
        let id: String
    }

    private let at: Timestamp
    private let amount: Int64
    private let balance: Int64
    @Nullable private var reason: String?
    private let environment: Environment
    private let source: Source
    fileprivate let position: Int64

    fileprivate init(_ entry: LedgerStep) {
        at = entry.at
        amount = entry.delta
        balance = entry.balance
        reason = entry.reason
        environment = entry.environment
        let type =
            switch entry.source.kind {
            case "debit": Grant.SourceKind.partner.rawValue
            case "admin_debit": Grant.SourceKind.admin.rawValue
            default: entry.source.kind
            }
        source = Source(type: type, id: entry.source.id)
        position = entry.position
    }

    private enum CodingKeys: CodingKey { case at, amount, balance, reason, environment, source }
}
