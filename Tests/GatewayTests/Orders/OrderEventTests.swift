import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

/// The event of a new order is made of what its transaction knows, and has to say what reading it again would.
@Suite("Events of new orders")
struct OrderEventTests {
    /// An order as the database has it.
    private static func read(_ order: ID<Order>, at desk: GatewayFixture) async throws -> JSONValue {
        let text = try await desk.store.read { db in
            try OrderSnapshot.load(order, from: db, audience: .stored)?.storedJSON()
        }
        return try JSONDecoder().decode(JSONValue.self, from: Data((text ?? "").utf8))
    }

    @Test(arguments: TestEngine.allCases, [("vip_month", 2, nil), ("basic_days", 1, 7), ("walkie", 1, nil)])
    func `a checkout's event is the order as it is stored`(
        _ engine: TestEngine, _ asked: (sku: String, quantity: Int64, days: Int64?)
    ) async throws {
        try await withDesk(on: engine) { desk in
            // Nothing becomes of it after its transaction.
            desk.line.set(.open, .unavailable)
            await #expect(throws: GatewayError.providerUnavailable) {
                try await desk.checkout(
                    asked.sku, quantity: asked.quantity, days: asked.days, returnURL: "https://app.example/back")
            }
            let order = try await desk.onlyOrder()
            let told = try await desk.eventData(order.rawValue)
            #expect(try await told == [Self.read(order, at: desk)])
            guard case .object(let fields)? = told.first, case .array(let payments)? = fields["payments"],
                case .array(let timeline)? = fields["timeline"]
            else {
                Issue.record("\(told)")
                return
            }
            #expect(payments.count == 1 && timeline.count == 2)
        }
    }

    static let sales: [(String, String, Int64?)] = [
        ("com.example.vip.month", AppleSale.pass, 39_900), ("merchant.example.day7", AppleSale.pass, nil),
        ("com.example.gems", AppleSale.consumable, 0), ("com.example.apple.auto", AppleSale.subscription, 29_900),
        // Of another kind than the SKU's, which is an anomaly.
        ("com.example.vip.year", AppleSale.consumable, 39_900),
        ("com.example.vip.year", AppleSale.subscription, 39_900),
    ]

    @Test(arguments: TestEngine.allCases, Self.sales)
    func `a purchase's event is the order as it is stored`(
        _ engine: TestEngine, _ sold: (product: String, kind: String, price: Int64?)
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sale = apple.sale(sold.product, sold.kind) {
                $0.price = sold.price
                $0.currency = sold.price.map { _ in "CNY" }
                if sold.kind == AppleSale.subscription { $0.expires = $0.purchased + 30 * 86_400_000 }
            }
            let attached = try await apple.attach(sale)
            let order = try #require(ID<Order>(attached.order_id))
            let told = try await apple.desk.eventData(attached.order_id)
            #expect(try await told.last == Self.read(order, at: apple.desk))
            guard case .object(let fields)? = told.last else {
                Issue.record("\(told)")
                return
            }
            #expect(fields["provider"] != .null && fields["status"] == .string("paid"))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `so are those of what was owned already, and of a renewal`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sales = [
                apple.sale("com.example.life", AppleSale.nonConsumable),
                apple.sale("com.example.life", AppleSale.nonConsumable),
                apple.period("1", from: 0), apple.period("1", from: 30) { $0.isRenewal = true },
            ]
            for sale in sales {
                let attached = try await apple.attach(sale)
                let order = try #require(ID<Order>(attached.order_id))
                let told = try await apple.desk.eventData(attached.order_id)
                #expect(try await told.last == Self.read(order, at: apple.desk), "\(sale.product) \(sale.id)")
            }
        }
    }
}
