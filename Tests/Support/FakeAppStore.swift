import Crypto
import Domain
import Foundation
package import ProviderKit
import Synchronization

/// The calls of Apple's server API that a sync uses, for one customer, in pages of 20.
package final class FakeAppStore: HTTPTransport {
    private struct State {
        var sales: [AppleSale] = []
        var renewals: [String: (AppleRenewal, status: Int64)] = [:]
        var notices: [AppleNotice] = []
        var script: [Result<IncomingReply, HTTPTransportError>] = []
        var requests: [OutgoingRequest] = []
        var knowsNothing = false
        var refusedApps: Set<String> = []
    }

    private static let page = 20
    private let state = Mutex(State())

    package init() {}

    /// The `api` settings of an account that fit this store.
    package static let settings = SettingValue.object([
        "key_id": .text("ABC123DEFG"), "issuer_id": .text("57246542-96fe-1a63-e053-0824d011072a"),
        "private_key": .text(P256.Signing.PrivateKey().pemRepresentation),
    ])

    package var requests: [OutgoingRequest] { state.withLock { $0.requests } }

    /// Adds answers that are given before all others.
    package func script(_ answers: Result<IncomingReply, HTTPTransportError>...) {
        state.withLock { $0.script += answers }
    }

    package func script(_ body: String, status: Int = 200) {
        script(.success(IncomingReply(status: status, body: Data(body.utf8))))
    }

    package var knowsNothing: Bool {
        get { state.withLock { $0.knowsNothing } }
        set { state.withLock { $0.knowsNothing = newValue } }
    }

    /// The bundle ids of apps that Apple refuses, as it does before an app's first release.
    package var refusedApps: Set<String> {
        get { state.withLock { $0.refusedApps } }
        set { state.withLock { $0.refusedApps = newValue } }
    }

    package func add(_ sale: AppleSale, _ renewal: AppleRenewal? = nil, status: Int64 = 1) {
        state.withLock { state in
            state.sales.append(sale)
            if let renewal { state.renewals[renewal.original] = (renewal, status) }
        }
    }

    package func add(_ notice: AppleNotice) { state.withLock { $0.notices.append(notice) } }

    package func send(_ request: OutgoingRequest) async throws(HTTPTransportError) -> IncomingReply {
        let answer = state.withLock { state -> Result<IncomingReply, HTTPTransportError> in
            state.requests.append(request)
            if !state.script.isEmpty { return state.script.removeFirst() }
            return .success(Self.answer(request, state))
        }
        return try answer.get()
    }

    private static func answer(_ request: OutgoingRequest, _ state: State) -> IncomingReply {
        guard let url = URLComponents(string: request.url) else { return IncomingReply(status: 400) }
        let app = app(request)
        guard !state.refusedApps.contains(app) else { return IncomingReply(status: 401) }
        let query = Dictionary((url.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { $1 }
        let words = url.path.split(separator: "/").map(String.init)
        switch words.dropFirst().joined(separator: "/") {
        case "v1/notifications/history": return notifications(request, query, state, of: app)
        case _ where state.knowsNothing: return json(["errorCode": .integer(4_040_010)], status: 404)
        case let path where path.hasPrefix("v1/subscriptions/"): return statuses(words.last ?? "", state)
        case let path where path.hasPrefix("v2/history/"): return history(query, state)
        case let path where path.hasPrefix("v2/refund/lookup/"): return refunds(state)
        case let path where path.hasPrefix("v1/transactions/"): return transaction(words.last ?? "", state)
        default: return IncomingReply(status: 404)
        }
    }

    /// The bundle id that the caller's token names.
    private static func app(_ request: OutgoingRequest) -> String {
        struct Claims: Decodable { let bid: String }
        let token = request.headers.first { $0.name.lowercased() == "authorization" }?.value ?? ""
        let parts = token.split(separator: ".")
        let claims = parts.count == 3 ? Base64URL.decoded(parts[1]) : nil
        return claims.flatMap { try? JSONDecoder().decode(Claims.self, from: Data($0)) }?.bid ?? ""
    }

    private static func statuses(_ id: String, _ state: State) -> IncomingReply {
        let subscriptions = Dictionary(grouping: state.sales.filter { $0.expires != nil }) { $0.original ?? $0.id }
        guard state.sales.contains(where: { $0.id == id }) else {
            return json(["errorCode": .integer(4_040_010)], status: 404)
        }
        let last = subscriptions.compactMap { original, sales -> JSONValue? in
            guard let newest = sales.max(by: { $0.purchased < $1.purchased }) else { return nil }
            var fields: [String: JSONValue] = [
                "originalTransactionId": .string(original), "signedTransactionInfo": .string(newest.jws),
                "status": .integer(state.renewals[original]?.status ?? 1),
            ]
            fields["signedRenewalInfo"] = state.renewals[original].map { .string($0.0.jws) }
            return .object(fields)
        }
        let group: JSONValue = .object(["subscriptionGroupIdentifier": .string("1"), "lastTransactions": .array(last)])
        return json(["environment": .string("Production"), "data": .array([group])])
    }

    private static func transaction(_ id: String, _ state: State) -> IncomingReply {
        guard let sale = state.sales.last(where: { $0.id == id }) else {
            return json(["errorCode": .integer(4_040_010)], status: 404)
        }
        return json(["signedTransactionInfo": .string(sale.jws)])
    }

    private static func refunds(_ state: State) -> IncomingReply {
        let refunded = state.sales.filter { $0.revoked != nil }.map { JSONValue.string($0.jws) }
        return json(["revision": .string("1"), "hasMore": .bool(false), "signedTransactions": .array(refunded)])
    }

    private static func history(_ query: [String: String], _ state: State) -> IncomingReply {
        let start = min(query["revision"].flatMap(Int.init) ?? 0, state.sales.count)
        let end = min(start + page, state.sales.count)
        return json([
            "revision": .string("\(end)"), "hasMore": .bool(end < state.sales.count),
            "signedTransactions": .array(state.sales[start..<end].map { .string($0.jws) }),
        ])
    }

    private static func notifications(
        _ request: OutgoingRequest, _ query: [String: String], _ state: State, of app: String
    ) -> IncomingReply {
        struct Question: Decodable {
            let startDate: Int64
            let endDate: Int64
        }
        guard let question = try? JSONDecoder().decode(Question.self, from: request.body) else {
            return IncomingReply(status: 400)
        }
        let environment = request.url.contains("sandbox") ? "Sandbox" : "Production"
        let sent = state.notices.filter {
            $0.bundle == app && $0.environment == environment
                && (question.startDate..<question.endDate).contains($0.signed)
        }
        let start = min(query["paginationToken"].flatMap(Int.init) ?? 0, sent.count)
        let end = min(start + page, sent.count)
        var fields: [String: JSONValue] = [
            "hasMore": .bool(end < sent.count),
            "notificationHistory": .array(
                sent[start..<end].map { .object(["signedPayload": .string($0.signedPayload)]) }),
        ]
        if end < sent.count { fields["paginationToken"] = .string("\(end)") }
        return json(fields)
    }

    private static func json(_ fields: [String: JSONValue], status: Int = 200) -> IncomingReply {
        IncomingReply(status: status, body: AppleTestCertificates.made { try JSONEncoder().encode(fields) })
    }
}
