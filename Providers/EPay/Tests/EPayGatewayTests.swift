import Domain
import EPayProvider
import Foundation
import Gateway
import ProviderKit
import ProviderTesting
import Store
import Synchronization
import TestSupport
import Testing

/// Tests from the checkout to the paid order and the refund, on both engines.
struct EPayGatewayTests {
    private func withEPay(
        on engine: TestEngine, settings: [String: SettingValue] = [:],
        _ body: (EPayGatewayFixture, FakeEPayServer) async throws -> Void
    ) async throws {
        try await withDesk(on: engine) { desk in
            let standIn = FakeEPayServer()
            let transport = RecordingTransport { standIn.answer($0) }
            try await body(try EPayGatewayFixture(desk, http: transport, settings: settings), standIn)
        }
    }

    @Test(arguments: TestEngine.allCases, [[:], EPayFixture.mapi])
    func `a paid order is paid by its notification, once`(
        engine: TestEngine, settings: [String: SettingValue]
    ) async throws {
        try await withEPay(on: engine, settings: settings) { epay, standIn in
            let contract = try await epay.checkout()
            let payment = try epay.desk.payment(contract).rawValue
            switch contract.instruction {
            case .qr(let text): #expect(!settings.isEmpty && text.hasPrefix("weixin://"))
            case .url(let address): #expect(standIn.visit(address) == payment)
            default: Issue.record("another contract: \(contract.instruction)")
            }
            #expect(standIn.act(1, payment))
            let text = EPayNotice(payment, money: "39.9").text()
            // Once by each HTTP method, and a repetition.
            for raw in [EPayNotice.get(text), EPayNotice.post(text), EPayNotice.get(text)] {
                #expect(try await epay.notify(raw).body == "success")
            }
            #expect(try await epay.order(contract).status == .paid)
            #expect(try await epay.desk.grants(contract.order).count == 1)
            // Only the whole amount can be refunded.
            await #expect(throws: GatewayError.providerRejected(reason: "refund_in_full_only")) {
                try await epay.gateway.refunds.request(
                    contract.order.rawValue, amount: GatewayFixture.money(1_000), reason: "a test", context: .test)
            }
            let refund = try await epay.gateway.refunds.request(
                contract.order.rawValue, amount: nil, reason: "a test", context: .test)
            #expect(refund.refund.state == .succeeded)
            let order = try await epay.order(contract)
            #expect(order.status == .refunded && order.order.anomalies.isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another amount, merchant or key pays nothing`(engine: TestEngine) async throws {
        try await withEPay(on: engine) { epay, _ in
            let contract = try await epay.checkout()
            let payment = try epay.desk.payment(contract).rawValue
            try await epay.notify(EPayNotice.get(EPayNotice(payment, money: "0.01").text()))
            var other = EPayNotice(payment)
            other.fields["pid"] = "1002"
            for text in [other.text(), EPayNotice(payment).text(key: "another0key"), "", "a=%zz"] {
                await #expect(throws: GatewayError.invalidNotification) { try await epay.notify(EPayNotice.get(text)) }
            }
            let order = try await epay.order(contract)
            #expect(order.status == .open && order.order.anomalies == [.amountMismatch])
            #expect(try await epay.desk.grants(contract.order).isEmpty)
            // The right amount still pays.
            try await epay.notify(EPayNotice.get(EPayNotice(payment).text()))
            #expect(try await epay.order(contract).status == .paid)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what cannot be closed stays unfenced, and a second success is given back`(engine: TestEngine) async throws {
        try await withEPay(on: engine, settings: EPayFixture.mapi) { epay, standIn in
            let first = try await epay.checkout()
            let second = try await epay.retry(first, provider: EPayGatewayFixture.account)
            let (old, new) = (try epay.desk.payment(first), try epay.desk.payment(second))
            let payments = try await epay.desk.payments(first.order).map(\.payment)
            #expect(payments.first { $0.id == old }?.unfenced == true)
            #expect(payments.first { $0.id == new }?.unfenced == false)
            for payment in [new, old] {
                #expect(standIn.act(1, payment.rawValue))
                try await epay.notify(EPayNotice.get(EPayNotice(payment.rawValue).text()))
            }
            await epay.gateway.calls.untilIdle()
            try await epay.gateway.work()
            let order = try await epay.order(first)
            #expect(order.status == .paid && order.order.anomalies.contains(.duplicatePayment))
            let orders = standIn.state.withLock { $0.orders }
            #expect(orders[old.rawValue]?.refunds == 1 && orders[new.rawValue]?.refunds == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a payment whose notification never came is found by asking`(engine: TestEngine) async throws {
        try await withEPay(on: engine, settings: EPayFixture.mapi) { epay, standIn in
            let contract = try await epay.checkout()
            #expect(standIn.act(1, try epay.desk.payment(contract).rawValue))
            let order = try await epay.gateway.reconciliation.refresh(
                contract.order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            #expect(order.status == .paid)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an order that nobody paid is closed here, and money that comes late is late`(engine: TestEngine) async throws
    {
        try await withEPay(on: engine) { epay, _ in
            let contract = try await epay.checkout()
            try await epay.desk.pass(seconds: 31 * 60)
            try await epay.gateway.work()
            #expect(try await epay.order(contract).status == .closed)
            let payment = try epay.desk.payment(contract).rawValue
            try await epay.notify(EPayNotice.get(EPayNotice(payment).text()))
            #expect(try await epay.order(contract).order.anomalies == [.latePayment])
        }
    }
}

/// A whole gateway with one EPay account.
struct EPayGatewayFixture: ProviderGatewayFixture {
    static let account = "epay-main"

    let desk: GatewayFixture
    let gateway: Gateway

    /// - Parameter http: the transport to the service or to the fake server.
    init(_ desk: GatewayFixture, http: any HTTPTransport, settings: [String: SettingValue] = [:]) throws {
        self.desk = desk
        let account = try desk.account(Self.account, http: http) {
            try EPayProvider(account: EPayFixture.account(settings), context: $0)
        }
        gateway = desk.gateway(with: [account])
    }
}
