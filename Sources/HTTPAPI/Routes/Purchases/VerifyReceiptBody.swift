import Domain
import Gateway

/// The answer of `verifyReceipt`: Apple's snake_case keys, and the camelCase ones that StoreKit 1 clients read.
///
/// Almost every number is text, as in Apple's answers; the app's ids are numbers. Source: Apple, verifyReceipt,
/// responseBody.
struct VerifyReceiptBody: Encodable {
    typealias Fields = [String: VerifyReceiptField]

    private let fields: Fields

    /// Makes a refusal with empty lists, so that a client that reads the lists finds no purchases.
    init(_ status: VerifyReceiptStatus) {
        var fields: Fields = [
            "status": .number(status.rawValue), "latestReceiptInfo": .list([]), "pendingRenewalInfo": .list([]),
        ]
        if status.isRetryable { fields["is-retryable"] = .flag(true) }
        self.fields = fields
    }

    init(_ report: ReceiptReport) {
        let rows = report.rows.map(Self.transaction)
        let renewals = report.renewals.map(Self.renewal)
        var fields: Fields = [
            "status": .number(0), "environment": .text(report.receipt.environment.rawValue),
            "receipt": .object(Self.receipt(report)), "latest_receipt": .text(report.text),
            "latest_receipt_info": .list(rows), "pending_renewal_info": .list(renewals),
            "latestReceiptInfo": .list(rows.map(\.camelCased)),
            "pendingRenewalInfo": .list(renewals.map(\.camelCased)),
            "source": .text(report.source.rawValue), "stale": .flag(report.isStale),
        ]
        if let attachment = report.attachment {
            fields["attached"] = .number(Int64(attachment.attached))
            fields["not_attached"] = .list(
                attachment.refused.map {
                    ["transaction_id": .text($0.transactionID), "reason": .text(ErrorReply($0.reason).id)]
                })
        }
        self.fields = fields
    }

    func encode(to encoder: any Encoder) throws { try fields.encode(to: encoder) }

    private static func receipt(_ report: ReceiptReport) -> Fields {
        let receipt = report.receipt
        var fields: Fields = [
            "receipt_type": .text(receipt.app.type ?? ""), "bundle_id": .text(receipt.bundleID),
            "adam_id": .number(receipt.app.itemID ?? 0), "app_item_id": .number(receipt.app.itemID ?? 0),
            "application_version": .text(receipt.app.version ?? ""),
            "original_application_version": .text(receipt.app.originalVersion ?? ""),
            "download_id": .number(receipt.app.downloadID ?? 0),
            "version_external_identifier": .number(receipt.app.versionExternalID ?? 0),
        ]
        fields.set("receipt_creation_date", receipt.createdAt)
        fields.set("request_date", report.requestedAt)
        fields.set("original_purchase_date", receipt.app.originalPurchasedAt)
        fields.set("expiration_date", receipt.app.expiresAt)
        fields["in_app"] = .list(
            receipt.entries.map {
                transaction(
                    .init(
                        purchase: $0.purchase, entry: $0,
                        originalPurchasedAt: $0.originalPurchasedAt ?? $0.purchase.purchasedAt,
                        replacedAt: $0.purchase.isUpgraded ? $0.cancelledAt : nil))
            })
        return fields
    }

    private static func transaction(_ row: ReceiptReport.Row) -> Fields {
        let purchase = row.purchase
        let isTrial = purchase.offer?.discount == "FREE_TRIAL"
        var fields: Fields = [
            "quantity": .text(String(purchase.quantity)), "product_id": .text(purchase.productID),
            "transaction_id": .text(purchase.transactionID),
            "original_transaction_id": .text(purchase.originalTransactionID), "is_trial_period": .truth(isTrial),
            "is_in_intro_offer_period": .truth(purchase.offer?.type == "introductory" && !isTrial),
            "in_app_ownership_type": .text(purchase.isFamilyShared ? "FAMILY_SHARED" : "PURCHASED"),
        ]
        fields.set("purchase_date", purchase.purchasedAt)
        fields.set("original_purchase_date", row.originalPurchasedAt)
        fields.set("expires_date", purchase.expiresAt)
        // A partial refund cancels nothing; an upgrade cancels the purchase that it replaces.
        let cancelled = purchase.isTakenBack ? purchase.revocation?.at : row.replacedAt
        fields.set("cancellation_date", cancelled)
        if cancelled != nil { fields["cancellation_reason"] = .text(purchase.revocation?.reason == 1 ? "1" : "0") }
        if purchase.isUpgraded { fields["is_upgraded"] = .text("true") }
        let item = purchase.webOrderLineItemID ?? row.entry?.purchase.webOrderLineItemID
        fields["web_order_line_item_id"] = item.map(VerifyReceiptField.text)
        if let token = purchase.appAccountToken { fields["app_account_token"] = .text(token) }
        if purchase.offer?.type == "promotional", let offer = purchase.offer?.identifier {
            fields["promotional_offer_id"] = .text(offer)
        }
        if purchase.offer?.type == "offer_code", let code = purchase.offer?.identifier {
            fields["offer_code_ref_name"] = .text(code)
        }
        return fields
    }

    private static func renewal(_ renewal: ReceiptReport.Renewal) -> Fields {
        var fields: Fields = [
            "product_id": .text(renewal.productID), "auto_renew_product_id": .text(renewal.nextProductID),
            "original_transaction_id": .text(renewal.originalTransactionID),
            "auto_renew_status": .text(renewal.willRenew ? "1" : "0"),
        ]
        if renewal.isInBillingRetry { fields["is_in_billing_retry_period"] = .text("1") }
        if let intent = renewal.expirationIntent { fields["expiration_intent"] = .text(String(intent)) }
        if let consent = renewal.priceConsent { fields["price_consent_status"] = .text(String(consent)) }
        fields.set("grace_period_expires_date", renewal.graceEndsAt)
        return fields
    }
}

/// A value of the answer.
enum VerifyReceiptField: Encodable, Sendable {
    case text(String)
    case number(Int64)
    case flag(Bool)
    case list([[String: VerifyReceiptField]])
    case object([String: VerifyReceiptField])

    /// Apple's "true" and "false".
    static func truth(_ value: Bool) -> VerifyReceiptField { .text(value ? "true" : "false") }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .flag(let flag): try container.encode(flag)
        case .list(let objects): try container.encode(objects)
        case .object(let fields): try container.encode(fields)
        }
    }
}

extension [String: VerifyReceiptField] {
    /// Sets a date in Apple's three forms; without a date it sets nothing.
    fileprivate mutating func set(_ name: String, _ milliseconds: Int64?) {
        guard let milliseconds else { return }
        self[name] = .text(VerifyReceiptDate.greenwich(milliseconds))
        self["\(name)_ms"] = .text(String(milliseconds))
        self["\(name)_pst"] = VerifyReceiptDate.pacific(milliseconds).map(VerifyReceiptField.text)
    }

    /// The fields with camelCase names, all values as text; `expiresDate` is empty where nothing expires.
    fileprivate var camelCased: Self {
        var fields: Self = [:]
        for case (let name, .text(let text)) in self { fields[name.camelCased] = .text(text) }
        if self["purchase_date"] != nil && fields["expiresDate"] == nil { fields["expiresDate"] = .text("") }
        return fields
    }
}

extension String {
    /// The text in camelCase: `expires_date` as `expiresDate`.
    var camelCased: String {
        let words = split(separator: "_")
        return words.prefix(1).joined() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
