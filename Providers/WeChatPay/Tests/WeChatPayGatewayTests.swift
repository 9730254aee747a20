import Domain
import Foundation
import Gateway
import ProviderKit
import ProviderTesting
import Store
import Synchronization
import TestSupport
import Testing

/// From the checkout to the paid order and back, on both engines.
struct WeChatPayGatewayTests {
    private func withWeChat(
        on engine: TestEngine, _ setup: GatewayFixtureSetup = GatewayFixtureSetup(),
        _ body: (WeChatPayGatewayFixture) async throws -> Void
    ) async throws {
        try await withDesk(on: engine, setup) { desk in try await body(try WeChatPayGatewayFixture(desk)) }
    }

    @Test(arguments: TestEngine.allCases)
    func `a scanned code pays its order, once, and the money goes back`(engine: TestEngine) async throws {
        try await withWeChat(on: engine) { wechat in
            let contract = try await wechat.checkout()
            guard case .qr(let text) = contract.instruction else {
                Issue.record("another contract: \(contract.instruction)")
                return
            }
            #expect(text.hasPrefix("weixin://wxpay/"))
            #expect(try wechat.pay(contract))
            for _ in 0..<2 {
                let answer = try await wechat.notify(contract)
                #expect(answer.status == 204 && answer.body.isEmpty)
            }
            #expect(try await wechat.state(contract) == .paid)
            #expect(try await wechat.desk.grants(contract.order).count == 1)
            #expect(try await wechat.desk.payments(contract.order).first?.payment.reference?.hasPrefix("4200") == true)
            let refund = try await wechat.gateway.refunds.request(
                contract.order.rawValue, amount: GatewayFixture.money(1_000), reason: "a test", context: .test)
            #expect(refund.refund.state == .pending)
            try await wechat.settleRefund("SUCCESS", id: "EV-2")
            #expect(try await wechat.desk.refunds(contract.order).map(\.state) == [.succeeded])
            #expect(try await wechat.state(contract) == .partiallyRefunded)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refund that found no card stays pending, and a closed one failed`(engine: TestEngine) async throws {
        try await withWeChat(on: engine) { wechat in
            let contract = try await wechat.checkout()
            _ = try wechat.pay(contract)
            try await wechat.notify(contract)
            _ = try await wechat.gateway.refunds.request(
                contract.order.rawValue, amount: nil, reason: "a test", context: .test)
            try await wechat.settleRefund("ABNORMAL", id: "EV-2")
            #expect(try await wechat.desk.refunds(contract.order).map(\.state) == [.pending])
            try await wechat.settleRefund("CLOSED", id: "EV-3")
            #expect(try await wechat.desk.refunds(contract.order).map(\.state) == [.failed])
            #expect(try await wechat.state(contract) == .paid)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another amount pays nothing`(engine: TestEngine) async throws {
        try await withWeChat(on: engine) { wechat in
            let contract = try await wechat.checkout()
            _ = try wechat.pay(contract)
            try await wechat.notify(contract, total: 1)
            #expect(try await wechat.state(contract) == .open)
            #expect(try await wechat.desk.grants(contract.order).isEmpty)
        }
    }

    /// The code on the screen was scanned already when the user chose the page instead.
    @Test(arguments: TestEngine.allCases)
    func `switching leaves the first code unfenced, and a double payment goes back`(engine: TestEngine) async throws {
        try await withWeChat(on: engine) { wechat in
            let first = try await wechat.checkout()
            let number = try wechat.desk.payment(first).rawValue
            wechat.standIn.state.withLock { $0.orders[0].state = "USERPAYING" }
            let second = try await wechat.retry(first, WeChatPayGatewayFixture.h5)
            guard case .url(let page) = second.instruction else {
                Issue.record("another contract: \(second.instruction)")
                return
            }
            #expect(page.hasPrefix("https://wx.tenpay.com/"))
            var payments = try await wechat.desk.payments(first.order).map(\.payment)
            #expect(payments.map(\.unfenced) == [true, false] && payments.map(\.state) == [.pending, .pending])
            #expect(try wechat.pay(second) && wechat.pay(first))
            try await wechat.notify(second, account: WeChatPayGatewayFixture.h5)
            #expect(try await wechat.state(first) == .paid)
            try await wechat.notify(first, id: "EV-2")
            payments = try await wechat.desk.payments(first.order).map(\.payment)
            #expect(payments.map(\.state) == [.succeeded, .succeeded])
            #expect(try await wechat.desk.grants(first.order).count == 1)
            let order = try await wechat.desk.order(first.order)
            #expect(order.order.anomalies == [.duplicatePayment])
            try await wechat.work()
            let refunds = wechat.standIn.state.withLock { $0.refunds }
            #expect(refunds.map(\.order) == [number] && refunds.map(\.amount) == [first.amount.value])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `switching closes a code that nobody scanned, and still does not swear to it`(
        engine: TestEngine
    ) async throws {
        try await withWeChat(on: engine) { wechat in
            let first = try await wechat.checkout()
            let second = try await wechat.retry(first, WeChatPayGatewayFixture.h5)
            #expect(try !wechat.pay(first), "the old code is closed")
            let payments = try await wechat.desk.payments(first.order).map(\.payment)
            #expect(payments.map(\.state) == [.cancelled, .pending] && payments.map(\.unfenced) == [true, false])
            #expect(try wechat.pay(second))
            try await wechat.notify(second, account: WeChatPayGatewayFixture.h5)
            #expect(try await wechat.state(first) == .paid)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a lost opening is found by asking, and goes on`(engine: TestEngine) async throws {
        try await withWeChat(on: engine) { wechat in
            wechat.transport.behaviour = .lostReplies
            await #expect(throws: GatewayError.providerUnavailable) { try await wechat.checkout() }
            wechat.transport.behaviour = .normal
            let number = try #require(wechat.standIn.state.withLock { $0.orders.first?.number })
            #expect(wechat.standIn.act(succeed: true, on: number))
            try await wechat.desk.pass(seconds: 120)
            try await wechat.work()
            let orders = try await wechat.desk.count("orders WHERE state = 'paid'")
            #expect(orders == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an order that nobody paid is closed at WeChat Pay too`(engine: TestEngine) async throws {
        try await withWeChat(on: engine) { wechat in
            let contract = try await wechat.checkout()
            try await wechat.desk.pass(seconds: 31 * 60)
            try await wechat.work()
            #expect(try await wechat.state(contract) == .closed)
            #expect(try !wechat.pay(contract))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a probe and a stranger's signature are refused, and change nothing`(engine: TestEngine) async throws {
        try await withWeChat(on: engine) { wechat in
            let contract = try await wechat.checkout()
            _ = try wechat.pay(contract)
            let payment = try wechat.desk.payment(contract).rawValue
            let object = wechat.standIn.state.withLock { state in
                state.orders.first { $0.number == payment }?.json ?? [:]
            }
            let body = FakeWeChatPayServer.event("TRANSACTION.SUCCESS", object)
            let now = wechat.desk.clock.now.rawValue
            var probe = WeChatPaySeal.platform.headers(body, at: now)
            probe[3].value = "WECHATPAY/SIGNTEST/" + probe[3].value
            for headers in [probe, WeChatPaySeal(.stranger).headers(body, at: now)] {
                await #expect(throws: GatewayError.invalidNotification) {
                    try await wechat.gateway.notifications.receive(
                        token: GatewayFixture.notifyToken(WeChatPayGatewayFixture.native),
                        FakeWeChatPayServer.notification(body, headers))
                }
            }
            #expect(try await wechat.state(contract) == .open)
            try await wechat.notify(contract)
            #expect(try await wechat.state(contract) == .paid)
        }
    }
}
