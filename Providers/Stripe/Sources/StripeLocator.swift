import Domain
import ProviderKit

/// Finds a payment by our id, where Stripe's id never arrived.
///
/// Stripe's lists are up to date at once, and our ids contain the time of their creation, so a list of that time has
/// the payment. The search is only used where that list is too long, because it finds new objects a minute late
/// (docs.stripe.com/search).
struct StripeLocator: Sendable {
    private static let pageSize: Int64 = 100
    private static let pageLimit = 10
    /// The seconds by which clocks may differ.
    private static let slack: Int64 = 300
    /// The seconds within which nearly every payment is opened.
    private static let usual: Int64 = 900
    /// The seconds after which a search finds it.
    private static let searchDelay: Int64 = 180

    let api: StripeAPI
    let mode: StripeSettings.Mode
    let time: TimeSource

    /// - Returns: nil where Stripe has no such payment now.
    /// - Throws: `unanswered` where that cannot be told.
    func payment(_ id: ID<Payment>) async throws(StripeFailure) -> StripePayment? {
        guard mode != .paymentIntent else { return try await payment(id, among: mode) }
        var failure: StripeFailure?
        do throws(StripeFailure) {
            if let found = try await payment(id, among: mode) { return found }
        } catch {
            failure = error
        }
        // Wallet tokens are charged by PaymentIntents whatever the account's mode.
        if let found = try await payment(id, among: .paymentIntent) { return found }
        if let failure { throw failure }
        return nil
    }

    private func payment(
        _ id: ID<Payment>, among mode: StripeSettings.Mode
    ) async throws(StripeFailure) -> StripePayment? {
        let (made, now) = (id.madeAt, time.now)
        var windows = [(made.adding(seconds: -Self.slack), made.adding(seconds: Self.usual))]
        if now > windows[0].1 { windows.append((windows[0].1, now.adding(seconds: Self.slack))) }
        var isComplete = true
        for window in windows {
            let (found, wasComplete) = try await listed(id, among: mode, from: window.0, until: window.1)
            if let found { return found }
            isComplete = isComplete && wasComplete
        }
        if isComplete { return nil }
        guard mode == .paymentIntent else { throw .unanswered }
        if let found = try await searched(id) { return found }
        guard now > made.adding(seconds: Self.searchDelay) else { throw .unanswered }
        return nil
    }

    /// A page after the other, newest first.
    private func listed(
        _ id: ID<Payment>, among mode: StripeSettings.Mode, from: Timestamp, until: Timestamp
    ) async throws(StripeFailure) -> (found: StripePayment?, isComplete: Bool) {
        var last: String?
        for _ in 0..<Self.pageLimit {
            let page = try await page(of: mode, from: from, until: until, after: last)
            if let found = page.payments.first(where: { $0.isOf(id) }) { return (try found.payment(), true) }
            guard page.hasMore, let next = page.payments.last?.id, next != last else { return (nil, !page.hasMore) }
            last = next
        }
        return (nil, false)
    }

    /// The objects of a page, with their amounts unparsed, so that an object of another system hides none of ours.
    private enum Listed: Sendable {
        case intent(StripeObject.PaymentIntent)
        case session(StripeObject.CheckoutSession)

        var id: String {
            switch self {
            case .intent(let intent): intent.id
            case .session(let session): session.id
            }
        }

        func isOf(_ payment: ID<Payment>) -> Bool {
            switch self {
            case .intent(let intent):
                intent.metadata?[StripeMetadata.payment] == payment.rawValue
                    && intent.metadata?[StripeMetadata.contract] == nil
            case .session(let session): session.metadata?[StripeMetadata.payment] == payment.rawValue
            }
        }

        func payment() throws(StripeFailure) -> StripePayment {
            switch self {
            case .intent(let intent): try StripePayment(intent)
            case .session(let session): try StripePayment(session)
            }
        }
    }

    private func page(
        of mode: StripeSettings.Mode, from: Timestamp, until: Timestamp, after last: String?
    ) async throws(StripeFailure) -> (payments: [Listed], hasMore: Bool) {
        let created = StripeForm([("gte", .integer(max(0, from.rawValue))), ("lte", .integer(until.rawValue))])
        var query = StripeForm([
            ("created", .map(created)), ("limit", .integer(Self.pageSize)),
            ("starting_after", last.map { .text($0) }),
        ])
        switch mode {
        case .paymentIntent:
            let list: StripeObject.List<StripeObject.PaymentIntent> = try await api.get(
                "payment_intents", query, isList: true)
            return (list.data.map { .intent($0) }, list.has_more ?? false)
        case .checkoutSession:
            query.set("expand", .list([.text("data.payment_intent")]))
            let list: StripeObject.List<StripeObject.CheckoutSession> = try await api.get(
                "checkout/sessions", query, isList: true)
            return (list.data.map { .session($0) }, list.has_more ?? false)
        }
    }

    private func searched(_ id: ID<Payment>) async throws(StripeFailure) -> StripePayment? {
        let query = StripeForm([("query", .text("metadata['\(StripeMetadata.payment)']:'\(id.rawValue)'"))])
        let list: StripeObject.List<StripeObject.PaymentIntent> = try await api.get(
            "payment_intents/search", query, isList: true)
        return try list.data.map(Listed.intent).first { $0.isOf(id) }?.payment()
    }
}
