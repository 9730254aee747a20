import Domain
import Foundation
import Gateway
import HTTPTypes
import ProviderKit

/// Providers' notifications (`api.md` section 9); the token selects the account.
struct NotifyRoutes {
    let gateway: Gateway

    private static let bodyLimit = 2 << 20

    var endpoints: [Endpoint] {
        [
            Endpoint(
                .post, "/v1/notify/{token}", .anyone, bodyLimit: Self.bodyLimit, idempotency: .ignored, admit: knows
            ) {
                (call) async throws(GatewayError) in
                try await receive(call, .post)
            },
            Endpoint(.get, "/v1/notify/{token}", .anyone, bodyLimit: Self.bodyLimit, admit: knows) {
                (call) async throws(GatewayError) in
                try await receive(call, .get)
            },
        ]
    }

    /// An unknown token is refused before anything of the body is read.
    private func knows(_ parameters: [String: String]) throws(GatewayError) {
        guard let token = parameters["token"], gateway.registry.account(notifyToken: token) != nil else {
            throw .notFound
        }
    }

    private func receive(
        _ call: Call, _ method: ProviderManifest.NotificationMethod
    ) async throws(GatewayError) -> Answer {
        let headers = call.request.headerFields.map { (name: $0.name.canonicalName, value: $0.value) }
        let notification = RawNotification(method: method, query: call.queryText, headers: headers, body: call.body)
        let acknowledgement = try await gateway.receiveNotification(token: call.parameter("token"), notification)
        return .raw(
            status: HTTPResponse.Status(code: acknowledgement.status), contentType: acknowledgement.contentType,
            body: Data(acknowledgement.body.utf8), headers: [])
    }
}
