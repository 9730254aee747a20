import Domain
import FoundationEssentials
import SwiftASN1

/// The signed content of an app receipt: a SET of attributes, each a type, a version and a value.
///
/// Times are milliseconds since 1970-01-01 UTC. Source: Apple, Receipt Validation Programming Guide, "Receipt Fields".
struct ReceiptContent {
    /// A purchase of the receipt (attribute 17).
    struct Purchase {
        /// Apple's undocumented product type (attribute 1707).
        enum Kind: Int {
            case nonConsumable, consumable, nonRenewing, autoRenewable
        }

        let kind: Kind
        let quantity: Int64
        let productID: String
        let transactionID: String
        let originalTransactionID: String
        let purchasedAt: Int64
        let originallyPurchasedAt: Int64
        let expiresAt: Int64?
        /// Apple's id of the subscription's period; 0 for other purchases.
        let lineItem: Int64
        let cancelledAt: Int64?
        let isTrial: Bool
        let isIntroductory: Bool
        let promotionalOfferID: String?
    }

    let bundleID: String
    let createdAt: Int64
    let purchases: [Purchase]

    /// The content as DER.
    func encoded() throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .set) { set in
            try set.attribute(0) { try $0.serialize(ASN1UTF8String("ProductionSandbox")) }
            try set.attribute(1) { try $0.serialize(0) }
            try set.attribute(2) { try $0.serialize(ASN1UTF8String(bundleID)) }
            try set.attribute(3) { try $0.serialize(ASN1UTF8String("1")) }
            try set.attribute(12) { try $0.serialize(Self.date(createdAt)) }
            try set.attribute(18) { try $0.serialize(Self.date(Self.sandboxInstallation)) }
            try set.attribute(19) { try $0.serialize(ASN1UTF8String("1.0")) }
            for purchase in purchases { try set.attribute(17) { try Self.append(purchase, to: &$0) } }
        }
        return serializer.serializedBytes
    }

    /// 2013-08-01 07:00 UTC: the time that Apple's sandbox says for every app's own purchase.
    static let sandboxInstallation: Int64 = 1_375_340_400_000

    private static func append(_ purchase: Purchase, to serializer: inout DER.Serializer) throws {
        try serializer.appendConstructedNode(identifier: .set) { set in
            try set.attribute(1701) { try $0.serialize(purchase.quantity) }
            try set.attribute(1702) { try $0.serialize(ASN1UTF8String(purchase.productID)) }
            try set.attribute(1703) { try $0.serialize(ASN1UTF8String(purchase.transactionID)) }
            try set.attribute(1704) { try $0.serialize(date(purchase.purchasedAt)) }
            try set.attribute(1705) { try $0.serialize(ASN1UTF8String(purchase.originalTransactionID)) }
            try set.attribute(1706) { try $0.serialize(date(purchase.originallyPurchasedAt)) }
            try set.attribute(1707) { try $0.serialize(purchase.kind.rawValue) }
            try set.attribute(1708) { try $0.serialize(date(purchase.expiresAt)) }
            try set.attribute(1711) { try $0.serialize(purchase.lineItem) }
            try set.attribute(1712) { try $0.serialize(date(purchase.cancelledAt)) }
            try set.attribute(1713) { try $0.serialize(purchase.isTrial ? 1 : 0) }
            try set.attribute(1719) { try $0.serialize(purchase.isIntroductory ? 1 : 0) }
            if let offer = purchase.promotionalOfferID {
                try set.attribute(1721) { try $0.serialize(ASN1UTF8String(offer)) }
            }
        }
    }

    /// A time as RFC 3339 in whole seconds; an absent one is empty text, as Apple writes it.
    private static func date(_ milliseconds: Int64?) throws -> ASN1IA5String {
        guard let milliseconds else { return ASN1IA5String("") }
        let time = Date(timeIntervalSince1970: Double(milliseconds.flooredSeconds))
        return try ASN1IA5String(time.formatted(.iso8601))
    }
}

extension ReceiptContent.Purchase {
    init(_ row: BoxTransaction) {
        kind =
            switch row.kind {
            case .nonConsumable: .nonConsumable
            case .consumable: .consumable
            case .nonRenewing: .nonRenewing
            case .subscription: .autoRenewable
            }
        quantity = row.quantity
        productID = row.productID
        transactionID = row.transactionID
        originalTransactionID = row.originalTransactionID
        purchasedAt = row.purchasedAt
        originallyPurchasedAt = row.originalPurchasedAt
        expiresAt = row.expiresAt
        lineItem = row.webOrderLineItemID.flatMap { Int64($0) } ?? 0
        cancelledAt = row.cancelledAt
        isTrial = row.isTrial
        isIntroductory = row.isIntroductory
        promotionalOfferID = row.promotionalOfferID
    }
}

// Facts that receipts state in their own way.
extension BoxTransaction {
    /// The time of the refund, or of the upgrade that replaced it.
    var cancelledAt: Int64? { revocation?.at ?? (isUpgraded ? signedAt : nil) }
    var isTrial: Bool { offer?.discount == .freeTrial }
    /// An introductory offer that is paid; a trial has its own flag.
    var isIntroductory: Bool { offer?.type == .introductory && !isTrial }
    var promotionalOfferID: String? { offer?.type == .promotional ? offer?.identifier : nil }
}

extension DER.Serializer {
    /// Appends `SEQUENCE { type, version, OCTET STRING }` around a value of DER.
    fileprivate mutating func attribute(_ type: Int, _ value: (inout DER.Serializer) throws -> Void) throws {
        var inner = DER.Serializer()
        try value(&inner)
        try appendConstructedNode(identifier: .sequence) { sequence in
            try sequence.serialize(type)
            try sequence.serialize(1)
            try sequence.serialize(ASN1OctetString(contentBytes: inner.serializedBytes[...]))
        }
    }
}
