import FoundationEssentials

extension AppStoreServerAPI {
    private struct Answer: Decodable {
        let signedTransactionInfo: SignedText
    }

    /// A transaction of any product, by its id (Get Transaction Info).
    package func transaction(
        _ id: String, in place: AppStoreSearch = .anywhere
    ) async throws(AppStoreServerError) -> AppStoreAnswer<SignedText> {
        let request = try Self.transactionRequest(id)
        return try await find(place) { environment throws(AppStoreServerError) in
            try await ask(request, in: environment) { body throws(AppStoreAnswerDefect) in
                try Answer.read(body).signedTransactionInfo
            }
        }
    }

    static func transactionRequest(_ id: String) throws(AppStoreServerError) -> AppStoreRequest {
        AppStoreRequest(
            endpoint: .transaction, method: "GET",
            path: "inApps/v1/transactions/\(try AppStoreRequest.id(id, "transaction id"))")
    }
}
