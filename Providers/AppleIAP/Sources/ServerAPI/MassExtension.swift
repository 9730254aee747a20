package import AppleTrust
import FoundationEssentials

/// The progress of a mass extension.
package struct AppStoreMassExtension: Sendable, Equatable, Decodable {
    package let requestIdentifier: String
    package let complete: Bool
    /// In milliseconds since 1970.
    package let completeDate: Int64?
    package let succeededCount: Int64?
    package let failedCount: Int64?
}

extension AppStoreServerAPI {
    private struct Question: Encodable {
        let extendByDays: Int
        let extendReasonCode: Int
        let productId: String
        let requestIdentifier: String
        let storefrontCountryCodes: [String]?
    }

    private struct Accepted: Decodable {
        let requestIdentifier: String
    }

    /// Moves the renewal dates of all active subscribers of a product, after an outage.
    ///
    /// Apple works it off in its own time: RENEWAL_EXTENSION notifications and ``massExtension(_:product:in:)`` tell.
    ///
    /// - Parameter storefronts: only these countries (ISO 3166 alpha-3); empty means all.
    package func extendAll(
        product: String, by days: AppStoreExtension, storefronts: [String] = [], in environment: AppleEnvironment
    ) async throws(AppStoreServerError) {
        if let fault = days.fault { throw fault }
        guard !product.isEmpty else { throw .invalidRequest("the product id is empty") }
        let request = AppStoreRequest(
            endpoint: .massExtension, method: "POST", path: "inApps/v1/subscriptions/extend/mass",
            body: try AppStoreRequest.json(
                Question(
                    extendByDays: days.days, extendReasonCode: days.reason.rawValue, productId: product,
                    requestIdentifier: days.request, storefrontCountryCodes: storefronts.isEmpty ? nil : storefronts)),
            isRepeatable: false)
        _ = try await ask(request, in: environment) { body throws(AppStoreAnswerDefect) in try Accepted.read(body) }
    }

    /// The progress of a mass extension.
    package func massExtension(
        _ requestID: String, product: String, in environment: AppleEnvironment
    ) async throws(AppStoreServerError) -> AppStoreMassExtension {
        let product = try AppStoreRequest.id(product, "product id")
        let requestID = try AppStoreRequest.id(requestID, "request's id")
        let request = AppStoreRequest(
            endpoint: .massExtensionStatus, method: "GET",
            path: "inApps/v1/subscriptions/extend/mass/\(product)/\(requestID)")
        return try await ask(request, in: environment) { body throws(AppStoreAnswerDefect) in
            try AppStoreMassExtension.read(body)
        }
    }
}
