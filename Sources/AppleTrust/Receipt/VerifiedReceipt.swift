/// An app receipt that Apple signed for a configured app in an accepted environment: what was bought until then.
///
/// Only `AppleVerifier` makes one. It is a snapshot of `creationDate`: later renewals and refunds are not in it, and
/// consumables leave it once the app has finished them. Times are milliseconds since 1970-01-01 UTC.
/// Source: Apple, Receipt Validation Programming Guide, "Receipt Fields".
public struct VerifiedReceipt: Sendable {
    /// Apple's receipt type: `Production`, `ProductionSandbox`, `ProductionVPP`, `ProductionVPPSandbox` …; nil where it
    /// is missing.
    public let type: String?
    public let environment: AppleEnvironment
    public let bundleID: String
    /// The app's numeric id in the App Store; 0 or nil outside of production.
    public let appItemID: Int64?
    public let downloadID: Int64?
    public let versionExternalID: Int64?
    public let applicationVersion: String?
    public let originalApplicationVersion: String?
    /// The time when Apple signed it.
    public let creationDate: Int64
    /// The time when the app itself was first bought.
    public let originalPurchaseDate: Int64?
    /// The time when a volume purchase ends.
    public let expirationDate: Int64?
    /// The purchases in the receipt's order.
    public let purchases: [VerifiedReceiptPurchase]
    /// The SHA-256 of the content that Apple signed.
    ///
    /// The digest identifies the receipt, because the envelope around the content is not signed and can be changed.
    public let contentDigest: [UInt8]
    /// True where an App Store in a box signed it.
    public let isFromBox: Bool

    init(_ receipt: AuthenticReceipt, for audience: Audience) throws(AppleRefusal) {
        let fields = receipt.attributes
        contentDigest = receipt.contentDigest
        isFromBox = receipt.isFromBox
        type = try fields.text(0)
        bundleID = try fields.name(2)
        appItemID = fields.optionalInteger(1)
        downloadID = fields.optionalInteger(15)
        versionExternalID = fields.optionalInteger(16)
        applicationVersion = fields.optionalText(3)
        originalApplicationVersion = fields.optionalText(19)
        creationDate = receipt.creationDate
        originalPurchaseDate = fields.optionalDate(18)
        expirationDate = fields.optionalDate(21)
        var purchases: [VerifiedReceiptPurchase] = []
        for value in fields.purchases {
            purchases.append(
                try VerifiedReceiptPurchase(try ReceiptAttributes(value, repeated: nil, within: .value)))
        }
        self.purchases = purchases
        try audience.checkApp(bundleID)
        environment = try Self.environment(of: type, in: audience)
    }

    /// The environment of a receipt's type: only `Production` and `ProductionVPP` are production.
    static func environment(of type: String?, in audience: Audience) throws(AppleRefusal) -> AppleEnvironment {
        let environment: AppleEnvironment =
            switch type {
            case "Production", "ProductionVPP": .production
            case "Xcode": .xcode
            default: .sandbox
            }
        return try audience.environment(environment.rawValue)
    }
}

/// A purchase of a receipt.
public struct VerifiedReceiptPurchase: Sendable {
    /// The kind of product, by attribute 1707, which Apple writes and does not document.
    public enum ProductType: Int64, Sendable {
        case nonConsumable, consumable, nonRenewing, autoRenewable
    }

    public let quantity: Int64
    public let productID: String
    public let transactionID: String
    /// The first transaction of the chain; the transaction's own id where Apple wrote none.
    public let originalTransactionID: String
    public let purchaseDate: Int64
    public let originalPurchaseDate: Int64?
    /// The end of a subscription's period.
    public let expiresDate: Int64?
    /// The time when Apple cancelled the purchase.
    public let cancellationDate: Int64?
    /// Apple's id of the subscription period; nil for other purchases.
    public let webOrderLineItemID: Int64?
    public let productType: ProductType?
    public let isTrial: Bool
    public let isIntroductory: Bool
    public let promotionalOfferID: String?

    init(_ fields: ReceiptAttributes) throws(AppleRefusal) {
        let quantity = fields.optionalInteger(1701) ?? 1
        self.quantity = (1...Int64(Int32.max)).contains(quantity) ? quantity : 1
        productID = try fields.name(1702)
        transactionID = try fields.id(1703)
        purchaseDate = try fields.requiredDate(1704)
        let original = try fields.text(1705) ?? ""
        originalTransactionID = original.isEmpty ? transactionID : try fields.id(1705)
        originalPurchaseDate = fields.optionalDate(1706)
        productType = fields.optionalInteger(1707).flatMap(ProductType.init)
        expiresDate = fields.optionalDate(1708)
        let lineItem = fields.optionalInteger(1711) ?? 0
        webOrderLineItemID = lineItem == 0 ? nil : lineItem
        // An unreadable time still states a cancellation, which is then dated to the purchase.
        cancellationDate = fields.optionalDate(1712) ?? (fields.hasDate(1712) ? purchaseDate : nil)
        isTrial = fields.optionalInteger(1713) == 1
        isIntroductory = fields.optionalInteger(1719) == 1
        promotionalOfferID = fields.optionalText(1721)
    }
}
