import Domain
import Foundation
import Gateway
import HTTPTypes
import ProviderKit

/// Routes of providers' notifications (`docs/api.md` section 9); the token selects the account.
struct NotifyRoutes {
    let gateway: Gateway

    private static let bodyLimit = 2 << 20
    private static let acknowledgement = Route.Outcome.other(
        "text/plain", "The provider's own acknowledgement, `success` or what else it waits for.")
    private static let emptyAcknowledgement = [
        Route.Other(status: 204, note: "The acknowledgement of a provider that waits for no body.")
    ]

    var routes: [Route] { routes(of: nil) + gateway.registry.notifyingKinds.flatMap { routes(of: $0) } }

    /// - Parameter kind: a part of the path before the token, for people who read their provider's console; nil for the
    ///   short path.
    private func routes(of kind: String?) -> [Route] {
        let path = kind.map { "/v1/notify/\($0)/{token}" } ?? "/v1/notify/{token}"
        let (suffix, tag) = (kind.map { "_\($0)" } ?? "", kind == nil ? Route.Tag.notifications : .notificationsByKind)
        let admit: @Sendable ([String: String]) throws(GatewayError) -> Void = { parameters throws(GatewayError) in
            try knows(parameters, kind)
        }
        let token = ["token": "The account's own random token."]
        let refusals: [ErrorID] = [.notFound, .invalidNotification, .rateLimited]
        return [
            Route(
                "receiveNotification\(suffix)", .post, path, .anyone, tag,
                kind == nil ? "Takes a provider's notification" : "Takes a notification of a provider of this kind",
                note: kind == nil
                    ? "Acknowledged once it is stored; a repetition is acknowledged again and changes nothing." : nil,
                parameters: token, body: .other("As the provider sends it, at most 2 MiB."), bodyLimit: Self.bodyLimit,
                answers: Self.acknowledgement, or: Self.emptyAcknowledgement, refuses: refusals, idempotency: .ignored,
                admit: admit
            ) { (call) async throws(GatewayError) in try await receive(call, .post) },
            Route(
                "receiveNotificationInQuery\(suffix)", .get, path, .anyone, tag,
                kind == nil
                    ? "Takes a notification that is in the query"
                    : "Takes a notification of a provider of this kind that is in the query",
                note: kind == nil
                    ? "Only for the kinds of providers that send them so; for the others it is `not_found`." : nil,
                parameters: token, bodyLimit: Self.bodyLimit, answers: Self.acknowledgement,
                or: Self.emptyAcknowledgement, refuses: refusals, admit: admit
            ) { (call) async throws(GatewayError) in try await receive(call, .get) },
        ]
    }

    /// Throws `notFound` for an unknown token and for another kind than its account's, before anything of the body is
    /// read.
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
