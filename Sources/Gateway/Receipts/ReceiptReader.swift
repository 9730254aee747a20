import Domain
import Foundation
import Logging
import ProviderKit
import Store

/// A verified receipt with the account that verified it.
struct VerifiedReceipt: Sendable {
    let receipt: StoreReceipt
    /// The client's base64, unchanged.
    let text: String
    let account: AccountID
    let reader: any ReceiptReading
}

/// The outcome of reading an authentic receipt.
enum ReceiptReadingOutcome: Sendable {
    case read(VerifiedReceipt)
    /// The receipt's environment is not accepted.
    case otherEnvironment(takesProduction: Bool)
}

/// Verifies receipts with the accounts that can, and opens stored ones.
struct ReceiptReader: Sendable {
    let store: StoreAccess
    let registry: ProviderRegistry
    let keyRing: KeyRing
    let threads: BackgroundThreads
    let lines: RepeatedLines
    let logger: Logger

    private typealias Candidate = (account: AccountID, reader: any ReceiptReading, apps: Set<String>?)

    /// Verifies a receipt.
    ///
    /// - Parameter secret: the shared secret of one of the apps, which is checked before the receipt; nil where a
    ///   user's token authenticates the request.
    /// - Throws: `invalidReceipt` with the reason, `unauthenticated` where the secret is wrong or another app's,
    ///   `noProviderAvailable` where no account reads receipts.
    func read(_ text: String, secret: String?) async throws(GatewayError) -> ReceiptReadingOutcome {
        let candidates = registry.accounts.compactMap { account -> Candidate? in
            guard account.enabled, let reader = account.provider as? any ReceiptReading else { return nil }
            return (account.id, reader, secret.map(reader.apps))
        }
        guard !candidates.isEmpty else { throw .noProviderAvailable }
        let entitled = candidates.filter { $0.apps?.isEmpty != true }
        guard !entitled.isEmpty else { throw .unauthenticated }
        return try await threads.run { () throws(GatewayError) in try read(text, by: entitled) }
    }

    private func read(_ text: String, by candidates: [Candidate]) throws(GatewayError) -> ReceiptReadingOutcome {
        var refused: (refusal: PurchaseRefusal, takesProduction: Bool)?
        for (account, reader, apps) in candidates {
            do throws(PurchaseRefusal) {
                let receipt = try reader.read(receipt: text)
                if let apps, !apps.contains(receipt.bundleID) { continue }
                return .read(VerifiedReceipt(receipt: receipt, text: text, account: account, reader: reader))
            } catch {
                // A fault of the receipt itself says more than that it belongs to another account's app.
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

    /// Opens a stored receipt and verifies it again.
    ///
    /// - Returns: nil where it is no longer stored, or its account no longer reads receipts.
    func stored(_ digest: ReceiptDigest) async throws(GatewayError) -> VerifiedReceipt? {
        guard let record = try await store.read({ db in try db.receipts.find(digest) }),
            let reader = registry[record.account]?.provider as? any ReceiptReading,
            let text = try? keyRing.open(record.evidence, context: digest.evidenceContext)
        else { return nil }
        let plain = String(decoding: text, as: UTF8.self)
        guard let receipt = try? reader.read(receipt: plain) else { return nil }
        return VerifiedReceipt(receipt: receipt, text: plain, account: record.account, reader: reader)
    }

    func sealed(_ verified: VerifiedReceipt) throws(GatewayError) -> Data {
        do {
            return try keyRing.seal(Data(verified.text.utf8), context: verified.receipt.digest.evidenceContext)
        } catch {
            throw .internalError
        }
    }
}

extension ReceiptDigest {
    /// The context to which the sealed receipt is bound.
    fileprivate var evidenceContext: String { "receipts.evidence/\(rawValue)" }
}
