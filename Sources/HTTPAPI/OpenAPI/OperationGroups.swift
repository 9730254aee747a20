extension OperationGroup {
    /// Every part of the API.
    ///
    /// - Parameters:
    ///   - kinds: the kinds of providers that serve their own pay pages.
    ///   - notifying: those whose accounts have a notify address.
    static func all(payPages kinds: [String], notifying: [String]) -> [OperationGroup] {
        [
            cashier, orders, subscriptions, entitlements, apple, applePay, compatible, notifications,
            notifications(of: notifying), payPages(kinds),
            partner, webhooks, catalogue, accounts, adminOrders, adminUsers, inbox, operations,
        ]
    }
}
