import Domain
import ProviderKit

/// PayPal's objects, in the fields that Paydesk reads; others are ignored.
///
/// Nearly everything is optional: a missing field is handled where it is needed.
enum PayPalObject {
    struct Amount: Decodable, Sendable {
        let currency_code: String?
        let value: String?
    }

    struct Link: Decodable, Sendable {
        let href: String
        let rel: String
    }

    struct Order: Decodable, Sendable {
        struct Unit: Decodable, Sendable {
            struct Payments: Decodable, Sendable {
                let captures: [Capture]?
                let refunds: [Refund]?
            }

            let custom_id: String?
            let amount: Amount?
            let payments: Payments?
        }

        let id: String
        /// PayPal leaves it out where the only capture was declined.
        let status: String?
        let purchase_units: [Unit]?
        let links: [Link]?

        var unit: Unit? { purchase_units?.first }
        var captures: [Capture] { unit?.payments?.captures ?? [] }
        func holds(capture id: String) -> Bool { captures.contains { $0.id == id } }
        var refunds: [Refund] { unit?.payments?.refunds ?? [] }
        var customID: String? { unit?.custom_id ?? captures.first?.custom_id }
        /// The page on which the payer approves; the link's name depends on the use of `payment_source`.
        var page: String? { links?.first { ["payer-action", "approve"].contains($0.rel) }?.href }
    }

    struct Capture: Decodable, Sendable {
        let id: String
        let status: String?
        let amount: Amount?
        let custom_id: String?
    }

    struct Refund: Decodable, Sendable {
        let id: String
        let status: String?
        let amount: Amount?
        /// The payment's id, where Paydesk set it or PayPal copied it from the capture.
        let custom_id: String?
        /// The refund's id, where Paydesk set it.
        let invoice_id: String?
        let links: [Link]?
    }

    /// A page of disputes, of which only the ids are read.
    struct Disputes: Decodable, Sendable {
        struct Item: Decodable, Sendable { let dispute_id: String }
        let items: [Item]?
    }

    struct Dispute: Decodable, Sendable {
        struct Transaction: Decodable, Sendable {
            let seller_transaction_id: String?
            let custom: String?
        }
        struct Outcome: Decodable, Sendable {
            let outcome_code: String?
            let amount_refunded: Amount?
        }

        let dispute_id: String
        let status: String?
        let dispute_life_cycle_stage: String?
        /// The time of the last change, RFC 3339.
        let update_time: String?
        let dispute_amount: Amount?
        let dispute_outcome: Outcome?
        let disputed_transactions: [Transaction]?
    }
}

extension PayPalObject.Order {
    /// True where no further capture follows; PayPal leaves the status out where the only capture was declined.
    var isFinal: Bool { status == nil || status == "COMPLETED" }

    /// Returns the outcome of a COMPLETED order from its capture.
    ///
    /// - Throws: `unsayable` for a success without an exact amount.
    func outcome() throws(PayPalFailure) -> PaymentOutcome {
        for capture in captures {
            let outcome = try capture.outcome(isFinal: isFinal)
            if case .succeeded = outcome { return outcome }
        }
        if let last = captures.last { return try last.outcome(isFinal: isFinal) }
        switch status {
        case "CREATED", "SAVED", "PAYER_ACTION_REQUIRED", "APPROVED": return .accepted
        case "VOIDED": return .cancelled
        default: return .pending(status: PayPalText.word(status) ?? "unknown_status")
        }
    }
}

extension PayPalObject.Capture {
    /// - Parameter isFinal: true where no other capture of its order follows.
    /// - Throws: `unsayable` for a success without an exact amount.
    func outcome(isFinal: Bool) throws(PayPalFailure) -> PaymentOutcome {
        switch status {
        // A refunded payment was paid; its refunds are reported separately.
        case "COMPLETED", "PARTIALLY_REFUNDED", "REFUNDED":
            guard let money = PayPalAmount.money(amount) else { throw .unsayable("bad_amount") }
            return .succeeded(money)
        case "DECLINED", "FAILED":
            let reason = status == "DECLINED" ? "capture_declined" : "capture_failed"
            return isFinal ? .failed(reason: reason) : .tryFailed(reason: reason)
        default: return .pending(status: PayPalText.word(status) ?? "unknown_status")
        }
    }

    var hasMoney: Bool { ["COMPLETED", "PARTIALLY_REFUNDED", "REFUNDED"].contains(status) }
}

extension PayPalObject.Refund {
    /// The refunded capture, from the link to the parent.
    var capture: String? {
        PayPalText.id(links?.first { $0.rel == "up" }?.href.split(separator: "/").last.map(String.init))
    }
}
