import Domain
import Foundation
import ProviderKit
import Store

/// Stores the purchases of receipts, and applies a store's answers about them.
struct ReceiptPurchases: Sendable {
    /// The number of purchases that are applied in one transaction.
    private static let batch = 200
    /// The seconds until a job queries the store unless the answer comes before, so that the query survives a crash.
    private static let questionDelay: Int64 = 60

    let settlements: SettlementRunner
    let reader: ReceiptReader
    let evidence: EvidenceVerifier

    private var registry: ProviderRegistry { settlements.providers.registry }

    /// Stores purchases of a receipt for their owners; unclaimed ones stay unclaimed.
    ///
    /// Makes a job that queries the store, if that is possible, unless the answer comes before.
    func insert(
        _ purchases: [StorePurchase], of verified: VerifiedReceipt, context: CallContext
    ) async throws(GatewayError) {
        let (sealed, source) = (try reader.sealed(verified), registry.source(of: verified.account))
        let (digest, account) = (verified.receipt.digest, verified.account)
        let asks = verified.reader.canConfirm(verified.receipt)
        for batch in purchases.batches(of: Self.batch) {
            let statements = batch.map {
                SourcedStatement(statement: StoreStatement(purchase: $0, renewal: nil), source: source)
            }
            try await settlements.run(context.audit) { settlement in
                try settlement.ownership.lockHolders(of: statements.map(\.statement))
                try settlement.tx.receipts.upsert(digest, account: account, evidence: sealed, at: settlement.now)
                try settlement.purchases.apply(statements)
                if asks { try Self.enqueueQuestion(about: digest, in: settlement) }
            }
        }
    }

    /// Attaches stored purchases to a user.
    ///
    /// - Returns: the outcome of each.
    @discardableResult
    func attach(
        _ purchases: [StorePurchase], of verified: VerifiedReceipt, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> [ClaimOutcome] {
        let (digest, account, sealed) = (verified.receipt.digest, verified.account, try reader.sealed(verified))
        let rules = registry.source(of: account).rules
        var outcomes: [ClaimOutcome] = []
        for batch in purchases.batches(of: Self.batch) {
            let claims = batch.map {
                PurchaseClaim(purchase: $0, account: account, evidence: nil, rules: rules, fallback: nil)
            }
            outcomes += try await settlements.run(context.audit) { settlement in
                let claimant = try settlement.ownership.lockHolders(of: claims, claimant: user)
                try settlement.tx.receipts.upsert(digest, account: account, evidence: sealed, at: settlement.now)
                return try claims.map {
                    try settlement.purchases.attach($0, claimant: claimant, name: user.rawValue)
                }
            }
        }
        return outcomes
    }

    /// Stores the receipt itself, and makes the job that queries its store.
    func askLater(about verified: VerifiedReceipt, context: CallContext) async throws(GatewayError) {
        let (digest, account, sealed) = (verified.receipt.digest, verified.account, try reader.sealed(verified))
        try await settlements.run(context.audit) { settlement in
            try settlement.tx.receipts.upsert(digest, account: account, evidence: sealed, at: settlement.now)
            try Self.enqueueQuestion(about: digest, in: settlement)
        }
    }

    private static func enqueueQuestion(about digest: ReceiptDigest, in settlement: Settlement) throws {
        try settlement.tx.jobs.enqueue(
            settlement.ids.make(), kind: JobKind.checkReceipt.rawValue, subject: digest.rawValue, delay: questionDelay,
            at: settlement.now)
    }

    /// Applies a store's answer about a receipt.
    ///
    /// - Parameter endsJob: true where the answer is complete, so that no job needs to query the store.
    func apply(
        _ answer: StoreAnswer, of verified: VerifiedReceipt, _ audit: AuditContext, endsJob: Bool
    ) async throws(GatewayError) {
        let (digest, account, sealed) = (verified.receipt.digest, verified.account, try reader.sealed(verified))
        let statements = evidence.statements(of: answer, from: account)
        for (index, batch) in statements.batches(of: Self.batch).enumerated() {
            try await settlements.run(audit) { settlement in
                // The job comes first, in the lock order of its run.
                if endsJob && index == 0 {
                    try settlement.tx.jobs.delete(kind: JobKind.checkReceipt.rawValue, subject: digest.rawValue)
                }
                try settlement.ownership.lockHolders(of: batch.map(\.statement))
                // The receipt is the evidence of the purchases in the answer.
                try settlement.tx.receipts.upsert(digest, account: account, evidence: sealed, at: settlement.now)
                try settlement.purchases.apply(batch)
            }
        }
    }
}

extension Array {
    /// Splits the array into parts of at most this size; an empty array becomes one empty part.
    fileprivate func batches(of size: Int) -> [[Element]] {
        guard count > size else { return [self] }
        return stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
