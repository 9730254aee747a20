import AppStoreBox
import Domain
import ProviderKit
import Store

/// Makes events happen in development mode, by what makes them happen otherwise: checkouts, the sandbox's payers and
/// bank, refunds, the clock, purchases in the App Store in a box.
package struct Triggers: Sendable {
    let gateway: Gateway

    /// The milliseconds of real time for which an event is waited for.
    private static let patience: Int64 = 10_000
    /// The seconds after a period's end by which its renewal has been tried.
    private static let slack: Int64 = 60

    /// Makes an event happen and waits for its number.
    ///
    /// - Throws: ``TriggerRefusal`` where this server cannot make it happen; the errors of the acts.
    package func make(_ request: TriggerRequest, context: CallContext) async throws -> TriggeredEvent {
        guard gateway.settings.isDevelopment else {
            throw TriggerRefusal(description: "only development mode makes events happen")
        }
        guard request.advances || !request.event.needsTime else {
            throw TriggerRefusal(description: "\(request.event.rawValue) needs time to pass: add --advance")
        }
        guard let user = ExternalUserID(request.user) else {
            throw TriggerRefusal(description: "a user's id has 1 to 128 characters, none of them a control character")
        }
        let run = TriggerRun(
            gateway: gateway, request: request, user: user, context: context,
            start: try await gateway.access.read { db in try db.events.lastNumber() })
        switch request.event {
        case .orderOpened, .orderPaid, .orderClosed, .orderAnomaly, .refundSucceeded, .refundFailed, .disputeOpened,
            .disputeClosed, .entitlementsChanged:
            return try await order(run)
        case .purchaseAttached, .purchaseTransferred: return try await purchase(run)
        case .subscriptionChanged, .subscriptionPaymentFailed, .subscriptionRenewalUpcoming:
            return try await subscription(run)
        }
    }

    // MARK: Orders

    private func order(_ run: TriggerRun) async throws -> TriggeredEvent {
        let sale = try await run.sell(run.skus(isManaged: false))
        let (order, event) = (sale.contract.order.rawValue, run.request.event)
        switch event {
        case .orderOpened: break
        case .orderClosed: _ = try await gateway.orderClosing.close(order, context: run.context)
        case .orderAnomaly: try await run.announce(.succeeded, sale, plus: 1)
        default:
            try await run.pay(sale)
            // The acts that follow need the order to be paid.
            guard event != .orderPaid, event != .entitlementsChanged,
                try await run.wait(for: Trigger.orderPaid.rawValue, about: order, Self.patience) != nil
            else { break }
            try await follow(event, sale, run)
        }
        return try await run.found(
            sale: sale, about: event == .entitlementsChanged ? nil : order, within: Self.patience)
    }

    /// Does what comes after the payment.
    private func follow(_ event: Trigger, _ sale: TriggerSale, _ run: TriggerRun) async throws {
        switch event {
        case .refundSucceeded, .refundFailed:
            let refund = try await gateway.refunds.request(
                sale.contract.order.rawValue, amount: nil, reason: "paydesk trigger", context: run.context
            ).refund
            guard event == .refundFailed else { return }
            _ = try await run.wait(
                for: Trigger.refundSucceeded.rawValue, about: sale.contract.order.rawValue, Self.patience)
            try await run.announce(.refundFailed(refund.id), sale)
        case .disputeOpened: try await run.announce(.disputeOpened, sale)
        case .disputeClosed:
            try await run.announce(.disputeOpened, sale)
            _ = try await run.wait(
                for: Trigger.disputeOpened.rawValue, about: sale.contract.order.rawValue, Self.patience)
            try await run.announce(.disputeWon, sale)
        default: break
        }
    }

    // MARK: Subscriptions

    private func subscription(_ run: TriggerRun) async throws -> TriggeredEvent {
        let (managed, event) = (try await run.skus(isManaged: true), run.request.event)
        guard !managed.isEmpty else {
            // A subscription of the box begins with the same event.
            if event == .subscriptionChanged, !run.request.advances, gateway.appStore != nil {
                return try await purchase(run)
            }
            throw TriggerRefusal(
                description: "no active SKU has \"renewal\": \"managed\"; make one, or name it by --sku")
        }
        let sale = try await run.sell(managed)
        try await run.pay(sale)
        let begun = try await run.wait(for: Trigger.subscriptionChanged.rawValue, about: nil, Self.patience)
        guard run.request.advances, begun != nil,
            let held = try await gateway.subscriptions.list(user: run.user, cursor: nil, limit: 200).items
                .first(where: { $0.orders.contains(sale.contract.order) })
        else { return try await run.found(sale: sale, about: nil, within: Self.patience) }
        if event == .subscriptionPaymentFailed {
            try await gateway.payPages.playOn(
                kind: sale.account.manifest.kind, subscription: held.id.rawValue, form: ["renewals": "soft"])
        }
        var later = run
        later.start = try await gateway.access.read { db in try db.events.lastNumber() }
        _ = try await gateway.businessClock.move(
            ClockRequest(to: held.expires_at.adding(seconds: Self.slack)), context: run.context)
        return try await later.found(sale: sale, about: held.id.rawValue, within: Self.patience)
    }

    // MARK: The App Store in a box

    private func purchase(_ run: TriggerRun) async throws -> TriggeredEvent {
        guard let box = gateway.appStore else {
            throw TriggerRefusal(
                description: "\(run.request.event.rawValue) needs the App Store in a box: development.appstore: true")
        }
        let product = try await run.product(of: box)
        let isTransferred = run.request.event == .purchaseTransferred
        let buyer = isTransferred ? try run.giver : run.user
        let token = try await gateway.entitlements.purchaseStatus(user: buyer).value.app_account_token
        // A customer of its own, so that a subscription of another user does not stand in the way.
        let bought = try await box.purchase(
            BoxPurchaseRequest(
                productID: product, appAccountToken: token, storefront: try run.storefront, customer: buyer.rawValue))
        guard case .success(let purchase) = bought else {
            throw TriggerRefusal(description: "the App Store in a box refuses the purchase of \(product)")
        }
        let original = purchase.original_transaction_id
        guard run.request.event != .subscriptionChanged else {
            return try await run.found(sale: nil, about: nil, within: Self.patience)
        }
        let attached = try await run.wait(for: Trigger.purchaseAttached.rawValue, about: original, Self.patience)
        guard isTransferred, attached != nil else {
            return try await run.found(sale: nil, about: original, within: Self.patience)
        }
        _ = try await gateway.purchases.transfer(
            original, to: run.user, environment: .sandbox, context: run.context)
        return try await run.found(sale: nil, about: original, within: Self.patience)
    }
}

extension Gateway {
    package var triggers: Triggers { Triggers(gateway: self) }
}
