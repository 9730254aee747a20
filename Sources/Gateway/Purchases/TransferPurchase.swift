package import Domain
import ProviderKit
import Store

/// Whose a purchase is after an admin gave it to somebody.
package struct TransferredPurchase: Encodable, Sendable, Equatable {
    package let original_transaction_id: String
    package let environment: Environment
    /// The internal id; names are filled in where it is shown.
    package let user_id: String
    /// False where it was this user's already.
    package let transferred: Bool
}

extension Gateway {
    /// Gives an original transaction to a user, whatever the policy says and whoever has it.
    ///
    /// It may be nobody's yet, or have been an erased person's; what was kept for nobody is settled for that user. Who
    /// shares it goes on sharing it.
    /// - Parameter environment: needed only where the id is known in several.
    /// - Throws: `notFound`, `invalidRequest`.
    package func transferPurchase(
        _ original: String, to user: ExternalUserID, environment: Environment?, context: CallContext
    ) async throws(GatewayError) -> TransferredPurchase {
        let (ids, now) = (ids, time.now)
        let cause = AuditContext(actor: context.actor, requestID: context.requestID)
        return try await settle(cause) { settlement in
            let tx = settlement.tx
            let subject = StoreSubject(try Self.environment(of: original, named: environment, in: tx), original)
            // Before a user is made, as every claim does.
            try tx.purchaseOwners.lock(subject.environment, original)
            let target = try tx.users.ensure(user, candidate: ids.make(), at: now)
            for holder in try tx.purchaseOwners.listHolders(of: subject).value().union([target]).sorted() {
                try tx.users.lock(holder)
            }
            let owner = try tx.purchaseOwners.find(of: StoreSubject(subject.environment, original)).value()
            // A run that was cut short has moved it already; it may be somebody else's again since.
            if context.resumed == nil {
                if let owner, owner != target {
                    try settlement.ownership.move(subject, from: owner, to: target)
                } else if owner == nil {
                    _ = try tx.purchaseOwners.bind(subject, to: target, at: now)
                    try settlement.ownership.recordTransfer(of: subject, from: nil, to: target)
                }
                try settlement.purchases.fulfilStored(of: subject, for: target, name: user.rawValue)
                try tx.bind(context, to: original)
            }
            return TransferredPurchase(
                original_transaction_id: original, environment: subject.environment, user_id: target.rawValue,
                transferred: context.resumed != nil || owner != target)
        }
    }

    /// - Throws: `notFound` where the id is not known, `invalidRequest` where it is in several environments.
    private static func environment(
        of original: String, named environment: Environment?, in tx: any Transaction
    ) throws -> Environment {
        let known = try tx.purchaseOwners.listEnvironments(ofOriginal: original)
        if let environment {
            guard known.contains(environment) else { throw GatewayError.unknown(.purchase, original) }
            return environment
        }
        guard known.count < 2 else {
            let names = known.map(\.rawValue).joined(separator: ", ")
            throw GatewayError.invalidRequest(
                field: "environment", reason: "must be named: this id is known in \(names)")
        }
        guard let only = known.first else { throw GatewayError.unknown(.purchase, original) }
        return only
    }
}
