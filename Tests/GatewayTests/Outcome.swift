import Store
import TestSupport

@testable import Domain
@testable import Gateway

/// Everything about an order that the order of its facts must not decide: states, sums, grants and balances, no times.
struct Outcome: Equatable, CustomStringConvertible {
    let description: String
}

extension GatewayFixture {
    func outcome(_ id: ID<Order>) async throws -> Outcome {
        let text = try await store.read { db in
            guard let order = try db.orders.find(id) else { return "" }
            let payments = try db.payments.list(of: id).value().map {
                "\($0.payment.state) captured \($0.captured) refunding \($0.refunding) refunded \($0.refunded) lost \($0.lost)"
            }
            let refunds = try db.refunds.list(of: id).value().map { "\($0.state) \($0.amount) counted \($0.counted)" }
                .sorted()
            let disputes = try db.disputes.list(of: id).value().map { "\($0.state) \($0.amount)" }.sorted()
            let grants = try db.grants.list(of: id).value().map {
                "\($0.sku) revoked \($0.revocation?.reason.rawValue ?? "no") suspended \($0.suspended)"
            }
            // Units that were never given and units that were taken back are both none.
            let balances = try db.wallets.balances(of: order.user).value().flatMap { environment, units in
                units.filter { $0.value != 0 }.map { "\(environment) \($0.key) \($0.value)" }
            }
            return """
                order \(order.status) charged \(order.charged.map { "\($0)" } ?? "nothing")
                payments \(payments)
                refunds \(refunds)
                disputes \(disputes)
                grants \(grants)
                balances \(balances.sorted())
                """
        }
        return Outcome(description: text)
    }
}

/// Every order of some things.
func permutations<Element>(_ elements: [Element]) -> [[Element]] {
    guard let first = elements.first else { return [[]] }
    return permutations(Array(elements.dropFirst())).flatMap { rest in
        (0...rest.count).map { index in Array(rest[..<index]) + [first] + Array(rest[index...]) }
    }
}
