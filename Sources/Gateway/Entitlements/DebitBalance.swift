package import Domain
import Store

/// One use of units; the ledger books each under an id of its own.
enum Debit: Identified { static let idPrefix = "dbt" }

/// What is left of a unit.
package struct BalanceView: Encodable, Sendable, Equatable {
    package let unit: String
    package let balance: Int64
}

extension Gateway {
    static let unitRange: ClosedRange<Int64> = 1...1_000_000_000_000
    private static let reasonLimit = 500

    /// Takes units of a user's production balance, all or nothing.
    ///
    /// - Throws: `invalidRequest`; `insufficientBalance` where less is left, or the unit was never credited.
    package func debit(
        _ amount: Int64, of unit: String, from user: ExternalUserID, reason: String, context: CallContext
    ) async throws(GatewayError) -> BalanceView {
        guard SKUCode(unit) != nil else {
            throw .invalidRequest(field: "unit", reason: "must match [a-z0-9][a-z0-9_.-]{0,63}")
        }
        guard Self.unitRange.contains(amount) else {
            throw .invalidRequest(field: "amount", reason: "must be 1 to 1,000,000,000,000")
        }
        guard reason.hasScalars(0...Self.reasonLimit) else {
            throw .invalidRequest(field: "reason", reason: "at most 500 characters")
        }
        // A run that was cut short has taken them already.
        if context.resumed != nil { return try await balance(of: unit, user: user) }
        let ids = ids
        return try await settle(Cause(actor: context.actor, requestID: context.requestID)) { settlement in
            let tx = settlement.tx
            guard let userID = try tx.users.findID(user) else { throw GatewayError.insufficientBalance }
            try tx.users.lock(userID)
            let debit = ids.make(Debit.self)
            let left = try tx.wallets.debit(
                amount, unit: unit, user: userID, source: LedgerSource(kind: "debit", id: debit.rawValue),
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
        let amount = try await read { db in
            try db.users.findID(user).flatMap { try db.wallets.balances(of: $0).value()[.production]?[unit] }
        }
        return BalanceView(unit: unit, balance: amount ?? 0)
    }
}
