import Domain
import FoundationEssentials
import Logging
import Store

extension Gateway {
    private static let sealInterval: Int64 = 60
    private static let sealLimit: Int64 = 2_000

    /// Seals what was audited since the last time.
    ///
    /// The log has each seal's hash too, so that whoever could rewrite the whole database cannot rewrite what is said of it
    /// elsewhere.
    func sealAudit() async throws(GatewayError) -> JobOutcome {
        let now = time.now
        guard let seal = try await write({ tx in try tx.audit.seal(limit: Self.sealLimit, at: now) }) else {
            return .again(after: Self.sealInterval)
        }
        logger.info(
            "the audit was sealed",
            metadata: [
                "position": "\(seal.position)", "entries": "\(seal.entries)",
                "digest": "\(seal.digest.base64EncodedString())",
            ])
        return .again(after: seal.entries == Self.sealLimit ? 0 : Self.sealInterval)
    }
}
