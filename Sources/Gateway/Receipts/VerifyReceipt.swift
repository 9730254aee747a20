package import Domain
import Logging
import ProviderKit

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
            // Base64 of `{"`, `{` and a line break, `{` and a space.
            self = ["ey", "ew", "eyA"].contains(where: text.hasPrefix) ? .simulator : .receipt
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
            try await verify(
                try readReceipt(text, secret: nil), transactionID: transactionID, user: user, context: context)
        }
    }

    private func verify(
        _ evidence: PurchaseEvidence, transactionID: String, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> VerifiedPurchase {
        let claimed: PurchaseClaim
        do throws(GatewayError) {
            claimed = try claim(evidence, fallback: nil)
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
        _ read: ReadReceipt, transactionID: String, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> VerifiedPurchase {
        let named = try await purchase(transactionID, of: read)
        _ = try await attach(named, of: read, user: user, context: context, asksLater: true)
        let standing = try await confirm(read, context: context)
        if case .rejected = standing { throw .invalidReceipt(PurchaseRefusal.Reason.badSignature.rawValue) }
        // What the store said since may have changed it.
        let attached = try await attach(named, of: read, user: user, context: context, asksLater: false)
        if case .confirmed = standing {
            return VerifiedPurchase(attached: attached, source: .appStore, isStale: false)
        }
        return VerifiedPurchase(attached: attached, source: .receipt, isStale: standing == .stale)
    }

    private enum NamedPurchase: Sendable {
        case entry(StorePurchase)
        case signed(PurchaseEvidence)
    }

    private func attach(
        _ named: NamedPurchase, of read: ReadReceipt, user: ExternalUserID, context: CallContext, asksLater: Bool
    ) async throws(GatewayError) -> AttachedPurchase {
        switch named {
        case .signed(let evidence):
            return try await attachPurchase(evidence, fallback: nil, user: user, context: context)
        case .entry(let purchase):
            let outcomes = try await keep(
                [purchase], of: read, user: user, context: context, asksLater: asksLater)
            guard let outcome = outcomes.first else { throw .internalError }
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

extension ClaimOutcome {
    /// The attached purchase, or why it is not.
    func attached(_ purchase: StorePurchase) throws(GatewayError) -> AttachedPurchase {
        switch self {
        case .attached(let attached, _): return attached
        case .unknownProduct: throw .unknownProduct(purchase.productID)
        case .anotherUser: throw .purchaseBelongsToAnotherUser
        case .revoked: throw .purchaseRevoked
        }
    }
}
