import Domain
import Gateway
import HTTPTypes

/// What admins do to store purchases by hand (`api.md` section 11).
struct PurchaseRoutes {
    let gateway: Gateway

    var endpoints: [Endpoint] {
        [
            Endpoint(
                .post, "/v1/admin/purchases/{original_transaction_id}/transfer", .key([.admin]), handle: transfer)
        ]
    }

    private func transfer(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(TransferFields.self)
        let original = try call.parameter("original_transaction_id")
        // Text that no store signs and no database keeps.
        guard (1...128).contains(original.utf8.count), original.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) else {
            throw .unknown(.purchase, original)
        }
        let transferred = try await gateway.purchases.transfer(
            original, to: UserName.parse(fields.user_id), environment: fields.place(), context: call.context)
        return try .json(transferred)
    }
}

private struct TransferFields: Decodable {
    let user_id: String
    let environment: String?

    func place() throws(GatewayError) -> Environment? {
        guard let environment else { return nil }
        // In Xcode ids repeat on every machine, and nothing belongs to anybody.
        guard let place = Environment(rawValue: environment), place != .xcode else {
            throw .invalidRequest(
                field: "environment", reason: .words([Environment.production, .sandbox].map(\.rawValue)))
        }
        return place
    }
}
