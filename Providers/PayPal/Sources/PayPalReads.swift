import ProviderKit

/// Reads objects of PayPal by their ids.
extension PayPalAPI {
    func order(_ id: String) async throws(PayPalFailure) -> PayPalObject.Order {
        guard let id = PayPalText.id(id) else { throw .foreign }
        let order: PayPalObject.Order = try await get("v2/checkout/orders/\(id)")
        guard order.id == id else { throw .foreign }
        return order
    }

    func capture(_ id: String) async throws(PayPalFailure) -> PayPalObject.Capture {
        guard let id = PayPalText.id(id) else { throw .foreign }
        let capture: PayPalObject.Capture = try await get("v2/payments/captures/\(id)")
        guard capture.id == id else { throw .foreign }
        return capture
    }

    func refund(_ id: String) async throws(PayPalFailure) -> PayPalObject.Refund {
        guard let id = PayPalText.id(id) else { throw .foreign }
        let refund: PayPalObject.Refund = try await get("v2/payments/refunds/\(id)")
        guard refund.id == id else { throw .foreign }
        return refund
    }

    /// Lists the disputes about a capture; none where the app lacks the right to see them.
    func disputes(about capture: String) async throws(PayPalFailure) -> [PayPalObject.Disputes.Item] {
        do throws(PayPalFailure) {
            let found: PayPalObject.Disputes = try await get(
                "v1/customer/disputes?page_size=50&disputed_transaction_id=\(capture)")
            return found.items ?? []
        } catch {
            // A repetition would not help, and the money is gone, so it counts as refunded.
            guard case .refused(let refusal) = error, refusal.status == 403 else { throw error }
            return []
        }
    }
}
