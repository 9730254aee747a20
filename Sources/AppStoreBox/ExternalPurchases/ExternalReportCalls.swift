package import Domain
import Foundation

/// The accepted reports of external purchases that the box stores.
package protocol ExternalReportBook: Sendable {
    /// Checks a report against those before it, and keeps it where it is accepted, in one step.
    func keep(
        externalReport check: @escaping @Sendable ([ExternalReportBody]) -> ExternalReportCheck.Verdict,
        _ json: String
    ) async throws -> ExternalReportCheck.Verdict

    /// - Returns: the JSON of an accepted report; nil for an identifier that the box does not know.
    func externalReport(_ requestIdentifier: String) async throws -> String?
}

// Send External Purchase Report and Retrieve External Purchase Report.
extension ServerAPI {
    private struct Accepted: Encodable {
        let requestIdentifier: String
    }

    private struct Refused: Encodable {
        let errors: [ExternalReportCheck.Fault]
    }

    private struct Malformed: Encodable {
        let errorCode = 3
        let errorMessage: String
    }

    func sendExternalReport(_ request: ServerAPIRequest) async throws -> ServerAPIAnswer {
        guard let externalReports else { return .text(404, "Not Found\n") }
        guard let json = try? JSONDecoder().decode(JSONValue.self, from: Data(request.body)) else {
            return .json(Malformed(errorMessage: "The body is no JSON."), status: 400)
        }
        let now = clocks.business()
        let text = String(decoding: request.body, as: UTF8.self)
        let verdict = try await externalReports.keep(
            externalReport: { ExternalReportCheck(after: $0, now: now).verdict(json) }, text)
        switch verdict {
        case .accepted:
            guard case .object(let members) = json, case .string(let identifier)? = members["requestIdentifier"] else {
                return .text(500, "")
            }
            return .json(Accepted(requestIdentifier: identifier))
        case .malformed(let words): return .json(Malformed(errorMessage: words), status: 400)
        case .refused(let faults): return .json(Refused(errors: faults), status: 400)
        }
    }

    func findExternalReport(_ identifier: String) async throws -> ServerAPIAnswer {
        guard let externalReports else { return .text(404, "Not Found\n") }
        guard let found = try await externalReports.externalReport(identifier) else {
            return .json(
                ExternalReportCheck.Fault(
                    errorCode: 2, errorMessage: "The report was not found.", fieldName: "requestIdentifier",
                    lineItemId: nil), status: 400)
        }
        return ServerAPIAnswer(
            status: 200, headers: ["Content-Type": "application/json"], body: Array(found.utf8))
    }
}
