import FoundationEssentials

extension AppStoreServerAPI {
    private struct Question: Encodable {
        let appAccountToken: String
    }

    /// Binds a purchase that was made outside the app to a user, or mends its binding (Set App Account Token).
    ///
    /// - Parameter original: the id of an original transaction, not of a renewal.
    package func setAppAccountToken(
        _ token: String, original id: String, in place: AppStoreSearch = .anywhere
    ) async throws(AppStoreServerError) {
        guard let uuid = UUID(uuidString: token) else { throw .invalidRequest("the app account token is no UUID") }
        let original = try AppStoreRequest.id(id, "transaction id")
        let request = AppStoreRequest(
            endpoint: .appAccountToken, method: "PUT", path: "inApps/v1/transactions/\(original)/appAccountToken",
            body: try AppStoreRequest.json(Question(appAccountToken: uuid.uuidString.lowercased())))
        _ = try await find(place) { environment throws(AppStoreServerError) in
            try await ask(request, in: environment) { _ in true }
        }
    }
}
