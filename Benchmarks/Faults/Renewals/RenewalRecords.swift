import Foundation
import Store

/// The stored subscriptions that Paydesk renews itself, and the book of the service that charges for them.
///
/// The service is the sandbox: it plays inside the server, and writes each charge into its book in a commit of its own,
/// before it answers. A server that is killed afterwards has to ask for what it was not told. A charge is the book's entry
/// of its payment, which is one commit; the list of charges by mandate is written after it.
struct RenewalRecords: Sendable {
    struct Subscription: Sendable {
        let user: String
        let sku: String
        let account: String
        let state: String
        let periodIndex: Int64
        let periodStart: Int64
        let periodEnd: Int64
        let isRefused: Bool
    }

    struct Order: Sendable {
        let id: String
        let user: String
        let origin: String
        let state: String
        let amount: Int64
        let period: Int64
        /// The period that was paid; nil for an order that is not paid.
        let start: Int64?
        let end: Int64?
    }

    struct Payment: Sendable {
        let id: String
        let order: String
        let account: String
        let state: String
        let amount: Int64
        let chargesMandate: Bool

        var isInFlight: Bool { ["created", "pending", "unknown"].contains(state) }
    }

    struct Grant: Sendable {
        let user: String
        let order: String?
        let isRevoked: Bool
        let paidUntil: Int64?
        let endsAt: Int64?
    }

    /// A charge that the service has made.
    struct Charge: Sendable {
        let payment: String
        let order: String
        let account: String
        let amount: Int64
    }

    /// The subscriptions by their ids.
    let subscriptions: [String: Subscription]
    /// The orders by subscription.
    let orders: [String: [Order]]
    /// The payments of those orders, by their ids.
    let payments: [String: Payment]
    /// The grants by subscription.
    let grants: [String: [Grant]]
    /// The states of the mandates by subscription.
    let mandates: [String: [String]]
    /// The number of `order.paid` by order.
    let announced: [String: Int64]
    /// The number of renewals in the timeline, by subscription.
    let renewed: [String: Int64]
    /// The charges of the book whose money the service has.
    let charges: [Charge]

    /// - Parameter users: external ids by user id.
    init(_ database: any Database, users: [String: String]) throws {
        var subscriptions: [String: Subscription] = [:]
        for row in try database.rows("SELECT * FROM managed_subscriptions") {
            subscriptions[try row.text("id")] = Subscription(
                user: users[try row.text("user_id")] ?? "?", sku: try row.text("sku"),
                account: try row.text("account"), state: try row.text("state"),
                periodIndex: try row.int("period_index"), periodStart: try row.int("period_start"),
                periodEnd: try row.int("period_end"), isRefused: try row.optionalInt("failed_at") != nil)
        }
        self.subscriptions = subscriptions
        var orders: [String: [Order]] = [:]
        let ordersOf = "SELECT * FROM orders WHERE subscription_id IS NOT NULL ORDER BY period_index, id"
        for row in try database.rows(ordersOf) {
            orders[try row.text("subscription_id"), default: []].append(
                Order(
                    id: try row.text("id"), user: users[try row.text("user_id")] ?? "?",
                    origin: try row.text("origin"), state: try row.text("state"), amount: try row.int("amount"),
                    period: try row.int("period_index"), start: try row.optionalInt("period_start"),
                    end: try row.optionalInt("period_end")))
        }
        self.orders = orders
        payments = try Self.payments(database)
        grants = try Self.grants(database, users)
        var mandates: [String: [String]] = [:]
        for row in try database.rows("SELECT subscription_id, state FROM mandates") {
            mandates[try row.text("subscription_id"), default: []].append(try row.text("state"))
        }
        self.mandates = mandates
        announced = try Self.counts(
            database,
            """
            SELECT e.subject, COUNT(*) AS times FROM events e JOIN orders o ON o.id = e.subject
            WHERE e.type = 'order.paid' AND o.subscription_id IS NOT NULL GROUP BY e.subject
            """)
        renewed = try Self.counts(
            database,
            """
            SELECT subscription_id AS subject, COUNT(*) AS times FROM subscription_timeline
            WHERE cause IN ('renewed', 'recovered') GROUP BY subscription_id
            """)
        charges = try Self.charges(database)
    }

    private static func payments(_ database: any Database) throws -> [String: Payment] {
        var payments: [String: Payment] = [:]
        let sql = """
            SELECT p.id, p.order_id, p.account, p.state, p.amount, p.mandate_id FROM payments p
            JOIN orders o ON o.id = p.order_id WHERE o.subscription_id IS NOT NULL
            """
        for row in try database.rows(sql) {
            let payment = Payment(
                id: try row.text("id"), order: try row.text("order_id"), account: try row.text("account"),
                state: try row.text("state"), amount: try row.int("amount"),
                chargesMandate: try row.optionalText("mandate_id") != nil)
            payments[payment.id] = payment
        }
        return payments
    }

    private static func grants(_ database: any Database, _ users: [String: String]) throws -> [String: [Grant]] {
        var grants: [String: [Grant]] = [:]
        for row in try database.rows("SELECT * FROM grants WHERE source_kind = 'managed_subscription'") {
            grants[try row.text("source_id"), default: []].append(
                Grant(
                    user: users[try row.text("user_id")] ?? "?", order: try row.optionalText("order_id"),
                    isRevoked: try row.optionalInt("revoked_at") != nil, paidUntil: try row.optionalInt("paid_until"),
                    endsAt: try row.optionalInt("ends_at")))
        }
        return grants
    }

    private static func counts(_ database: any Database, _ sql: String) throws -> [String: Int64] {
        var counts: [String: Int64] = [:]
        for row in try database.rows(sql) { counts[try row.text("subject")] = try row.int("times") }
        return counts
    }

    // MARK: The book

    /// A payment in the sandbox's book.
    private struct Entry: Decodable {
        struct Refund: Decodable {
            let amount: Price
            let succeeded: Bool
        }

        let amount: Price
        let status: String
        let order: String?
        let refunds: [String: Refund]?
        let is_charge: Bool?

        /// True where the service took the money and has not given all of it back.
        var isTaken: Bool {
            let returned = (refunds ?? [:]).values.reduce(0) { $0 + ($1.succeeded ? $1.amount.value : 0) }
            return is_charge == true && status == "succeeded" && returned < amount.value
        }
    }

    private static func charges(_ database: any Database) throws -> [Charge] {
        let sql = """
            SELECT account, key, value FROM account_book WHERE account LIKE 'fault-renewals-%' AND key LIKE 'pay_%'
            ORDER BY account, position
            """
        var charges: [Charge] = []
        for row in try database.rows(sql) {
            let entry = try JSONDecoder().decode(Entry.self, from: try row.blob("value"))
            guard entry.isTaken else { continue }
            charges.append(
                Charge(
                    payment: try row.text("key"), order: entry.order ?? "", account: try row.text("account"),
                    amount: entry.amount.value))
        }
        return charges
    }
}
