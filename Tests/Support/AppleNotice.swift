package import Domain
import Foundation
package import Gateway
package import ProviderKit

/// Apple's renewal information of a subscription, before it is signed; times are milliseconds since 1970.
package struct AppleRenewal: Sendable {
    package var original: String
    package var signed: Int64
    package var willRenew = true
    package var next: String?
    package var isInRetry = false
    package var graceEnds: Int64?
    package var environment = "Production"
    package var more: [String: JSONValue] = [:]

    package init(_ sale: AppleSale, signed: Int64? = nil, _ edit: (inout AppleRenewal) -> Void = { _ in }) {
        original = sale.original ?? sale.id
        self.signed = signed ?? sale.signed ?? sale.purchased
        next = sale.product
        environment = sale.environment
        edit(&self)
    }

    package var jws: String {
        var fields = more
        fields["originalTransactionId"] = .string(original)
        fields["autoRenewStatus"] = .integer(willRenew ? 1 : 0)
        fields["autoRenewProductId"] = next.map(JSONValue.string)
        fields["environment"] = .string(environment)
        fields["signedDate"] = .integer(signed)
        if isInRetry { fields["isInBillingRetryPeriod"] = .bool(true) }
        fields["gracePeriodExpiresDate"] = graceEnds.map(JSONValue.integer)
        return AppleTestCertificates.sign(AppleTestCertificates.made { try JSONEncoder().encode(fields) })
    }
}

/// An App Store Server Notification to sign.
package struct AppleNotice: Sendable {
    package static let appNumber: Int64 = 1_234_567_890

    package var type: String
    package var subtype: String?
    package var id: String
    package var signed: Int64
    package var transaction: String?
    package var renewal: String?
    package var status: Int64?
    package var environment = "Production"
    package var bundle = "com.example.app"
    package var appNumber: Int64? = AppleNotice.appNumber
    /// Members of the payload that take the place of `data`.
    package var top: [String: JSONValue]?
    package var signer = AppleTestCertificates.Signer.store

    package init(
        _ type: String, _ subtype: String? = nil, _ sale: AppleSale? = nil, _ renewal: AppleRenewal? = nil,
        status: Int64? = nil, at now: Timestamp, _ edit: (inout AppleNotice) -> Void = { _ in }
    ) {
        self.type = type
        self.subtype = subtype
        self.status = status
        id = UUID().uuidString.lowercased()
        signed = now.rawValue * 1_000
        transaction = sale?.jws
        self.renewal = renewal?.jws
        environment = sale?.environment ?? renewal?.environment ?? "Production"
        edit(&self)
    }

    package var payload: [String: JSONValue] {
        var data: [String: JSONValue] = ["bundleId": .string(bundle), "environment": .string(environment)]
        data["appAppleId"] = environment == "Production" ? appNumber.map(JSONValue.integer) : nil
        data["status"] = status.map(JSONValue.integer)
        data["signedTransactionInfo"] = transaction.map(JSONValue.string)
        data["signedRenewalInfo"] = renewal.map(JSONValue.string)
        var fields: [String: JSONValue] = [
            "notificationType": .string(type), "notificationUUID": .string(id), "version": .string("2.0"),
            "signedDate": .integer(signed),
        ]
        fields["subtype"] = subtype.map(JSONValue.string)
        fields.merge(top ?? ["data": .object(data)]) { $1 }
        return fields
    }

    package var signedPayload: String {
        AppleTestCertificates.sign(AppleTestCertificates.made { try JSONEncoder().encode(payload) }, by: signer)
    }

    package var raw: RawNotification {
        RawNotification(
            method: .post, headers: [(name: "content-type", value: "application/json")],
            body: Data(#"{"signedPayload":"\#(signedPayload)"}"#.utf8))
    }
}

extension AppStoreGatewayFixture {
    package static let notifyToken = "apple-iap-notify"

    /// Delivers a notification in the same way as Apple.
    @discardableResult
    package func notify(_ notice: AppleNotice) async throws -> Acknowledgement {
        desk.clock.tick()
        return try await gateway.notifications.receive(token: Self.notifyToken, notice.raw)
    }

    package func subscriptions(_ user: String = "alice") async throws -> [SubscriptionSnapshot] {
        try await gateway.subscriptions.list(user: GatewayFixture.user(user), cursor: nil, limit: 50).items
    }
}
