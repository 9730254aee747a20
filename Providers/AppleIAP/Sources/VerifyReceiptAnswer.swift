import Domain
import FoundationEssentials
import ProviderKit

/// The parts of verifyReceipt's answer that state the purchases.
///
/// Apple writes almost every number as text, some as either. Source: Apple, verifyReceipt, responseBody.
struct VerifyReceiptAnswer: Decodable {
    /// The largest number of purchases in an answer; a customer has a few hundred.
    private static let limit = 4_096

    let status: Int64
    let isRetryable: Bool
    let bundleID: String
    private let requestedAt: Int64?
    /// The purchases, the newest list first: `latest_receipt_info` exists only with a renewable product.
    private let latest: [Row]
    private let pending: [Row]

    private enum CodingKeys: String, CodingKey {
        case status, receipt, latest = "latest_receipt_info", pending = "pending_renewal_info"
        case retryable = "is-retryable"
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        guard let status = try fields.decode(Scalar.self, forKey: .status).integer else {
            throw DecodingError.dataCorruptedError(forKey: .status, in: fields, debugDescription: "no status")
        }
        self.status = status
        isRetryable = try fields.decodeIfPresent(Scalar.self, forKey: .retryable)?.flag ?? false
        // A value that is no object counts as absent; without the app's id the answer belongs to no receipt.
        let receipt = try? fields.decodeIfPresent(Row.self, forKey: .receipt)
        bundleID = receipt?.text("bundle_id") ?? ""
        requestedAt = receipt?.date("request_date_ms")
        let inApp = (try? fields.decodeIfPresent(InApp.self, forKey: .receipt))?.in_app ?? []
        latest = Self.rows(fields, .latest) + inApp.compactMap(\.value)
        pending = Self.rows(fields, .pending)
    }

    private struct InApp: Decodable {
        let in_app: [Lenient<Row>]?
    }

    private static func rows(_ fields: KeyedDecodingContainer<CodingKeys>, _ key: CodingKeys) -> [Row] {
        ((try? fields.decodeIfPresent([Lenient<Row>].self, forKey: key)) ?? []).compactMap(\.value)
    }

    /// - Parameter now: the time of the answer where Apple did not state it.
    func storeAnswer(to receipt: StoreReceipt, now: Int64) -> StoreAnswer {
        let at = requestedAt ?? now
        var seen: Set<String> = []
        let rows = latest.prefix(Self.limit).filter { row in
            row.text("transaction_id").map { seen.insert($0).inserted } ?? true
        }
        var items = rows.compactMap { row in
            row.purchase(of: receipt, at: at).map {
                StoreAnswer.Item(statement: StoreStatement(purchase: $0, renewal: nil), evidence: nil)
            }
        }
        let refused = rows.count - items.count
        items += pending.prefix(Self.limit).compactMap { row in
            row.renewal(in: receipt.environment, at: at).map {
                StoreAnswer.Item(statement: StoreStatement(purchase: nil, renewal: $0), evidence: nil)
            }
        }
        return StoreAnswer(
            items: items, refused: refused, cursor: nil, isWhole: latest.count <= Self.limit)
    }
}

/// A number, a text or a boolean; other values count as absent.
private struct Scalar: Decodable {
    let text: String?

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self.text = text
        } else if let number = try? container.decode(Int64.self) {
            text = String(number)
        } else if let flag = try? container.decode(Bool.self) {
            text = flag ? "true" : "false"
        } else {
            text = nil
        }
    }

    var integer: Int64? { text.flatMap { Int64($0) } }
    var flag: Bool { text == "true" || text == "1" }
}

/// The scalar fields of an object.
private struct Row: Decodable {
    private let fields: [String: Scalar]

    init(from decoder: any Decoder) throws {
        fields = try decoder.singleValueContainer().decode([String: Scalar].self)
    }

    /// Returns text without control characters, which Apple's never has; empty text counts as absent.
    func text(_ name: String) -> String? {
        fields[name]?.text.flatMap { text in
            text.isEmpty || text.utf8.contains { $0 < 0x20 || $0 == 0x7F } ? nil : text
        }
    }

    func integer(_ name: String) -> Int64? { fields[name]?.integer }

    /// Returns milliseconds since 1970, in the years 1970 to 9999.
    func date(_ name: String) -> Int64? {
        integer(name).flatMap { (0...253_402_300_799_999).contains($0) ? $0 : nil }
    }

    /// Returns an id of Apple's, text of at most 64 bytes.
    func id(_ name: String) -> String? { text(name).flatMap { $0.utf8.count <= 64 ? $0 : nil } }

    /// Returns a UUID in lower case.
    func uuid(_ name: String) -> String? {
        text(name).flatMap(UUID.init(uuidString:)).map { $0.uuidString.lowercased() }
    }

    func flag(_ name: String) -> Bool { fields[name]?.flag ?? false }

    func purchase(of receipt: StoreReceipt, at: Int64) -> StorePurchase? {
        guard let product = text("product_id"), product.utf8.count <= 255, let id = id("transaction_id"),
            let purchasedAt = date("purchase_date_ms")
        else { return nil }
        let original = self.id("original_transaction_id") ?? id
        let expiresAt = date("expires_date_ms")
        let named = integer("quantity") ?? 1
        let quantity = (1...Int64(Int32.max)).contains(named) ? named : 1
        var purchase = StorePurchase(
            environment: receipt.environment, bundleID: receipt.bundleID, productID: product, transactionID: id,
            originalTransactionID: original, kind: expiresAt == nil ? .unknown("") : .autoRenewable,
            purchasedAt: purchasedAt, expiresAt: expiresAt, signedAt: at, quantity: quantity, priceMilliunits: nil,
            currency: nil, appAccountToken: uuid("app_account_token"), isRenewal: id != original,
            isUpgraded: flag("is_upgraded"), isFamilyShared: text("in_app_ownership_type") == "FAMILY_SHARED",
            revocation: flag("is_upgraded")
                ? nil
                : date("cancellation_date_ms").map {
                    StorePurchase.Revocation(at: $0, reason: integer("cancellation_reason"), percentage: nil)
                })
        purchase.offer = StoreOffer(
            isTrial: flag("is_trial_period"), isIntroductory: flag("is_in_intro_offer_period"),
            promotionalOfferID: text("promotional_offer_id"))
        purchase.webOrderLineItemID = .lineItem(text("web_order_line_item_id"))
        purchase.receipt = receipt.digest
        purchase.box = receipt.entries.first?.purchase.box
        return purchase
    }

    func renewal(in environment: Domain.Environment, at: Int64) -> StoreRenewal? {
        guard let original = id("original_transaction_id") else { return nil }
        var renewal = StoreRenewal(environment: environment, originalTransactionID: original, signedAt: at)
        renewal.willRenew = text("auto_renew_status").map { $0 == "1" }
        renewal.nextProductID = text("auto_renew_product_id")
        renewal.isInBillingRetry = flag("is_in_billing_retry_period")
        renewal.graceEndsAt = date("grace_period_expires_date_ms")
        renewal.isInGracePeriod = renewal.graceEndsAt.map { $0 > at } ?? false
        renewal.expirationIntent = integer("expiration_intent")
        renewal.priceIncrease = integer("price_consent_status")
        return renewal
    }
}
