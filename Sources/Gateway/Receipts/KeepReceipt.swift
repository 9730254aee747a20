import Domain
import Foundation
import ProviderKit
import Store

extension Gateway {
    /// So many purchases of a receipt are settled in one transaction.
    private static let batch = 200

    /// Keeps purchases of a receipt for whoever they belong to; what nobody has claimed stays unclaimed.
    ///
    /// Where the store can be asked a job asks it, unless the answer comes before.
    func keep(_ purchases: [StorePurchase], of read: ReadReceipt, context: CallContext) async throws(GatewayError) {
        let (sealed, source) = (try sealed(read), registry.source(of: read.account))
        let (digest, account, asks) = (read.receipt.digest, read.account, read.reader.canConfirm(read.receipt))
        for batch in purchases.batches(of: Self.batch) {
            let statements = batch.map {
                SourcedStatement(statement: StoreStatement(purchase: $0, renewal: nil), source: source)
            }
            try await settle(AuditContext(actor: context.actor, requestID: context.requestID)) { settlement in
                try settlement.ownership.lockHolders(of: statements.map(\.statement))
                try settlement.tx.receipts.upsert(digest, account: account, evidence: sealed, at: settlement.now)
                try settlement.purchases.apply(statements)
                if asks { try settlement.askLater(about: digest) }
            }
        }
    }

    /// Claims purchases that are kept.
    ///
    /// - Returns: how each claim ended.
    func claim(
        _ purchases: [StorePurchase], of read: ReadReceipt, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> [ClaimOutcome] {
        let (digest, account, sealed) = (read.receipt.digest, read.account, try sealed(read))
        let rules = registry.source(of: account).rules
        var outcomes: [ClaimOutcome] = []
        for batch in purchases.batches(of: Self.batch) {
            let claims = batch.map {
                PurchaseClaim(purchase: $0, account: account, evidence: nil, rules: rules, fallback: nil)
            }
            outcomes += try await settle(AuditContext(actor: context.actor, requestID: context.requestID)) { settlement in
                let claimant = try settlement.ownership.lockHolders(of: claims, claimant: user)
                try settlement.tx.receipts.upsert(digest, account: account, evidence: sealed, at: settlement.now)
                return try claims.map { try settlement.purchases.attach($0, claimant: claimant, name: user.rawValue) }
            }
        }
        return outcomes
    }

    private func sealed(_ read: ReadReceipt) throws(GatewayError) -> Data {
        do {
            return try keyRing.seal(Data(read.text.utf8), context: read.receipt.digest.evidenceContext)
        } catch {
            throw .internalError
        }
    }

    /// Keeps the receipt itself, and has a job ask about it.
    func askLater(about read: ReadReceipt, context: CallContext) async throws(GatewayError) {
        let (digest, account, sealed) = (read.receipt.digest, read.account, try sealed(read))
        try await settle(AuditContext(actor: context.actor, requestID: context.requestID)) { settlement in
            try settlement.tx.receipts.upsert(digest, account: account, evidence: sealed, at: settlement.now)
            try settlement.askLater(about: digest)
        }
    }

    /// Settles what a store answered about a receipt.
    ///
    /// - Parameter endsJob: the answer is whole, so that no job needs to ask.
    func settle(
        _ answer: StoreAnswer, of read: ReadReceipt, _ cause: AuditContext, endsJob: Bool
    ) async throws(GatewayError) {
        let (digest, account, sealed) = (read.receipt.digest, read.account, try sealed(read))
        for (index, batch) in statements(of: answer, from: account).batches(of: Self.batch).enumerated() {
            try await settle(cause) { settlement in
                // The job first, as who runs it locks it.
                if endsJob && index == 0 {
                    try settlement.tx.jobs.delete(kind: JobKind.checkReceipt.rawValue, subject: digest.rawValue)
                }
                try settlement.ownership.lockHolders(of: batch.map(\.statement))
                // What the answer's purchases are known by stands beside them.
                try settlement.tx.receipts.upsert(digest, account: account, evidence: sealed, at: settlement.now)
                try settlement.purchases.apply(batch)
            }
        }
    }
}

extension Settlement {
    /// A crash between keeping a receipt and the store's answer must not leave it at that.
    private static let patience: Int64 = 60

    /// Sees to it that a receipt's store is asked, in case that nobody gets an answer before.
    fileprivate func askLater(about digest: ReceiptDigest) throws {
        try tx.jobs.enqueue(
            ids.make(), kind: JobKind.checkReceipt.rawValue, subject: digest.rawValue, delay: Self.patience, at: now)
    }
}

extension Array {
    /// Parts of so many elements; one empty part of nothing.
    fileprivate func batches(of size: Int) -> [[Element]] {
        guard count > size else { return [self] }
        return stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
