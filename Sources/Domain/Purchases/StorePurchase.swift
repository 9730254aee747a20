/// A purchase that a store signed, verified: a transaction of the App Store.
///
/// Its times are the store's, in milliseconds since 1970, because the newest `signedAt` of one transaction wins.
public struct StorePurchase: Sendable, Equatable, Codable {
    /// Apple's `type`; an unknown one keeps its text.
    public enum Kind: Sendable, Equatable, Codable {
        case autoRenewable, nonRenewing, consumable, nonConsumable
        case unknown(String)
    }

    /// The store's revocation of a purchase or of a share of it.
    public struct Revocation: Sendable, Equatable, Codable {
        public let at: Int64
        public let reason: Int64?
        /// Thousandths of a percent of the price; nil means all of it.
        public let percentage: Int64?
        /// True where a family member lost access to a shared purchase; no money went back.
        ///
        /// nil, as earlier releases stored it, counts as false.
        public let endsSharing: Bool?

        public init(at: Int64, reason: Int64?, percentage: Int64?, endsSharing: Bool = false) {
            self.at = at
            self.reason = reason
            self.percentage = percentage
            self.endsSharing = endsSharing ? true : nil
        }
    }

    /// A receipt's statement that the store took a purchase back.
    public struct ReceiptRevocation: Sendable, Equatable, Codable {
        public let at: Int64
        /// The time when the receipt was signed.
        public let signedAt: Int64

        public init(at: Int64, signedAt: Int64) {
            self.at = at
            self.signedAt = signedAt
        }
    }

    public let environment: Environment
    public let bundleID: String
    public let productID: String
    public let transactionID: String
    public let originalTransactionID: String
    public let kind: Kind
    public internal(set) var purchasedAt: Int64
    public internal(set) var expiresAt: Int64?
    public let signedAt: Int64
    public let quantity: Int64
    /// Thousandths of a major unit, for the whole quantity; nil where the store signed no price.
    public internal(set) var priceMilliunits: Int64?
    public internal(set) var currency: Currency?
    /// The UUID that the app passed to StoreKit, in lower case.
    public let appAccountToken: String?
    public let isRenewal: Bool
    public internal(set) var isUpgraded: Bool
    public let isFamilyShared: Bool
    public internal(set) var revocation: Revocation?
    /// The offer that applied to this period.
    public var offer: StoreOffer?
    /// The end of a commitment that is billed by the month.
    public var commitmentEndsAt: Int64?
    /// The store's id of a subscription's period, the same for all transactions of it; nil for other purchases.
    public var webOrderLineItemID: String?
    /// The store's id of the customer's account in this app; nil where the store named none.
    public var appTransactionID: String?
    /// The receipt from which this was read; nil where the store signed the transaction itself.
    ///
    /// A receipt says less about a transaction than a signed transaction does, so the signed one counts, whenever it
    /// was signed; but a newer receipt can state a revocation.
    public var receipt: ReceiptDigest?
    /// The revocation that a receipt stated last; nil where none did.
    public var receiptRevocation: ReceiptRevocation?
    /// The end of the volume purchase whose receipt this was read from.
    public var receiptEndsAt: Int64?
    /// True where an App Store in a box sold it.
    ///
    /// nil, as earlier releases stored it, counts as false.
    public var box: Bool?

    public init(
        environment: Environment, bundleID: String, productID: String, transactionID: String,
        originalTransactionID: String, kind: Kind, purchasedAt: Int64, expiresAt: Int64?, signedAt: Int64,
        quantity: Int64,
        priceMilliunits: Int64?, currency: Currency?, appAccountToken: String?, isRenewal: Bool, isUpgraded: Bool,
        isFamilyShared: Bool, revocation: Revocation?
    ) {
        self.environment = environment
        self.bundleID = bundleID
        self.productID = productID
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.kind = kind
        self.purchasedAt = purchasedAt
        self.expiresAt = expiresAt
        self.signedAt = signedAt
        self.quantity = quantity
        self.priceMilliunits = priceMilliunits
        self.currency = currency
        self.appAccountToken = appAccountToken
        self.isRenewal = isRenewal
        self.isUpgraded = isUpgraded
        self.isFamilyShared = isFamilyShared
        self.revocation = revocation
    }
}

extension StorePurchase {
    /// True where an App Store in a box sold it: nobody paid, and in production it entitles nobody.
    package var isFromBox: Bool { box == true }

    package var purchased: Timestamp { Timestamp(purchasedAt.flooredSeconds) }
    package var expires: Timestamp? { expiresAt.map { Timestamp($0.flooredSeconds) } }

    /// The signed end, in milliseconds since 1970; nil where the SKU alone gives the length.
    package var endsAt: Int64? { [expiresAt, receiptEndsAt].compactMap { $0 }.min() }
    package var ends: Timestamp? { endsAt.map { Timestamp($0.flooredSeconds) } }

    /// True where this pays for a period of a subscription: by Apple's `type`, or, where that is unknown, because it
    /// has an end.
    package var isSubscription: Bool {
        switch kind {
        case .autoRenewable: true
        case .unknown: expiresAt != nil
        case .nonRenewing, .consumable, .nonConsumable: false
        }
    }

