import Domain
import Testing

struct OrderRulesTests {
    private typealias Row = (
        Order.State, owned: Bool, LatePaymentPolicy, DuplicatePolicy, Order.State, grants: Bool, refunds: Bool, Anomaly?
    )

    private static let table: [Row] = [
        (.open, false, .fulfil, .refund, .paid, true, false, nil),
        (.open, false, .fulfil, .hold, .paid, true, false, nil),
        (.open, false, .refund, .refund, .paid, true, false, nil),
        (.open, false, .refund, .hold, .paid, true, false, nil),
        (.open, false, .hold, .refund, .paid, true, false, nil),
        (.open, false, .hold, .hold, .paid, true, false, nil),
        (.open, true, .fulfil, .refund, .paid, false, true, .duplicateOwnership),
        (.open, true, .fulfil, .hold, .paid, false, false, .duplicateOwnership),
        (.open, true, .refund, .refund, .paid, false, true, .duplicateOwnership),
        (.open, true, .refund, .hold, .paid, false, false, .duplicateOwnership),
        (.open, true, .hold, .refund, .paid, false, true, .duplicateOwnership),
        (.open, true, .hold, .hold, .paid, false, false, .duplicateOwnership),
        (.paid, false, .fulfil, .refund, .paid, false, true, .duplicatePayment),
        (.paid, false, .fulfil, .hold, .paid, false, false, .duplicatePayment),
        (.paid, false, .refund, .refund, .paid, false, true, .duplicatePayment),
        (.paid, false, .refund, .hold, .paid, false, false, .duplicatePayment),
        (.paid, false, .hold, .refund, .paid, false, true, .duplicatePayment),
        (.paid, false, .hold, .hold, .paid, false, false, .duplicatePayment),
        (.paid, true, .fulfil, .refund, .paid, false, true, .duplicatePayment),
        (.paid, true, .fulfil, .hold, .paid, false, false, .duplicatePayment),
        (.paid, true, .refund, .refund, .paid, false, true, .duplicatePayment),
        (.paid, true, .refund, .hold, .paid, false, false, .duplicatePayment),
        (.paid, true, .hold, .refund, .paid, false, true, .duplicatePayment),
        (.paid, true, .hold, .hold, .paid, false, false, .duplicatePayment),
        (.closed, false, .fulfil, .refund, .paid, true, false, .latePayment),
        (.closed, false, .fulfil, .hold, .paid, true, false, .latePayment),
        (.closed, false, .refund, .refund, .closed, false, true, .latePayment),
        (.closed, false, .refund, .hold, .closed, false, true, .latePayment),
        (.closed, false, .hold, .refund, .closed, false, false, .latePayment),
        (.closed, false, .hold, .hold, .closed, false, false, .latePayment),
        (.closed, true, .fulfil, .refund, .paid, false, true, .duplicateOwnership),
        (.closed, true, .fulfil, .hold, .paid, false, false, .duplicateOwnership),
        (.closed, true, .refund, .refund, .closed, false, true, .latePayment),
        (.closed, true, .refund, .hold, .closed, false, true, .latePayment),
        (.closed, true, .hold, .refund, .closed, false, false, .latePayment),
        (.closed, true, .hold, .hold, .closed, false, false, .latePayment),
    ]

    @Test(arguments: table.indices)
    func `a success does to its order what the policies say`(_ index: Int) {
        let (from, owned, late, duplicate, to, grants, refunds, anomaly) = Self.table[index]
        let policies = OrderPolicies(latePayment: late, duplicatePayment: duplicate)
        #expect(
            from.paymentSucceeded(policies: policies, alreadyOwned: owned)
                == OrderEffect(state: to, grants: grants, refunds: refunds, anomaly: anomaly))
    }

    @Test func `the table has every state, policy and ownership once`() {
        let rows = Set(Self.table.map { "\($0.0)/\($0.owned)/\($0.2)/\($0.3)" })
        #expect(rows.count == Self.table.count)
        #expect(rows.count == 3 * 2 * LatePaymentPolicy.allCases.count * DuplicatePolicy.allCases.count)
    }

    @Test func `money is granted for or given back, never both`() {
        #expect(Self.table.allSatisfy { !($0.grants && $0.refunds) })
        #expect(Self.table.allSatisfy { !$0.grants || $0.4 == .paid })
    }

    @Test func `by default late payments are fulfilled and duplicates refunded`() {
        let policies = OrderPolicies()
        #expect(policies.latePayment == .fulfil && policies.duplicatePayment == .refund)
        #expect(policies.expireAfterMinutes == 30)
    }
}

struct OrderStatusTests {
    private func order(
        _ state: Order.State, charged: Int64? = nil, refunding: Int64 = 0, refunded: Int64 = 0, lost: Int64 = 0
    ) throws -> Order {
        let cny = try #require(Currency("CNY"))
        let code = try #require(SKUCode("vip"))
        return Order(
            id: try sampleID(1), user: try sampleID(2), origin: .checkout, sku: code, quantity: 1,
            terms: try sku().terms(days: nil, quantity: 1), days: nil, amount: Money(value: 1_000, currency: cny),
            state: state, platform: .web, environment: .production, partner: nil, returnURL: nil, metadata: [:],
            charged: charged.map { Money(value: $0, currency: cny) }, refunding: refunding, refunded: refunded,
            lost: lost,
            createdAt: day(0), expiresAt: day(1))
    }

    @Test(
        arguments: [
            (.open, nil, 0, 0, .open, false), (.closed, nil, 0, 0, .closed, false),
            (.closed, 1_000, 1_000, 0, .closed, false), (.paid, 1_000, 0, 0, .paid, false),
            (.paid, 0, 0, 0, .paid, false), (.paid, nil, 0, 0, .paid, false),
            (.paid, 1_000, 1, 0, .partiallyRefunded, false), (.paid, 1_000, 999, 0, .partiallyRefunded, false),
            (.paid, 1_000, 1_000, 0, .refunded, true), (.paid, 1_000, 0, 1, .partiallyRefunded, false),
            (.paid, 1_000, 0, 1_000, .refunded, false), (.paid, 1_000, 400, 600, .refunded, true),
            (.paid, 1_000, 400, 599, .partiallyRefunded, false), (.paid, 1_000, 1_001, 0, .refunded, true),
            (.paid, nil, 1, 0, .refunded, true),
        ] as [(Order.State, Int64?, Int64, Int64, Order.Status, Bool)])
    func `the status follows from the state and the sums`(
        _ state: Order.State, _ charged: Int64?, _ refunded: Int64, _ lost: Int64, _ status: Order.Status,
        _ isFull: Bool
    ) throws {
        let order = try order(state, charged: charged, refunded: refunded, lost: lost)
        #expect(order.status == status)
        #expect(order.isFullyRefunded == isFull)
    }

    @Test func `a refund that is only on its way is not shown`() throws {
        #expect(try order(.paid, charged: 1_000, refunding: 1_000).status == .paid)
    }

    @Test func `a refund that bounces leads back`() throws {
        var order = try order(.paid, charged: 1_000)
        let steps: [(refunded: Int64, status: Order.Status)] = [
            (400, .partiallyRefunded), (1_000, .refunded), (400, .partiallyRefunded), (0, .paid),
        ]
        for step in steps {
            order.refunded = step.refunded
            #expect(order.status == step.status)
        }
        #expect(!order.isFullyRefunded)
    }
}
