package import Domain
package import Foundation
import Synchronization

/// A transaction of the App Store to sign; times are milliseconds since 1970.
package struct AppleSale: Sendable {
    package static let pass = "Non-Renewing Subscription"
    package static let subscription = "Auto-Renewable Subscription"
    package static let consumable = "Consumable"
    package static let nonConsumable = "Non-Consumable"

    private static let number = Atomic<Int64>(2_000_000_000_000_000)

    package var product: String
    package var kind: String
    package var id: String
    /// The id of the first transaction; nil for this transaction's own id.
    package var original: String?
    package var purchased: Int64
    package var expires: Int64?
    /// The time of the signature; nil for the time of the purchase.
    package var signed: Int64?
    package var quantity: Int64?
    package var price: Int64?
    package var currency: String?
    package var token: String?
    package var isRenewal = false
    package var isUpgraded = false
    package var revoked: Int64?
    package var percentage: Int64?
    package var environment = "Production"
    /// The bundle id; nil for a payload that names no app, as very old ones do.
    package var bundle: String? = "com.example.app"
    /// Apple's id of the subscription's period.
    package var line: String?
    /// Further members of the payload.
    package var more: [String: JSONValue] = [:]

    /// Makes a new transaction, whose id no other transaction has.
    package init(
        _ product: String = "com.example.vip.month", _ kind: String = AppleSale.pass, at purchased: Timestamp,
        _ edit: (inout AppleSale) -> Void = { _ in }
    ) {
        self.product = product
        self.kind = kind
        self.purchased = purchased.rawValue * 1_000
        id = String(Self.number.add(1, ordering: .relaxed).newValue)
        edit(&self)
    }

    /// A copy of this transaction with changes.
    package func with(_ edit: (inout AppleSale) -> Void) -> AppleSale {
        var copy = self
        edit(&copy)
        return copy
    }

    /// This transaction as Apple signs it again.
    ///
    /// - Parameter seconds: the time since the purchase.
    package func signedAgain(after seconds: Int64, _ edit: (inout AppleSale) -> Void = { _ in }) -> AppleSale {
        with {
            $0.signed = purchased + seconds * 1_000
            edit(&$0)
        }
    }

    package var purchasedAt: Timestamp { Timestamp(purchased / 1_000) }

    package var jws: String { AppleTestCertificates.sign(payload, by: environment == "Xcode" ? .xcode : .store) }

    package var payload: Data {
        var fields: [String: JSONValue] = [
            "transactionId": .string(id), "originalTransactionId": .string(original ?? id),
            "productId": .string(product), "type": .string(kind),
            "purchaseDate": .integer(purchased), "originalPurchaseDate": .integer(purchased),
            "signedDate": .integer(signed ?? purchased), "environment": .string(environment),
            "inAppOwnershipType": .string("PURCHASED"),
            "transactionReason": .string(isRenewal ? "RENEWAL" : "PURCHASE"),
        ]
        fields["bundleId"] = bundle.map(JSONValue.string)
        fields["webOrderLineItemId"] = line.map(JSONValue.string)
        fields["expiresDate"] = expires.map(JSONValue.integer)
        fields["quantity"] = quantity.map(JSONValue.integer)
        fields["price"] = price.map(JSONValue.integer)
        fields["currency"] = currency.map(JSONValue.string)
        fields["appAccountToken"] = token.map(JSONValue.string)
        fields["revocationDate"] = revoked.map(JSONValue.integer)
        fields["revocationReason"] = revoked.map { _ in .integer(0) }
        fields["revocationPercentage"] = percentage.map(JSONValue.integer)
        if isUpgraded { fields["isUpgraded"] = .bool(true) }
        fields.merge(more) { $1 }
        return AppleTestCertificates.made { try JSONEncoder().encode(fields) }
    }

    /// The simulator's unsigned receipt of this transaction, as clients that post `receiptData` make it.
    package var simulatorReceipt: String {
        let date = Date(timeIntervalSince1970: Double(purchased) / 1_000).formatted(.iso8601)
        return Data(
            #"{"environment":"Xcode","transaction_id":"\#(id)","product_id":"\#(product)","purchase_date":"\#(date)"}"#
                .utf8
        ).base64EncodedString()
    }
}
