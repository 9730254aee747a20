import Encodings

/// The SHA-256 of a receipt's signed content, in lower-case hex; equal receipts in different envelopes have the same
/// digest.
public struct ReceiptDigest: Hashable, Sendable, Codable {
    public let rawValue: String

    /// - Returns: nil unless the text is 64 lower-case hex digits.
    public init?(_ text: String) {
        guard Hex.decoded(text, count: 32, .lower) != nil else { return nil }
        rawValue = text
    }

    /// - Parameter sha256: its 32 octets.
    public init(sha256: some Sequence<UInt8>) {
        rawValue = Hex.encoded(sha256)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let digest = ReceiptDigest(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no SHA-256")
        }
        self = digest
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// An app receipt that a store signed, verified: what one customer had bought in one app until then.
///
/// A snapshot: later renewals and refunds are not in it. Times are the store's, in milliseconds since 1970.
public struct StoreReceipt: Sendable, Equatable {
    /// A purchase, with the statements that only receipts make about it.
    public struct Entry: Sendable, Equatable {
        public let purchase: StorePurchase
        public let originalPurchasedAt: Int64?
        public let promotionalOfferID: String?
        /// The time of its cancellation, also where only an upgrade replaced it and nothing was taken back.
        public let cancelledAt: Int64?

        public init(
            purchase: StorePurchase, originalPurchasedAt: Int64?, promotionalOfferID: String?,
            cancelledAt: Int64? = nil
        ) {
            self.purchase = purchase
            self.originalPurchasedAt = originalPurchasedAt
            self.promotionalOfferID = promotionalOfferID
            self.cancelledAt = cancelledAt
        }
    }

    /// The receipt's statements about the app.
    public struct App: Sendable, Equatable {
        /// The store's name for the type of receipt, `ProductionSandbox`.
        public var type: String?
        public var itemID: Int64?
        public var downloadID: Int64?
        public var versionExternalID: Int64?
        public var version: String?
        public var originalVersion: String?
        /// The time when the app itself was bought.
        public var originalPurchasedAt: Int64?
        /// The time when a volume purchase ends.
        public var expiresAt: Int64?

        public init() {}
    }

    public let digest: ReceiptDigest
    public let environment: Environment
    public let bundleID: String
    public let app: App
    public let createdAt: Int64
    public let entries: [Entry]

    public init(
        digest: ReceiptDigest, environment: Environment, bundleID: String, app: App, createdAt: Int64, entries: [Entry]
    ) {
        self.digest = digest
        self.environment = environment
        self.bundleID = bundleID
        self.app = app
        self.createdAt = createdAt
        self.entries = entries
    }
}

extension StoreReceipt {
    package var subjects: Set<StoreSubject> { Set(entries.map { StoreSubject($0.purchase) }) }
}
