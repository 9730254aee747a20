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

/// How reading a receipt that is authentic ended.
enum ReceiptReadingOutcome: Sendable {
    case read(ReadReceipt)
    /// Of an environment that is not accepted.
    case otherEnvironment(takesProduction: Bool)
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
    func readReceipt(_ text: String, secret: String?) async throws(GatewayError) -> ReceiptReadingOutcome {
        let readers = receiptReaders.map { (account: $0.account, reader: $0.reader, apps: secret.map($0.reader.apps)) }
        guard !readers.isEmpty else { throw .noProviderAvailable }
        let entitled = readers.filter { $0.apps?.isEmpty != true }
        guard !entitled.isEmpty else { throw .unauthenticated }
        return try await verification.run { () throws(GatewayError) in try self.readReceipt(text, by: entitled) }
    }

    private func readReceipt(
        _ text: String, by entitled: [(account: AccountID, reader: any ReceiptReading, apps: Set<String>?)]
    ) throws(GatewayError) -> ReceiptReadingOutcome {
        var refused: (refusal: PurchaseRefusal, takesProduction: Bool)?
        for (account, reader, apps) in entitled {
            do throws(PurchaseRefusal) {
                let receipt = try reader.read(receipt: text)
                if let apps, !apps.contains(receipt.bundleID) { continue }
                return .read(ReadReceipt(receipt: receipt, text: text, account: account, reader: reader))
            } catch {
                // What is wrong with the receipt itself says more than that it is another account's app's.
                if refused == nil || refused?.refusal.reason == .wrongApp {
                    refused = (error, reader.takesProductionReceipts)
                }
            }
        }
        guard let (refusal, takesProduction) = refused else { throw .unauthenticated }
        let metadata: Logger.Metadata = ["reason": "\(refusal.reason.rawValue)", "detail": "\(refusal.detail)"]
        lines.write("a receipt was refused", metadata) { logger.info("a receipt was refused", metadata: $0) }
        if refusal.reason == .wrongEnvironment { return .otherEnvironment(takesProduction: takesProduction) }
        throw .invalidReceipt(refusal.reason.rawValue)
    }

    /// A kept receipt, verified anew; nil where it is kept no more or its account reads receipts no more.
    func keptReceipt(_ digest: ReceiptDigest) async throws(GatewayError) -> ReadReceipt? {
        guard let kept = try await read({ db in try db.receipts.find(digest) }),
            let reader = registry[kept.account]?.provider as? any ReceiptReading,
            let text = try? keyRing.open(kept.evidence, context: digest.evidencePlace)
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
