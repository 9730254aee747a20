import Domain
import Foundation
import Gateway
import HTTPTypes
import Metrics
import ProviderKit

/// Providers' notifications (`api.md` section 9); the token selects the account.
struct NotifyRoutes {
    let gateway: Gateway
    /// Notifications that did not verify, for each configured account.
    private let refusals: [AccountID: Counter]

    init(gateway: Gateway) {
        self.gateway = gateway
        refusals = Dictionary(
            gateway.registry.accounts.map { account in
                (
                    account.id,
                    Counter(
                        label: "paydesk_notifications_refused_total", dimensions: [("account", account.id.rawValue)])
                )
            }
        ) { first, _ in first }
    }

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
        let token = try call.parameter("token")
        let acknowledgement: Acknowledgement
        do throws(GatewayError) {
            acknowledgement = try await gateway.receiveNotification(token: token, notification)
        } catch {
            if error == .invalidNotification, let account = gateway.registry.account(notifyToken: token) {
                refusals[account.id]?.increment()
            }
            throw error
        }
        return .raw(
            status: HTTPResponse.Status(code: acknowledgement.status), contentType: acknowledgement.contentType,
            body: Data(acknowledgement.body.utf8), headers: [])
    }
}
