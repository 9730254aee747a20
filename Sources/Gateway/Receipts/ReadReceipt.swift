import Domain
import Foundation
import Logging
import ProviderKit
import Store

/// A verified receipt with the account that verified it.
struct ReadReceipt: Sendable {
    let receipt: StoreReceipt
    /// As it came: base64.
    let text: String
    let account: AccountID
    let reader: any ReceiptReading
}

extension Gateway {
    private var receiptReaders: [(account: AccountID, reader: any ReceiptReading)] {
        registry.accounts.compactMap { account in
            guard account.enabled, let reader = account.provider as? any ReceiptReading else { return nil }
            return (account.id, reader)
        }
    }

    /// Verifies a receipt by the accounts that can.
    ///
    /// - Parameter secret: of one of the apps, where no user vouches for the question; it is checked before the receipt.
    /// - Throws: `invalidReceipt` with the precise reason, `unauthenticated` where the secret is no app's or another app's,
    ///   `noProviderAvailable` where no account reads receipts.
    func readReceipt(_ text: String, secret: String?) throws(GatewayError) -> ReadReceipt {
        let readers = receiptReaders
        guard !readers.isEmpty else { throw .noProviderAvailable }
        let entitled = readers.filter { secret.map($0.reader.apps(withSecret:))?.isEmpty != true }
        guard !entitled.isEmpty else { throw .unauthenticated }
        var refusal: PurchaseRefusal?
        for (account, reader) in entitled {
            do throws(PurchaseRefusal) {
                let receipt = try reader.read(receipt: text)
                if let secret, !reader.apps(withSecret: secret).contains(receipt.bundleID) { continue }
                return ReadReceipt(receipt: receipt, text: text, account: account, reader: reader)
            } catch {
                // What is wrong with the receipt itself says more than that it is another account's app's.
                if refusal == nil || refusal?.reason == .wrongApp { refusal = error }
            }
        }
        guard let refusal else { throw .unauthenticated }
        logger.info(
            "a receipt was refused", metadata: ["reason": "\(refusal.reason.rawValue)", "detail": "\(refusal.detail)"])
        throw .invalidReceipt(refusal.reason.rawValue)
    }

    /// Whether a receipt that was refused for its environment is a test's, and not production's.
    var takesProductionReceipts: Bool { receiptReaders.contains { $0.reader.takesProductionReceipts } }

    /// A kept receipt, verified anew; nil where it is kept no more or its account reads receipts no more.
    func keptReceipt(_ digest: ReceiptDigest) async throws(GatewayError) -> ReadReceipt? {
        guard let kept = try await read({ db in try db.receipt(digest) }),
            let reader = registry[kept.account]?.provider as? any ReceiptReading,
            let text = try? keyRing.open(kept.evidence, place: digest.evidencePlace)
        else { return nil }
        let plain = String(decoding: text, as: UTF8.self)
        guard let receipt = try? reader.read(receipt: plain) else { return nil }
        return ReadReceipt(receipt: receipt, text: plain, account: kept.account, reader: reader)
    }
}

extension ReceiptDigest {
    /// Where its sealed receipt stands.
    var evidencePlace: String { "receipts.evidence/\(rawValue)" }
}
