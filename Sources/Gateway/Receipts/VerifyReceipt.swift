package import Domain
import Logging
import ProviderKit
import Store

/// A transaction of a receipt after its attach, and how sure that is.
package struct VerifiedPurchase: Sendable {
    package let attached: AttachedPurchase
    /// nil where the evidence is the transaction's own.
    package let source: ReceiptSource?
    /// The store could not say where the purchase stands by now.
    package let isStale: Bool
}

/// Who says where a receipt's purchases stand.
package enum ReceiptSource: String, Encodable, Sendable {
    case receipt
    case appStore = "app_store"
}

/// What a client calls its receipt, told by how it begins.
private enum ReceiptForm {
    /// A JWS in compact form.
    case signedTransaction
    /// The simulator's base64 of JSON.
    case simulator
    /// A PKCS #7 receipt, or nothing that is known.
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

extension Gateway {
    /// Attaches the named transaction of what a client calls its receipt: a PKCS #7 app receipt, a JWS, or the simulator's
    /// JSON in development.
    ///
    /// - Throws: `invalidReceipt`, with `transaction_not_in_receipt` when the transaction is neither in the receipt nor a
    ///   renewal of one that is; `providerUnavailable` when only the store could tell that and does not answer; those of an
    ///   attach.
    package func verifyReceipt(
        _ text: String, transactionID: String, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> VerifiedPurchase {
        switch ReceiptForm(text) {
        case .signedTransaction:
            try await verify(.signedTransaction(text), transactionID: transactionID, user: user, context: context)
        case .simulator:
            try await verify(.simulatorReceipt(text), transactionID: transactionID, user: user, context: context)
        case .receipt:
            switch try await readReceipt(text, secret: nil) {
            case .read(let read):
                try await verify(read, transactionID: transactionID, user: user, context: context)
            case .otherEnvironment: throw .invalidReceipt(PurchaseRefusal.Reason.wrongEnvironment.rawValue)
            }
        }
    }

    private func verify(
        _ evidence: PurchaseEvidence, transactionID: String, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> VerifiedPurchase {
        let claimed: PurchaseClaim
        do throws(GatewayError) {
            claimed = try await verification.run { () throws(GatewayError) in
                try self.claim(evidence, fallback: nil)
            }
        } catch .invalidTransaction(let reason) {
            throw .invalidReceipt(reason.rawValue)
        }
        guard claimed.purchase.transactionID == transactionID else {
            throw .invalidReceipt("transaction_not_in_receipt")
        }
        let attached = try await attachPurchase(evidence, fallback: nil, user: user, context: context)
        return VerifiedPurchase(attached: attached, source: nil, isStale: false)
    }

    private func verify(
        _ verified: ReadReceipt, transactionID: String, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> VerifiedPurchase {
        let named = try await purchase(transactionID, of: verified)
        var entries: [StorePurchase] = []
        if case .entry(let purchase) = named { entries = [purchase] }
        let news = try await read { [entries] db in try ReceiptNews(entries, user: user, from: db) }
        if !news.unknown.isEmpty { try await keep(news.unknown, of: verified, context: context) }
        let standing = try await confirm(verified, unsigned: news.unsigned, context: context)
        if case .rejected = standing { throw .invalidReceipt(PurchaseRefusal.Reason.badSignature.rawValue) }
        let attached = try await attach(named, of: verified, user: user, context: context)
        return VerifiedPurchase(attached: attached, source: standing.source, isStale: standing.isStale)
    }

    private enum NamedPurchase: Sendable {
        case entry(StorePurchase)
        case signed(PurchaseEvidence)
    }

    private func attach(
        _ named: NamedPurchase, of read: ReadReceipt, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> AttachedPurchase {
        switch named {
        case .signed(let evidence):
            return try await attachPurchase(evidence, fallback: nil, user: user, context: context)
        case .entry(let purchase):
            let outcome = try await claim([purchase], of: read, user: user, context: context).first
            guard let outcome else { throw .internalError }
            return try outcome.attached(purchase)
        }
    }

    /// The purchase that a client names: one of the receipt's, the newest of a named original, or a renewal of one that the
    /// store confirms.
    ///
    /// An id alone proves nothing: the store would tell of anybody's.
    private func purchase(_ id: String, of read: ReadReceipt) async throws(GatewayError) -> NamedPurchase {
        let purchases = read.receipt.entries.map(\.purchase)
        if let exact = purchases.last(where: { $0.transactionID == id }) { return .entry(exact) }
        let renewals = purchases.filter { $0.originalTransactionID == id }
        if let newest = renewals.max(by: { $0.purchasedAt < $1.purchasedAt }) { return .entry(newest) }
        let originals = Set(purchases.map(\.originalTransactionID))
        guard !originals.isEmpty, read.reader.canConfirm(read.receipt) else {
            throw .invalidReceipt("transaction_not_in_receipt")
        }
        do throws(ReceiptConfirmationError) {
            if let item = try await read.reader.transaction(id, besides: read.receipt),
                let purchase = item.statement.purchase, let evidence = item.evidence, purchase.transactionID == id,
                purchase.bundleID == read.receipt.bundleID, originals.contains(purchase.originalTransactionID)
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
