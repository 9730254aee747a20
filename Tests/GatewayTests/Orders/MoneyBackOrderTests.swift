import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

/// What a provider says of money that comes and goes back, in every order in which it can arrive.
@Suite("Refunds and disputes in every order")
struct MoneyBackOrderTests {
    enum Fact: Sendable {
        case accepted, succeeded, refundCreated, refundSucceeded, refundFailed, opened, won, lost
    }

    /// Facts about one payment with one refund and one dispute, and the state in which all their orders end.
    struct Story: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let facts: [Fact]
        var refund: Int64 = 1_000
        /// Our own refund, made once the payment was paid; else one that was made at the provider.
        var isOurs = false
        let status: Order.Status
        let active: Bool
        let refunded: Int64
        let lost: Int64
    }

    static let stories = [
        Story(
            testDescription: "a part back, the dispute lost",
            facts: [.succeeded, .refundCreated, .refundSucceeded, .opened, .lost], status: .refunded, active: false,
            refunded: 0, lost: 3_990),
        Story(
            testDescription: "a refund that came back, the dispute open",
            facts: [.accepted, .succeeded, .refundSucceeded, .refundFailed, .opened], status: .paid, active: false,
            refunded: 0, lost: 0),
        Story(
            testDescription: "all back, and the dispute lost as well",
            facts: [.accepted, .succeeded, .refundSucceeded, .opened, .lost], refund: 3_990, status: .refunded,
            active: false, refunded: 0, lost: 3_990),
        Story(
            testDescription: "our refund that came back, the dispute won",
            facts: [.refundCreated, .refundSucceeded, .refundFailed, .opened, .won], isOurs: true, status: .paid,
            active: true, refunded: 0, lost: 0),
        Story(
            testDescription: "our refund, the dispute lost",
            facts: [.succeeded, .refundCreated, .refundSucceeded, .opened, .lost], refund: 3_990, isOurs: true,
            status: .refunded, active: false, refunded: 0, lost: 3_990),
    ]

    /// 720 orders: on one engine, because what is settled does not depend on it and the shorter stories show that.
    @Test func `every order of six ends in one state`() async throws {
        try await Self.tell(
            Story(
                testDescription: "a refund that came back, the dispute won",
                facts: [.succeeded, .refundCreated, .refundSucceeded, .refundFailed, .opened, .won], status: .paid,
                active: true, refunded: 0, lost: 0), on: .sqlite)
    }

    @Test(arguments: TestEngine.allCases, stories)
    func `every order ends in one state, grants once and gives back no more than was captured`(
        _ engine: TestEngine, _ story: Story
    ) async throws { try await Self.tell(story, on: engine) }

    private static func tell(_ story: Story, on engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            if story.isOurs { desk.scripted.refunds(.pending) }
            let orders = permutations(Array(story.facts.enumerated()))
            let ends = try await withThrowingTaskGroup(of: Outcome.self) { group in
                for (number, order) in orders.enumerated() {
                    if number >= 8 { _ = try await group.next() }
                    group.addTask { try await play(order, story, at: desk, user: "user\(number)") }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1.description) }
            }
            #expect(ends.count == 1, "\(ends.joined(separator: "\n"))")
            #expect(try await desk.count("orders") == Int64(orders.count))
        }
    }

    private static func play(
        _ facts: [(offset: Int, element: Fact)], _ story: Story, at desk: GatewayFixture, user: String
    ) async throws -> Outcome {
        let contract = try await desk.checkout(user: user, provider: "scripted")
        let payment = try desk.payment(contract)
        var refund: ID<Refund>?
        if story.isOurs {
            try await desk.state(
                "\(user) paid", .payment(.init(payment: payment, outcome: .succeeded(contract.amount))))
            refund = try await desk.refund(contract.order, story.refund).refund.id
        }
        for (number, fact) in facts {
            try await desk.state("\(user) \(number)", Self.fact(fact, payment, contract.amount, story, refund))
            // What holds after every single fact.
            let record = try #require(try await desk.payments(contract.order).first)
            #expect(record.refunding + record.lost <= record.captured && record.refunded <= record.refunding)
        }
        let order = try await desk.order(contract.order)
        let record = try #require(try await desk.payments(contract.order).first)
        #expect(order.status == story.status)
        #expect(try await desk.snapshot(user).active == story.active)
        #expect(record.refunded == story.refunded && record.lost == story.lost)
        #expect(try await desk.grants(contract.order).count == 1)
        #expect(try await desk.events(contract.order.rawValue).filter { $0 == "order.paid" }.count == 1)
        #expect(try await desk.refunds(contract.order).count == 1, "a refund was taken for two")
        return try await desk.outcome(contract.order)
    }

    private static func fact(
        _ fact: Fact, _ payment: ID<Payment>, _ price: Money, _ story: Story, _ ours: ID<Refund>?
    ) -> ProviderFact {
        func refund(_ outcome: RefundOutcome) -> ProviderFact {
            .refund(
                .init(
                    payment: payment, refund: ours, outcome: outcome,
                    amount: Money(value: story.refund, currency: price.currency),
                    reference: ours.map { "scripted-\($0)" } ?? "refund-of-\(payment)"))
        }
        func dispute(_ outcome: DisputeOutcome) -> ProviderFact {
            .dispute(
                .init(
                    payment: payment, reference: "complaint", outcome: outcome, amount: price,
                    // By the provider's own clock it was opened before it was decided.
                    at: Timestamp(outcome == .opened ? 10 : 20)))
        }
        switch fact {
        case .accepted: return .payment(.init(payment: payment, outcome: .accepted))
        case .succeeded: return .payment(.init(payment: payment, outcome: .succeeded(price)))
        case .refundCreated: return refund(.pending)
        case .refundSucceeded: return refund(.succeeded)
        case .refundFailed: return refund(.failed(reason: "bounced"))
        case .opened: return dispute(.opened)
        case .won: return dispute(.won)
        case .lost: return dispute(.lost)
        }
    }
}
