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
        endpoints(of: nil) + gateway.registry.notifyingKinds.flatMap { endpoints(of: $0) }
    }

    /// - Parameter kind: stands before the token, for people who read their provider's console; nil for the short address.
    private func endpoints(of kind: String?) -> [Endpoint] {
        let path = kind.map { "/v1/notify/\($0)/{token}" } ?? "/v1/notify/{token}"
        let admit: @Sendable ([String: String]) throws(GatewayError) -> Void = { parameters throws(GatewayError) in
            try knows(parameters, kind)
        }
        return [
            Endpoint(.post, path, .anyone, bodyLimit: Self.bodyLimit, idempotency: .ignored, admit: admit) {
                (call) async throws(GatewayError) in
                try await receive(call, .post)
            },
            Endpoint(.get, path, .anyone, bodyLimit: Self.bodyLimit, admit: admit) {
                (call) async throws(GatewayError) in
                try await receive(call, .get)
            },
        ]
    }

    /// An unknown token, and a kind that is not its account's, are refused before anything of the body is read.
    private func knows(_ parameters: [String: String], _ kind: String?) throws(GatewayError) {
        guard let token = parameters["token"], let account = gateway.registry.account(notifyToken: token),
            kind ?? account.manifest.kind == account.manifest.kind
        else { throw .notFound }
    }

    private func receive(
        _ call: Call, _ method: ProviderManifest.NotificationMethod
    ) async throws(GatewayError) -> Answer {
        let headers = call.request.headerFields.map { (name: $0.name.canonicalName, value: $0.value) }
        let notification = RawNotification(method: method, query: call.queryText, headers: headers, body: call.body)
        let acknowledgement = try await gateway.notifications.receive(
            token: call.parameter("token"), notification, from: call.from.address(call.request.headerFields))
        return .raw(
            status: HTTPResponse.Status(code: acknowledgement.status), contentType: acknowledgement.contentType,
            body: Data(acknowledgement.body.utf8), headers: [])
    }
}
