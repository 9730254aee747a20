import AppleTrust
import Domain
import Foundation

// verifyReceipt.
extension ServerAPI {
    private struct Question: Decodable {
        let receiptData: String

        private enum CodingKeys: String, CodingKey { case receiptData = "receipt-data" }
    }

    private struct Status: Encodable {
        let status: Int
        let environment = boxEnvironment
    }

    /// Answers 200 with a status of Apple's; the shared secret may be any, because the box knows none.
    func verifyReceipt(_ request: ServerAPIRequest) async throws -> ServerAPIAnswer {
        do {
            guard request.method == "POST" else { throw VerifyReceiptStatus.notPOST }
            guard let question = try? request.read(Question.self) else { throw VerifyReceiptStatus.malformed }
            return .json(try await verified(question.receiptData))
        } catch let status as VerifyReceiptStatus {
            return .json(Status(status: status.rawValue))
        }
    }

    private func verified(_ text: String) async throws -> ReceiptAnswer {
        let receipt = try receipts.receipt(text)
        var customer: String?
        for purchase in receipt.purchases where customer == nil {
            customer = try await reader.transaction(purchase.transactionID)?.customer
        }
        // The receipt is of the box before a reset.
        guard let customer else { throw VerifyReceiptStatus.noAccount }
        let now = clocks.business()
        let rows = try await transactions(of: customer, after: nil, upTo: ReceiptSigner.purchases)
        let inside = Set(receipt.purchases.map(\.transactionID))
        let subscriptions = try await reader.subscriptions(of: customer)
        return ReceiptAnswer(
            receipt: ReceiptAnswer.Receipt(
                receipt, rows.filter { inside.contains($0.transactionID) }.map(ReceiptAnswer.item), at: now),
            latest_receipt: try receipts.signer.receipt(of: rows, at: now),
            latest_receipt_info: rows.reversed().map(ReceiptAnswer.item),
            pending_renewal_info: subscriptions.map(ReceiptAnswer.renewal))
    }
}

/// verifyReceipt's answer for a sound receipt; almost every value is text.
///
/// Source: Apple, App Store Receipts, responseBody.
private struct ReceiptAnswer: Encodable {
    typealias Item = [String: String]

    struct Receipt: Encodable {
        let fields: Item
        let in_app: [Item]

        private enum CodingKeys: String, CodingKey { case in_app, adam_id, app_item_id }

        init(_ receipt: VerifiedReceipt, _ items: [Item], at now: Int64) {
            in_app = items
            var fields: Item = [
                "receipt_type": receipt.type ?? "ProductionSandbox", "bundle_id": receipt.bundleID,
                "application_version": receipt.applicationVersion ?? "",
                "original_application_version": receipt.originalApplicationVersion ?? "",
            ]
            fields.setDate("receipt_creation_date", receipt.creationDate)
            fields.setDate("request_date", now)
            fields.setDate("original_purchase_date", receipt.originalPurchaseDate)
            self.fields = fields
        }

        func encode(to encoder: any Encoder) throws {
            try fields.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(0, forKey: .adam_id)
            try container.encode(0, forKey: .app_item_id)
            try container.encode(in_app, forKey: .in_app)
        }
    }

    let status = 0
    let environment = boxEnvironment
    let receipt: Receipt
    let latest_receipt: String
    let latest_receipt_info: [Item]
    let pending_renewal_info: [Item]

    static func item(_ row: BoxTransaction) -> Item {
        var item: Item = [
            "quantity": String(row.quantity), "product_id": row.productID, "transaction_id": row.transactionID,
            "original_transaction_id": row.originalTransactionID,
            "in_app_ownership_type": row.isFamilyShared ? "FAMILY_SHARED" : "PURCHASED",
            "is_trial_period": String(row.isTrial),
        ]
        item["app_account_token"] = row.appAccountToken
        item["web_order_line_item_id"] = row.webOrderLineItemID
        item["subscription_group_identifier"] = row.group
        item["promotional_offer_id"] = row.promotionalOfferID
        item["offer_code_ref_name"] = row.offer?.type == .offerCode ? row.offer?.identifier : nil
        if row.kind == .subscription { item["is_in_intro_offer_period"] = String(row.isIntroductory) }
        if row.isUpgraded { item["is_upgraded"] = "true" }
        item.setDate("purchase_date", row.purchasedAt)
        item.setDate("original_purchase_date", row.originalPurchasedAt)
        item.setDate("expires_date", row.expiresAt)
        item.setDate("cancellation_date", row.cancelledAt)
        if row.cancelledAt != nil { item["cancellation_reason"] = String(row.revocation?.reason ?? 0) }
        return item
    }

    static func renewal(_ row: BoxSubscription) -> Item {
        var item: Item = [
            "original_transaction_id": row.originalTransactionID, "product_id": row.productID,
            "auto_renew_product_id": row.nextProductID, "auto_renew_status": row.willRenew ? "1" : "0",
        ]
        item["expiration_intent"] = row.expirationIntent.map { String($0.rawValue) }
        item["price_consent_status"] = row.priceIncreaseStatus.map { String($0) }
        if row.state == .grace || row.state == .billingRetry { item["is_in_billing_retry_period"] = "1" }
        if row.state == .expired { item["is_in_billing_retry_period"] = "0" }
        if row.state == .grace { item.setDate("grace_period_expires_date", row.graceEndsAt) }
        return item
    }
}

extension [String: String] {
    /// Sets a date in Apple's three forms: UTC, milliseconds, Pacific time.
    fileprivate mutating func setDate(_ name: String, _ milliseconds: Int64?) {
        guard let milliseconds else { return }
        self[name] = Self.text(milliseconds, .gmt, "Etc/GMT")
        self["\(name)_ms"] = String(milliseconds)
        self["\(name)_pst"] = Self.text(milliseconds, pacific, "America/Los_Angeles")
    }

    private static func text(_ milliseconds: Int64, _ zone: TimeZone, _ name: String) -> String {
        let date = Date(timeIntervalSince1970: Double(milliseconds.flooredSeconds))
        let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space, timeZone: zone).year().month().day()
            .time(includingFractionalSeconds: false)
        return "\(date.formatted(style)) \(name)"
    }
}

private let pacific = TimeZone(identifier: "America/Los_Angeles") ?? .gmt
