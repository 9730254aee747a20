import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Every order of arrival ends in one state")
struct ArrivalOrderTests {
    /// Facts about one payment, and the state in which all their orders end.
    struct Story: Sendable, CustomTestStringConvertible {
        enum Fact: Sendable {
            case pending, succeeded, failed, cancelled, refunded(Int64), opened, won, lost
        }

        let testDescription: String
        var sku = "vip_month"
        let facts: [Fact]
        let status: Order.Status
        let active: Bool
        var balance: Int64 = 0
    }

    static let stories = [
        Story(
            testDescription: "a success between others", facts: [.pending, .succeeded, .failed], status: .paid,
            active: true),
        Story(
            testDescription: "a success and a cancellation", facts: [.pending, .succeeded, .cancelled], status: .paid,
            active: true),
        Story(
            testDescription: "a success told three times", facts: [.succeeded, .succeeded, .succeeded], status: .paid,
            active: true),
        Story(testDescription: "no success", facts: [.pending, .failed, .pending], status: .open, active: false),
        Story(
            testDescription: "a dispute that is open", facts: [.pending, .succeeded, .opened], status: .paid,
            active: false),
        Story(testDescription: "a dispute won", facts: [.succeeded, .opened, .won], status: .paid, active: true),
        Story(
            testDescription: "a dispute lost", facts: [.succeeded, .opened, .lost], status: .refunded, active: false),
        Story(
            testDescription: "a part refunded", facts: [.pending, .succeeded, .refunded(1000)],
            status: .partiallyRefunded, active: true),
        Story(
            testDescription: "all refunded, a dispute won",
            facts: [.pending, .succeeded, .refunded(3990), .opened, .won],
            status: .refunded, active: false),
        Story(
            testDescription: "a part refunded, the dispute lost",
            facts: [.pending, .succeeded, .refunded(1000), .opened, .lost], status: .refunded, active: false),
        Story(
            testDescription: "two parts refunded", facts: [.pending, .succeeded, .refunded(1000), .refunded(2990)],
            status: .refunded, active: false),
        Story(
            testDescription: "units refunded and disputed", sku: "coins",
            facts: [.pending, .succeeded, .refunded(600), .opened, .won], status: .refunded, active: false, balance: 0),
        Story(
            testDescription: "units kept", sku: "coins", facts: [.succeeded, .opened, .won], status: .paid,
            active: false, balance: 100),
    ]

    /// 720 orders: on one engine, because what is settled does not depend on it and the shorter stories show that.
    @Test func `whatever of six comes first`() async throws {
        try await Self.tell(
            Story(
                testDescription: "six of them", facts: [.pending, .failed, .succeeded, .refunded(1000), .opened, .won],
                status: .partiallyRefunded, active: true), on: .sqlite)
    }

    @Test(arguments: TestEngine.allCases, stories)
    func `whatever comes first`(_ engine: TestEngine, _ story: Story) async throws {
        try await Self.tell(story, on: engine)
    }

    private static func tell(_ story: Story, on engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let orders = permutations(Array(story.facts.enumerated()))
            let outcomes = try await withThrowingTaskGroup(of: (Outcome, Bool, Int64, Order.Status).self) { group in
                for (number, order) in orders.enumerated() {
                    if number >= 8 { _ = try await group.next() }
                    group.addTask { try await play(order, story, at: desk, user: "user\(number)") }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let first = try #require(outcomes.first)
            for outcome in outcomes {
                #expect(outcome.0 == first.0)
                #expect(outcome.1 == story.active)
                #expect(outcome.2 == story.balance)
                #expect(outcome.3 == story.status)
            }
        }
    }

    private static func play(
        _ facts: [(offset: Int, element: Story.Fact)], _ story: Story, at desk: GatewayFixture, user: String
    ) async throws -> (Outcome, Bool, Int64, Order.Status) {
        let contract = try await desk.checkout(story.sku, user: user, provider: "scripted")
        for (number, fact) in facts {
            try await desk.state(
                "\(user) \(number)", Self.fact(fact, number, try desk.payment(contract), contract.amount))
        }
        let snapshot = try await desk.snapshot(user)
        return (
            try await desk.outcome(contract.order), snapshot.active, snapshot.balances["coins"] ?? 0,
            try await desk.order(contract.order).status
        )
    }

    private static func fact(
        _ fact: Story.Fact, _ number: Int, _ payment: ID<Payment>, _ price: Money
    ) -> ProviderFact {
        func said(_ outcome: PaymentOutcome) -> ProviderFact { .payment(.init(payment: payment, outcome: outcome)) }
        func dispute(_ outcome: DisputeOutcome) -> ProviderFact {
            .dispute(
                .init(
                    payment: payment, reference: "complaint", outcome: outcome, amount: price,
                    // By the provider's own clock it was opened before it was decided.
                    at: Timestamp(outcome == .opened ? 10 : 20)))
        }
        switch fact {
        case .pending: return said(.accepted)
        case .succeeded: return said(.succeeded(price))
        case .failed: return said(.failed(reason: "declined"))
        case .cancelled: return said(.cancelled)
        case .refunded(let value):
            return .refund(
                .init(
                    payment: payment, refund: nil, outcome: .succeeded,
                    amount: Money(value: value, currency: price.currency), reference: "refund-\(payment)-\(number)"))
        case .opened: return dispute(.opened)
        case .won: return dispute(.won)
        case .lost: return dispute(.lost)
        }
    }
}
