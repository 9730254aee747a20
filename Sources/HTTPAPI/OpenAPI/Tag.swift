extension Route {
    /// A part of the API, by which the description is divided.
    struct Tag: Sendable {
        let name: String
        let note: String
        /// The message that Paydesk sends to an endpoint of the caller.
        var message: Message?

        struct Message: Sendable {
            let id: String
            let summary: String
            let note: String
            let body: Shape
        }
    }
}

extension Route.Tag {
    /// All parts, in the order of the description.
    static let all: [Route.Tag] = [
        cashier, sessions, orders, subscriptions, entitlements, live, apple, applePay, compatible, notifications,
        notificationsByKind,
        payPages, partner, webhooks, catalogue, accounts, adminOrders, adminUsers, inbox, operationsForAdmins, console,
        operations,
    ]

    static let cashier = Route.Tag(name: "Cashier", note: "What is sold, and the contract to pay it.")
    static let sessions = Route.Tag(
        name: "Sessions", note: "A browser acts for one user and one purpose, without the app's token.")
    static let orders = Route.Tag(name: "Orders", note: "A user's own orders.")
    static let subscriptions = Route.Tag(
        name: "Subscriptions", note: "Subscriptions of a store, as the user, a partner and an admin see them.")
    static let entitlements = Route.Tag(
        name: "Entitlements and usage", note: "What a user owns, why, and how much of a meter is left.")
    static let live = Route.Tag(
        name: "Live", note: "Changes as they happen, and the keys of snapshots for apps that are offline.")
    static let apple = Route.Tag(
        name: "App Store purchases", note: "What was bought in the App Store becomes the user's.")
    static let applePay = Route.Tag(name: "Apple Pay", note: "Merchant sessions, tokens, and the proof of the domain.")
    static let compatible = Route.Tag(
        name: "Compatible endpoints",
        note: "The shapes of other clients: no envelope, and a body is read as JSON whatever its content type.")
    static let notifications = Route.Tag(
        name: "Providers' notifications", note: "What providers call, in their own forms and without the envelope.")
    static let notificationsByKind = Route.Tag(
        name: "Providers' notifications, by kind",
        note: "The same as without the kind; a kind that is not the account's is `not_found`.")
    static let payPages = Route.Tag(
        name: "Pay pages", note: "Pages of providers that serve their own, for the payer's browser.")
    static let partner = Route.Tag(name: "Partner", note: "What partners' servers may do for users.")
    static let webhooks = Route.Tag(
        name: "Webhooks",
        note: "A partner's endpoints for events; messages follow the Standard Webhooks specification.",
        message: Message(
            id: "receiveEvent", summary: "What an endpoint gets",
            note: """
                With `webhook-id`, `webhook-timestamp` and `webhook-signature`. Answer 2xx; anything else is tried again \
                for three days.
                """,
            body: .webhookMessage))
    static let catalogue = Route.Tag(
        name: "Catalogue", note: "What is sold, for admins. A change holds for the next checkout.")
    static let accounts = Route.Tag(
        name: "Providers and accounts", note: "Who takes the money, and when which of them is chosen.")
    static let adminOrders = Route.Tag(
        name: "Orders, for admins", note: "Everybody's orders, refunds, and what they come to.")
    static let adminUsers = Route.Tag(
        name: "Users, for admins", note: "What users own, and what is given, moved and taken by hand.")
    static let inbox = Route.Tag(
        name: "Notifications, jobs, keys, audit", note: "What came in, what is to be done, who may call, who did what.")
    static let operationsForAdmins = Route.Tag(
        name: "Search and attention", note: "What admins look for, and what waits for them.")
    static let console = Route.Tag(
        name: "Console",
        note: """
            Signing in to the page of admins. Each call takes `X-Paydesk-Console: 1`; with the cookie and that header every \
            call of an admin may be made as with the key.
            """)
    static let operations = Route.Tag(
        name: "Operations", note: "For whoever runs this server; none needs a login, and no answer has the envelope.")
}
