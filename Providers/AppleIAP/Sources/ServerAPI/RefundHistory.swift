extension AppStoreServerAPI {
    /// The refunded transactions of the customer who made this one (Get Refund History v2).
    ///
    /// - Parameter revision: the last page's `cursor` of another day.
    package func refunds(
        of id: String, after revision: String? = nil, in place: AppStoreSearch = .anywhere
    ) -> AppStorePages<SignedText> {
        AppStorePages(from: revision, in: place) { cursor, place throws(AppStoreServerError) in
            var request = AppStoreRequest(
                endpoint: .refundHistory, method: "GET",
                path: "inApps/v2/refund/lookup/\(try AppStoreRequest.id(id, "transaction id"))")
            if let cursor { request.query.append((name: "revision", value: cursor)) }
            return try await signedPage(request, in: place)
        }
    }
}
