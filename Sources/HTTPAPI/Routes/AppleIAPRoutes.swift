import Domain
import Gateway
import HTTPTypes
import ProviderKit

/// App Store purchases: attach, restore, status (`api.md` section 6).
struct AppleIAPRoutes {
    let gateway: Gateway

    private static let restoreLimit = 200

    var endpoints: [Endpoint] {
        [
            Endpoint(.post, "/v1/public/iap/apple/transactions/attach", .user, handle: attach),
            Endpoint(.post, "/v1/public/iap/apple/restore", .user, bodyLimit: 2 << 20, handle: restore),
            Endpoint(.get, "/v1/public/iap/apple/status", .user, handle: status),
        ]
    }

    private func attach(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(AttachFields.self)
        let fallback = fields.subscribe_id.map {
            PurchaseFallback(durationDays: fields.duration_days, subscribeID: $0)
        }
        let attached = try await gateway.purchases.attach(
            .signedTransaction(fields.signed_transaction_jws), fallback: fallback,
            consent: fields.consumption_consent, user: call.user, context: call.context)
        return try .json(attached)
    }

    private func restore(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(RestoreFields.self)
        guard fields.transactions.count <= Self.restoreLimit else {
            throw .invalidRequest(field: "transactions", reason: "at most \(Self.restoreLimit)")
        }
        // One signature of these is paid with the request itself.
        try call.charge(Int64(max(0, fields.transactions.count - 1)))
        let items = try await gateway.purchases.restore(fields.transactions, user: call.user, context: call.context)
        return try .json(RestoreView(items.map(RestoredLine.init)))
    }

    private func status(_ call: Call) async throws(GatewayError) -> Answer {
        .data(try await gateway.entitlements.purchaseStatus(user: call.user).json)
    }
}

private struct AttachFields: Decodable {
    let signed_transaction_jws: String
    let duration_days: Int64?
    let subscribe_id: Int64?
    let tier: String?
    let consumption_consent: Bool?
}

private struct RestoreFields: Decodable {
    let transactions: [String]
}

private struct RestoreView: Encodable {
    let success: Bool
    let restored: Int
    let results: [RestoredLine]

    init(_ results: [RestoredLine]) {
        success = !results.contains { $0.status == .rejected }
        restored = results.count { $0.status != .rejected }
        self.results = results
    }
}

private struct RestoredLine: Encodable {
    let index: Int
    let status: RestoredItem.Status
    let error: String?
    let reason: String?

    init(_ item: RestoredItem) {
        let refusal = item.refusal.map(ErrorReply.init)
        index = item.index
        status = item.status
        error = refusal?.id
        reason = if case .string(let reason)? = refusal?.details["reason"] { reason } else { nil }
    }
}
