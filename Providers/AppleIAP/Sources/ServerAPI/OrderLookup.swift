package import AppleTrust
import FoundationEssentials

extension AppStoreServerAPI {
    private struct Answer: Decodable {
        let status: Int
        let signedTransactions: [SignedText]?
    }

    /// The transactions of the order whose id is on a customer's receipt (Look Up Order ID).
    ///
    /// Apple knows Production's orders only.
    ///
    /// - Returns: nothing where this app has no such order.
    package func order(
        _ id: String, in environment: AppleEnvironment = .production
    ) async throws(AppStoreServerError) -> [SignedText] {
        let request = AppStoreRequest(
            endpoint: .orderLookup, method: "GET", path: "inApps/v1/lookup/\(try AppStoreRequest.id(id, "order id"))")
        return try await ask(request, in: environment) { body throws(AppStoreAnswerDefect) in
            let answer = try Answer.read(body)
            guard answer.status == 0 else { return [] }
            guard let signed = answer.signedTransactions else {
                throw AppStoreAnswerDefect("signedTransactions is missing")
            }
            return signed
        }
    }
}
