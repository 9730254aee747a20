package import AppStoreBox
package import Domain
import FoundationEssentials
import Store

// Tokens and reports of external purchases in the App Store in a box.
extension BoxedAppStore {
    /// Hands out a token of an external purchase, of which the box keeps nothing.
    package func makeExternalToken(
        _ request: BoxExternalTokenRequest
    ) async throws(GatewayError) -> Outcome<
        BoxExternalToken
    > {
        do {
            return .success(
                try BoxExternalToken(
                    request, of: settings.signing.app, now: time.milliseconds(), random: random))
        } catch {
            throw .internalError
        }
    }
}

extension BoxedAppStore: ExternalReportBook {
    package func keep(
        externalReport check: @escaping @Sendable ([ExternalReportBody]) -> ExternalReportCheck.Verdict,
        _ json: String
    ) async throws -> ExternalReportCheck.Verdict {
        let (signer, random) = (settings.signing.payloads, random)
        return try await store.write { tx in
            _ = try BoxRows(tx: tx, signer: signer).lock(random)
            let earlier = try tx.box.listExternalReports().map { try BoxJSON.read(ExternalReportBody.self, $0) }
            let verdict = check(earlier)
            if verdict == .accepted {
                let report = try BoxJSON.read(ExternalReportBody.self, json)
                try tx.box.insertExternalReport(report.requestIdentifier, data: json)
            }
            return verdict
        }
    }

    package func externalReport(_ requestIdentifier: String) async throws -> String? {
        try await store.read { db in try db.box.findExternalReport(requestIdentifier) }
    }
}
