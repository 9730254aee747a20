extension OperationGroup {
    /// Every part of the API.
    ///
    /// - Parameter kinds: the kinds of providers that serve their own.
    static func all(payPages kinds: [String]) -> [OperationGroup] {
        [
            cashier, orders, subscriptions, entitlements, apple, applePay, compatible, notifications, payPages(kinds),
            partner, webhooks, catalogue, accounts, adminOrders, adminUsers, inbox, operations,
        ]
    }
}