    /// The key that names this transaction: its id, except in Xcode.
    ///
    /// In Xcode ids repeat on every machine, so the claimant, the product and the time are part of the key, and no user
    /// gets another user's purchase.
    package func key(claimant: ID<User>?) -> String {
        environment == .xcode
            ? "\(claimant?.rawValue ?? "")/\(productID)/\(transactionID)/\(purchasedAt)" : transactionID
    }

    /// The signed price in minor units; nil where none was signed or it is no whole number of them.
    package var price: Money? {
        guard let priceMilliunits, let currency, priceMilliunits >= 0 else { return nil }
        let perMinor: Int64 = [0: 1_000, 1: 100, 2: 10, 3: 1][currency.minorDigits] ?? 10
        let (value, rest) = priceMilliunits.quotientAndRemainder(dividingBy: perMinor)
        return rest == 0 ? Money(value: value, currency: currency) : nil
    }

    /// The amount that this customer paid: the signed price, or 0 for a purchase that the family shares.
    package var charge: Money? {
        guard isFamilyShared else { return price }
        return currency.map { Money(value: 0, currency: $0) }
    }

    /// The share that the store took back, in thousandths of a percent: the whole where it names none; nil while the
    /// purchase stands.
    package var revokedShare: Int64? {
        revocation.map { revocation in
            guard revocation.endsSharing != true, let percentage = revocation.percentage,
                (0...Order.wholeShare).contains(percentage)
            else { return Order.wholeShare }
            return percentage
        }
    }

    /// True where the store took back all of it.
    package var isTakenBack: Bool { revokedShare == Order.wholeShare }

    /// True where money went back; false where a family member lost what they had not paid for.
    package var isRefunded: Bool { revocation != nil && !isFamilyShared && revocation?.endsSharing != true }

    package var revokedAt: Timestamp? { revocation.map { Timestamp($0.at.flooredSeconds) } }

    /// Returns the amount that the store gave back, in minor units of the charged amount.
    package func returned(of charged: Money?) -> Int64 {
        guard isRefunded, let charged, let revokedShare else { return 0 }
        let (product, overflow) = charged.value.multipliedReportingOverflow(by: revokedShare)
        return overflow ? charged.value : product / Order.wholeShare
    }

    /// The SKU kind that Apple's type calls for; nil for an unknown type.
    package var skuKind: SKU.Kind? {
        if isSubscription { return .subscription }
        return switch kind {
        case .autoRenewable: .subscription
        case .nonRenewing: .nonRenewing
        case .consumable: .consumable
        case .nonConsumable: .nonConsumable
        case .unknown: nil
        }
    }
}

extension SKU {
    /// Returns the kind as which a purchase of this SKU is treated: Apple's type decides, where it is known.
    package func kind(of purchase: StorePurchase) -> Kind { purchase.skuKind ?? kind }

    /// Returns whether the length of a purchase of this SKU is known.
    ///
    /// A pass of unknown length would be paid and give nothing: it waits until its SKU states a length, unless its
    /// store signed an end. A purchase of another kind than its SKU's is an anomaly instead.
    package func lasts(_ days: Int64?, as purchase: StorePurchase? = nil) -> Bool {
        days != nil || purchase?.endsAt != nil || kind != .nonRenewing
            || purchase.map(kind(of:)) ?? kind != .nonRenewing
    }
}

extension StorePurchase.Kind: RawRepresentable {
    /// Reads the text of Apple's `type`.
    public init(rawValue: String) {
        switch rawValue {
        case "Auto-Renewable Subscription": self = .autoRenewable
        case "Non-Renewing Subscription": self = .nonRenewing
        case "Consumable": self = .consumable
        case "Non-Consumable": self = .nonConsumable
        default: self = .unknown(rawValue)
        }
    }

    public var rawValue: String {
        switch self {
        case .autoRenewable: "Auto-Renewable Subscription"
        case .nonRenewing: "Non-Renewing Subscription"
        case .consumable: "Consumable"
        case .nonConsumable: "Non-Consumable"
        case .unknown(let text): text
        }
    }
}

/// The reason why a stored purchase has no grant yet.
package enum PurchaseWait: String, Sendable, CaseIterable {
    /// No SKU names its product.
    case unmapped
    /// No user has claimed it.
    case unclaimed
}

/// The subject of a store's statements: one original transaction of one environment.
package struct StoreSubject: Hashable, Sendable {
    package let environment: Environment
    package let original: String

    package init(_ purchase: StorePurchase) {
        environment = purchase.environment
        original = purchase.originalTransactionID
    }

    package init(_ renewal: StoreRenewal) {
        environment = renewal.environment
        original = renewal.originalTransactionID
    }

    package init(_ environment: Environment, _ original: String) {
        self.environment = environment
        self.original = original
    }
}

/// The offer under which a store sold a period: an introductory price, a trial, a code.
public struct StoreOffer: Hashable, Sendable, Codable {
    /// `introductory`, `promotional`, `offer_code` or `win_back`; for an unknown type, the store's number.
    public let type: String
    /// The offer's id or the code's name, where it has one.
    public let identifier: String?
    /// The offer's discount type, in Apple's words: `FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT`.
    public let discount: String?
    /// An ISO 8601 duration such as `P1M`.
    public let period: String?

    public init(type: String, identifier: String?, discount: String?, period: String?) {
        self.type = type
        self.identifier = identifier
        self.discount = discount
        self.period = period
    }
}
