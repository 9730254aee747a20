import Domain
import Testing

/// Names that the database, the API and webhooks share; changing one is a breaking change.
struct WireNameTests {
    @Test func `states are written as the API names them`() {
        #expect(
            Payment.State.allCases.map(\.rawValue)
                == ["created", "pending", "unknown", "succeeded", "failed", "cancelled"])
        #expect(
            Refund.State.allCases.map(\.rawValue)
                == ["created", "pending", "unknown", "succeeded", "failed", "reversed"])
        #expect(Dispute.State.allCases.map(\.rawValue) == ["open", "won", "lost"])
        #expect(
            Set(Order.Status.allCases.map(\.rawValue))
                == ["open", "paid", "partially_refunded", "refunded", "closed"])
        #expect(["open", "paid", "closed"].allSatisfy { Order.State(rawValue: $0) != nil })
        #expect(
            ["checkout", "purchase", "renewal", "import"].compactMap(Order.Origin.init)
                == [.checkout, .purchase, .renewal, .history])
    }

    @Test func `facts are written as the database names them`() {
        let names = ["accepted", "succeeded", "failed", "cancelled", "outcome_unknown"]
        #expect(Payment.State.Fact.allCases.map(\.rawValue) == names)
        #expect(
            Set(Refund.State.Fact.allCases.map(\.rawValue)) == Set(names).subtracting(["cancelled"]).union(["reversed"])
        )
    }

    @Test func `anomalies are written as the API names them`() {
        #expect(
            Set(Anomaly.allCases.map(\.rawValue)) == [
                "revived_payment", "late_payment", "duplicate_payment", "duplicate_ownership", "contradicting_fact",
                "amount_mismatch", "kind_mismatch", "dispute_currency",
            ])
    }

    @Test func `places and policies are written as the configuration names them`() {
        #expect(Platform.allCases.map(\.rawValue) == ["ios", "android", "web", "desktop"])
        #expect(Environment.allCases.map(\.rawValue) == ["Production", "Sandbox", "Xcode"])
        #expect(LatePaymentPolicy.allCases.map(\.rawValue) == ["fulfil", "refund", "hold"])
        #expect(DuplicatePolicy.allCases.map(\.rawValue) == ["refund", "hold"])
        #expect(OwnershipPolicy.allCases.map(\.rawValue) == ["keep", "transfer", "transfer_if_inactive", "share"])
        #expect(
            Subscription.Status.allCases.map(\.rawValue) == [
                "active", "expired", "revoked", "upgraded", "scheduled", "suspended", "in_grace_period",
                "in_billing_retry",
            ])
        #expect(Meter.Period.allCases.map(\.rawValue) == ["day", "month"])
        #expect(PromotionalOffer.Audience.allCases.map(\.rawValue) == ["any", "new", "lapsed", "running"])
        #expect(
            Set(SKU.Kind.allCases.map(\.rawValue)) == ["subscription", "consumable", "non_renewing", "non_consumable"])
    }

    @Test func `events are written as webhooks name them`() {
        #expect(
            EventType.allCases.map(\.rawValue) == [
                "order.opened", "order.paid", "order.closed", "order.anomaly", "refund.succeeded", "refund.failed",
                "dispute.opened", "dispute.closed", "purchase.attached", "purchase.transferred", "purchase.unmapped",
                "subscription.changed", "subscription.payment_failed", "subscription.renewal_upcoming",
                "subscription.price_change", "entitlements.changed", "balance.overdrawn",
                "consent.rescinded",
            ])
    }

    @Test func `contracts and sources are written as the API names them`() {
        #expect(
            ContractType.allCases.map(\.rawValue) == [
                "apple_iap", "stripe", "url", "qr", "apple_pay", "alipay_app", "wechat_app", "wechat_jsapi", "none",
            ])
        #expect(ContractType.base == [.appleIAP, .stripe, .url, .qr])
        #expect(
            Set(Grant.SourceKind.allCases.map(\.rawValue))
                == ["order", "apple_transaction", "apple_subscription", "managed_subscription", "admin", "partner"])
    }
}
