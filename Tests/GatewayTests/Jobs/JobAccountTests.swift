import ProviderKit
import ServiceLifecycle
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Jobs: accounts that hang and others")
struct JobAccountTests {
    /// What the jobs ask their accounts about.
    enum Work: String, CaseIterable, CustomTestStringConvertible {
        case payments, refunds, expiredOrders

        var testDescription: String { rawValue }
        var operation: SandboxFaults.Operation {
            switch self {
            case .payments: .query
            case .refunds: .queryRefund
            case .expiredOrders: .cancel
            }
        }
    }

    /// Something that must be asked about at an account.
    private static func make(_ work: Work, _ desk: GatewayFixture, user: String, at account: String) async throws {
        let contract = try await desk.checkout(user: user, provider: account)
        guard work == .refunds else { return }
        let payment = PaymentReport(payment: try desk.payment(contract), outcome: .succeeded(contract.amount))
        if account == "scripted" {
            try await desk.state("paid \(user)", .payment(payment))
        } else {
            try await desk.notify("payment.succeeded", contract)
        }
        _ = try? await desk.refund(contract.order)
    }

    @Test(arguments: TestEngine.allCases, Work.allCases)
    func `however much an account that hangs has to answer, others are asked at once`(
        _ engine: TestEngine, _ work: Work
    ) async throws {
        try await withDesk(on: engine) { desk in
            desk.scripted.refunds(.pending)
            desk.line.set(.refund, .lostReply)
            for number in 0..<12 { try await Self.make(work, desk, user: "slow\(number)", at: "scripted") }
            for number in 0..<6 { try await Self.make(work, desk, user: "quick\(number)", at: "box-url") }
            try await desk.pass(seconds: work == .expiredOrders ? 1_800 : 60)
            let (hanging, quick) = (Gate(), Gate())
            desk.scripted.hold { await hanging.pass() }
            desk.line.hold(work.operation, at: "box-url") { await quick.pass() }
            quick.open()
            let group = ServiceGroup(services: [JobRunner(gateway: desk.gateway)], logger: desk.gateway.logger)
            let running = Task { try await group.run() }
            await quick.arrivals(6)
            await hanging.arrivals(8)
            let held = try await desk.count(
                """
                jobs j JOIN payments p ON p.account = 'scripted'
                    AND (j.subject IN (p.id, p.order_id)
                         OR j.subject IN (SELECT id FROM refunds r WHERE r.payment_id = p.id))
                WHERE j.lease_until > 0
                """)
            #expect(held == 8)
            await group.triggerGracefulShutdown()
            hanging.open()
            try await running.value
        }
    }
}
