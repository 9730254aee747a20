package import Domain
import ProviderKit

/// What became of one transaction of a restore.
package struct RestoredItem: Encodable, Sendable, Equatable {
    package enum Status: String, Encodable, Sendable {
        case attached, rejected
        case alreadyAttached = "already_attached"
    }

    package let index: Int
    package let status: Status
    /// The error that a single attach would have answered; nil unless rejected.
    package let refusal: GatewayError?

    private enum CodingKeys: String, CodingKey { case index, status }
}

extension Gateway {
    /// So many signatures are checked at a time, so that other purchases come in between.
    private static let verifiedTogether = 10

    /// Attaches up to 200 transactions in one database transaction; a bad one does not stop the good ones.
    package func restorePurchases(
        _ transactions: [String], user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> [RestoredItem] {
        var refusals: [Int: GatewayError] = [:]
        var claims: [(index: Int, claim: PurchaseClaim)] = []
        for start in stride(from: 0, to: transactions.count, by: Self.verifiedTogether) {
            let piece = transactions[start..<min(start + Self.verifiedTogether, transactions.count)]
            let results = try await verification.run {
                piece.map { jws in
                    Result { () throws(GatewayError) in try self.claim(.signedTransaction(jws), fallback: nil) }
                }
            }
            for (index, result) in zip(piece.indices, results) {
                switch result {
                case .success(let claim): claims.append((index, claim))
                case .failure(let error): refusals[index] = error
                }
            }
        }
        let outcomes = claims.isEmpty ? [] : try await settle(claims.map(\.claim), user: user, context: context)
        var items = refusals.map { RestoredItem(index: $0.key, status: .rejected, refusal: $0.value) }
        for ((index, claim), outcome) in zip(claims, outcomes) {
            switch outcome {
            case .attached(_, let isNew):
                items.append(RestoredItem(index: index, status: isNew ? .attached : .alreadyAttached, refusal: nil))
            case .unknownProduct:
                items.append(
                    RestoredItem(index: index, status: .rejected, refusal: .unknownProduct(claim.purchase.productID)))
            case .anotherUser:
                items.append(RestoredItem(index: index, status: .rejected, refusal: .purchaseBelongsToAnotherUser))
            case .revoked: items.append(RestoredItem(index: index, status: .rejected, refusal: .purchaseRevoked))
            }
        }
        return items.sorted { $0.index < $1.index }
    }
}
