package import Domain
import Logging
import ProviderKit
import Store

/// The answer about a receipt: a report, or the status of `verifyReceipt` that explains its absence.
package enum ReceiptAnswer: Sendable {
    case report(ReceiptReport)
    /// Apple's status number, for example 21007.
    case status(Int64)
}

/// The source of the state of a receipt's purchases.
package enum ReceiptSource: String, Encodable, Sendable {
    case receipt
    case appStore = "app_store"
}

/// A transaction of a receipt after its attach.
package struct VerifiedPurchase: Sendable {
    package let attached: AttachedPurchase
    /// nil where the evidence is the transaction's own JWS.
    package let source: ReceiptSource?
    /// True where the store could not state the current status of the purchase.
    package let isStale: Bool
}

/// StoreKit 1 receipts: validation of all purchases, and attach of one named transaction.
package struct Receipts: Sendable {
    let store: StoreAccess
    let reader: ReceiptReader
    let stored: ReceiptPurchases
    let confirmation: ReceiptConfirmation
    let purchases: Purchases
    let time: BusinessTime
    let logger: Logger

    /// Stores all purchases of a receipt, attaches them to the user where there is one, and reports about them.
    ///
    /// They are stored first, then the store is queried, and only then does the user claim them, so that the store's
    /// statement about their owner counts. The lists are the same for every caller; a user also learns which of the
    /// purchases belong to them.
    /// - Parameters:
    ///   - password: the app's shared secret, which is required without a user.
    ///   - newestOnly: true leaves out all but the current period of each subscription.
    ///   - user: claims the purchases; nil leaves unclaimed ones unclaimed.
    /// - Throws: `invalidReceipt`, `unauthenticated` for a missing or wrong password.
    package func validate(
        _ text: String, password: String?, newestOnly: Bool, user: ExternalUserID?, context: CallContext
    ) async throws(GatewayError) -> ReceiptAnswer {
        let verified: VerifiedReceipt
        switch try await reader.read(text, secret: user == nil ? password ?? "" : nil) {
        case .read(let read): verified = read
        // A server for production got a test receipt, or another one a production receipt.
        case .otherEnvironment(let takesProduction): return .status(takesProduction ? 21_007 : 21_008)
        }
        let receipt = verified.receipt
        let entries = receipt.entries.map(\.purchase)
        let news = try await store.read { db in try ReceiptNews(entries, user: user, from: db) }
        if !news.unknown.isEmpty { try await stored.insert(news.unknown, of: verified, context: context) }
        let result = try await confirmation.confirm(verified, unsigned: news.unsigned, context: context)
        if case .rejected(let status) = result { return .status(status) }
        let now = time.now
        let subjects = receipt.subjects.union(result.answered)
        if let user {
            // Purchases that only the store's answer contains are the customer's as well.
            let named = result.answered.subtracting(receipt.subjects)
            let others = try await store.read { db in
                try ReceiptNews(
                    named.flatMap { try db.purchases.list($0.environment, original: $0.original).map(\.purchase) },
                    user: user, from: db
                ).unclaimed
            }
            let unclaimed = news.unclaimed + others
            if !unclaimed.isEmpty { try await stored.attach(unclaimed, of: verified, user: user, context: context) }
        }
        let known = try await store.read { db in
            try ReceiptReport.Purchases(
                receipt, subjects, caller: user, newestOnly: newestOnly, from: db, now: now)
        }
        return .report(
            ReceiptReport(
                receipt: receipt, text: text, rows: known.rows, renewals: known.renewals, attachment: known.attachment,
                source: result.source, isStale: result.isStale, requestedAt: time.milliseconds()))
    }

    /// Attaches the named transaction of a client's receipt: a PKCS #7 app receipt, a JWS, or the simulator's JSON in
    /// development.
    ///
    /// - Throws: `invalidReceipt`, with `transaction_not_in_receipt` where the transaction is neither in the receipt
    ///   nor a renewal of one that is; `providerUnavailable` where only the store could confirm that and does not
    ///   answer; the errors of an attach.
    package func verify(
        _ text: String, transactionID: String, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> VerifiedPurchase {
        switch ReceiptForm(text) {
        case .signedTransaction:
            return try await verify(
                .signedTransaction(text), transactionID: transactionID, user: user, context: context)
        case .simulator:
            return try await verify(.simulatorReceipt(text), transactionID: transactionID, user: user, context: context)
        case .receipt:
            guard case .read(let verified) = try await reader.read(text, secret: nil) else {
                throw .invalidReceipt(PurchaseRefusal.Reason.wrongEnvironment.rawValue)
            }
            return try await verify(verified, transactionID: transactionID, user: user, context: context)
        }
    }

    private func verify(
        _ evidence: PurchaseEvidence, transactionID: String, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> VerifiedPurchase {
        let claim: PurchaseClaim
        do throws(GatewayError) {
            claim = try await purchases.evidence.verify(evidence)
        } catch .invalidTransaction(let reason) {
            throw .invalidReceipt(reason.rawValue)
        }
        guard claim.purchase.transactionID == transactionID else {
            throw .invalidReceipt("transaction_not_in_receipt")
        }
        let attached = try await purchases.attach(evidence, fallback: nil, user: user, context: context)
        return VerifiedPurchase(attached: attached, source: nil, isStale: false)
    }

    private func verify(
        _ verified: VerifiedReceipt, transactionID: String, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> VerifiedPurchase {
        let named = try await purchase(transactionID, of: verified)
        var entries: [StorePurchase] = []
        if case .entry(let purchase) = named { entries = [purchase] }
        let news = try await store.read { [entries] db in try ReceiptNews(entries, user: user, from: db) }
        if !news.unknown.isEmpty { try await stored.insert(news.unknown, of: verified, context: context) }
        let result = try await confirmation.confirm(verified, unsigned: news.unsigned, context: context)
        if case .rejected = result { throw .invalidReceipt(PurchaseRefusal.Reason.badSignature.rawValue) }
        let attached = try await attach(named, of: verified, user: user, context: context)
        return VerifiedPurchase(attached: attached, source: result.source, isStale: result.isStale)
    }

    private enum NamedPurchase: Sendable {
        case entry(StorePurchase)
        case signed(PurchaseEvidence)
    }

    private func attach(
        _ named: NamedPurchase, of verified: VerifiedReceipt, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> AttachedPurchase {
        switch named {
        case .signed(let evidence):
            return try await purchases.attach(evidence, fallback: nil, user: user, context: context)
        case .entry(let purchase):
            let outcome = try await stored.attach([purchase], of: verified, user: user, context: context).first
            guard let outcome else { throw .internalError }
            return try outcome.attached(purchase)
        }
    }

    /// Finds the purchase that a client names: one in the receipt, the newest of a named original, or a renewal of one
    /// that the store confirms.
    ///
    /// An id alone proves nothing, because the store would answer about any customer's.
    private func purchase(_ id: String, of verified: VerifiedReceipt) async throws(GatewayError) -> NamedPurchase {
        let receipt = verified.receipt
        let entries = receipt.entries.map(\.purchase)
        if let exact = entries.last(where: { $0.transactionID == id }) { return .entry(exact) }
        let renewals = entries.filter { $0.originalTransactionID == id }
        if let newest = renewals.max(by: { $0.purchasedAt < $1.purchasedAt }) { return .entry(newest) }
        let originals = Set(entries.map(\.originalTransactionID))
        guard !originals.isEmpty, verified.reader.canConfirm(receipt) else {
            throw .invalidReceipt("transaction_not_in_receipt")
        }
        do throws(ReceiptConfirmationError) {
            if let item = try await verified.reader.transaction(id, besides: receipt),
                let purchase = item.statement.purchase, let evidence = item.evidence, purchase.transactionID == id,
                purchase.bundleID == receipt.bundleID, originals.contains(purchase.originalTransactionID)
            {
                return .signed(evidence)
            }
        } catch .store(.retryable(_)) {
            throw .providerUnavailable
        } catch {
            logger.info("a transaction beside a receipt was not found", metadata: ["reason": "\(error)"])
        }
        throw .invalidReceipt("transaction_not_in_receipt")
    }
}

/// The form of a client's receipt, recognized by its beginning.
private enum ReceiptForm {
    /// A JWS in compact serialization.
    case signedTransaction
    /// The simulator's base64 of JSON.
    case simulator
    /// A PKCS #7 receipt, or an unknown form.
    case receipt

    init(_ text: String) {
        if text.contains(".") {
            self = .signedTransaction
        } else {
            // Base64 of `{"` or `{ `, and of `{` with a line break.
            self = text.hasPrefix("ey") || text.hasPrefix("ew") ? .simulator : .receipt
        }
    }
}
