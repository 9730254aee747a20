import Domain
import Foundation
import ProviderKit
import Store

extension Gateway {
    /// So many purchases of a receipt are settled in one transaction.
    private static let batch = 200

    /// Settles purchases of a receipt: for a user, or for whoever they belong to.
    ///
    /// - Parameters:
    ///   - user: claims them; nil keeps what nobody has claimed.
    ///   - asksLater: the store is asked by a job, unless the answer comes before.
    /// - Returns: how each claim of a user ended.
    func keep(
        _ purchases: [StorePurchase], of read: ReadReceipt, user: ExternalUserID?, context: CallContext,
        asksLater: Bool
    ) async throws(GatewayError) -> [ClaimOutcome] {
        let asks = asksLater && read.reader.canConfirm(read.receipt)
        let sealed = try sealed(read)
        var outcomes: [ClaimOutcome] = []
        for start in stride(from: 0, to: purchases.count, by: Self.batch) {
            let batch = Array(purchases[start..<min(start + Self.batch, purchases.count)])
            outcomes += try await keepBatch(batch, of: read, sealed, user: user, context: context, asks: asks)
        }
        return outcomes
    }

    private func keepBatch(
        _ purchases: [StorePurchase], of read: ReadReceipt, _ sealed: Data, user: ExternalUserID?, context: CallContext,
        asks: Bool
    ) async throws(GatewayError) -> [ClaimOutcome] {
        let (ids, now, word) = (ids, time.now, registry.word(of: read.account))
        let (digest, account) = (read.receipt.digest, read.account)
        // Older transactions first, so that every batch is settled in one order.
        let ordered = purchases.sorted {
            ($0.originalTransactionID, $0.purchasedAt, $0.transactionID)
                < ($1.originalTransactionID, $1.purchasedAt, $1.transactionID)
        }
        return try await settle(Cause(actor: context.actor, requestID: context.requestID)) { settlement in
            let claims = ordered.map {
                PurchaseClaim(purchase: $0, account: account, evidence: nil, rules: word.rules, fallback: nil)
            }
            let claimant = try user.map { try settlement.tx.ensureUser($0, candidate: ids.make(), at: now) }
            if let claimant {
                try settlement.lockHolders(of: claims, claimant: claimant)
            } else {
                try settlement.lockUsers(
                    of: ordered.map { .store(StoreStatement(purchase: $0, renewal: nil)) })
            }
            try settlement.tx.keepReceipt(digest, account: account, evidence: sealed, at: now)
            var outcomes: [ClaimOutcome] = []
            for claim in claims {
                if let claimant {
                    outcomes.append(try settlement.settle(claim, claimant: claimant, name: user?.rawValue ?? ""))
                } else {
                    try settlement.settle(StoreStatement(purchase: claim.purchase, renewal: nil), word)
                }
            }
            if asks { try settlement.askLater(about: digest) }
            return outcomes
        }
    }

    /// The purchases of a receipt that are not known as they stand in it, or not the user's.
    func unknown(in receipt: StoreReceipt, to user: ExternalUserID?) async throws(GatewayError) -> [StorePurchase] {
        try await read { db in
            let claimant = try user.flatMap { try db.userID($0) }
            return try receipt.entries.map(\.purchase).filter { purchase in
                guard let known = try db.storePurchase(purchase.environment, purchase.key(claimant: nil)),
                    known.purchase.receipt == nil || known.purchase.signedAt >= purchase.signedAt
                else { return true }
                guard user != nil else { return false }
                guard let claimant else { return true }
                return try !db.holders(of: StoreSubject(purchase)).contains(claimant)
            }
        }
    }

    func sealed(_ read: ReadReceipt) throws(GatewayError) -> Data {
        do {
            return try keyRing.seal(Data(read.text.utf8), place: read.receipt.digest.evidencePlace)
        } catch {
            throw .internalError
        }
    }
}

extension Settlement {
    /// A crash between keeping a receipt and the store's answer must not leave it at that.
    private static let patience: Int64 = 60

    /// Sees to it that a receipt's store is asked, in case that nobody gets an answer before.
    func askLater(about digest: ReceiptDigest) throws {
        try tx.enqueueJob(
            ids.make(), kind: JobKind.checkReceipt.rawValue, subject: digest.rawValue, delay: Self.patience, at: now)
    }
}
