import Domain
import Foundation
import Gateway
import ProviderKit
import ProviderTesting
import Store
import Synchronization
import TestSupport
import Testing

/// Tests from the checkout to the paid order and the refund, on both engines.
struct AlipayGatewayTests {
    private func withAlipay(
        on engine: TestEngine, _ setup: GatewayFixtureSetup = GatewayFixtureSetup(),
        settings: [String: SettingValue] = [:],
        _ body: (AlipayGatewayFixture, FakeAlipayServer, RecordingTransport) async throws -> Void
    ) async throws {
        try await withDesk(on: engine, setup) { desk in
            let standIn = FakeAlipayServer()
            let transport = RecordingTransport(changesSomething: { !$0.url.contains("query") }) { standIn.answer($0) }
            try await body(try AlipayGatewayFixture(desk, http: transport, settings: settings), standIn, transport)
        }
    }

    @Test(arguments: TestEngine.allCases, ["precreate", "web", "app"])
    func `a paid order is paid by its notification, once`(engine: TestEngine, mode: String) async throws {
        try await withAlipay(on: engine, settings: ["mode": .text(mode)]) { alipay, standIn, _ in
            let contract = try await alipay.desk.checkout(
                user: "alice", provider: AlipayGatewayFixture.account, platform: mode == "app" ? .android : .web,
                accept: [.qr, .url, .alipayApp], returnURL: "https://app.example/done", at: alipay.gateway)
            let payment = try alipay.desk.payment(contract).rawValue
            switch contract.instruction {
            case .alipayApp(let text): #expect(standIn.start(text) == payment)
            case .qr(let text): #expect(mode == "precreate" && text.hasPrefix("https://qr.alipay.com/"))
            case .url(let address): #expect(standIn.visit(address) == payment)
            default: Issue.record("another contract: \(contract.instruction)")
            }
            #expect(standIn.act("TRADE_SUCCESS", payment))
            let notice = AlipayNotice(payment, "TRADE_SUCCESS")
            // The notification is repeated, and sent again with another id.
            for id in ["1", "1", "2"] {
                var repeated = notice
                repeated.fields["notify_id"] = id
                #expect(try await alipay.notify(repeated.raw()).body == "success")
            }
            #expect(try await alipay.order(contract).status == .paid)
            #expect(try await alipay.desk.grants(contract.order).count == 1)
            let refund = try await alipay.gateway.refunds.request(
                contract.order.rawValue, amount: GatewayFixture.money(1_000), reason: "a test", context: .test)
            #expect(refund.refund.state == .succeeded)
            // Alipay reports the refund with the trade's own status.
            var told = AlipayNotice(payment, "TRADE_SUCCESS", id: "3")
            told.fields["refund_fee"] = "10.00"
            told.fields["gmt_refund"] = "2026-11-21 18:30:00.000"
            told.fields["out_biz_no"] = refund.refund.id.rawValue
            try await alipay.notify(told.raw())
            #expect(try await alipay.desk.refunds(contract.order).map(\.state) == [.succeeded])
            #expect(try await alipay.desk.grants(contract.order).count == 1)
            let order = try await alipay.order(contract)
            #expect(order.status == .partiallyRefunded && order.order.anomalies.isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another amount, seller, application or key pays nothing`(engine: TestEngine) async throws {
        try await withAlipay(on: engine) { alipay, _, _ in
            let contract = try await alipay.checkout()
            let payment = try alipay.desk.payment(contract).rawValue
            try await alipay.notify(AlipayNotice(payment, "TRADE_SUCCESS", amount: "0.01").raw())
            var refused: [RawNotification] = [
                AlipayNotice(payment, "TRADE_SUCCESS").raw(by: AlipayTestCertificates.stranger)
            ]
            for (name, value) in [("seller_id", "2088000000000002"), ("app_id", "2021000000000002")] {
                var notice = AlipayNotice(payment, "TRADE_SUCCESS", id: name)
                notice.fields[name] = value
                refused.append(notice.raw())
            }
            for raw in refused {
                await #expect(throws: GatewayError.invalidNotification) { try await alipay.notify(raw) }
            }
            let order = try await alipay.order(contract)
            #expect(order.status == .open && order.order.anomalies == [.amountMismatch])
            #expect(try await alipay.desk.grants(contract.order).isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a payer who changes from one code to another can pay both, and one is given back`(
        engine: TestEngine
    ) async throws {
        var policies = OrderPolicies()
        policies.duplicatePayment = .refund
        try await withAlipay(on: engine, GatewayFixtureSetup(policies: policies)) { alipay, standIn, _ in
            let first = try await alipay.checkout()
            let second = try await alipay.retry(first, provider: AlipayGatewayFixture.account)
            #expect(second.order == first.order && second.payment != first.payment)
            let (old, new) = (try alipay.desk.payment(first), try alipay.desk.payment(second))
            // The first code was never scanned, so Alipay had no trade to close.
            let payments = try await alipay.desk.payments(first.order).map(\.payment)
            #expect(payments.first { $0.id == old }?.unfenced == true)
            #expect(payments.first { $0.id == new }?.unfenced == false)
            for (payment, id) in [(new, "1"), (old, "2")] {
                #expect(standIn.act("TRADE_SUCCESS", payment.rawValue))
                try await alipay.notify(AlipayNotice(payment.rawValue, "TRADE_SUCCESS", id: id).raw())
            }
            await alipay.gateway.calls.untilIdle()
            try await alipay.gateway.work()
            let order = try await alipay.order(first)
            #expect(order.order.anomalies.contains(.duplicatePayment) && order.status == .paid)
            #expect(try await alipay.desk.grants(first.order).count == 1)
            let trades = standIn.state.withLock { $0.trades }
            #expect(trades[old.rawValue]?.refunded == 3990 && trades[new.rawValue]?.refunded == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a code that was scanned is closed before another is shown`(engine: TestEngine) async throws {
        try await withAlipay(on: engine) { alipay, standIn, _ in
            let first = try await alipay.checkout()
            let old = try alipay.desk.payment(first)
            #expect(standIn.act("WAIT_BUYER_PAY", old.rawValue))
            _ = try await alipay.retry(first, provider: "box-qr")
            #expect(!standIn.act("TRADE_SUCCESS", old.rawValue))
            let payments = try await alipay.desk.payments(first.order).map(\.payment)
            #expect(payments.first { $0.id == old }?.state == .cancelled)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a lost opening is found by asking`(engine: TestEngine) async throws {
        try await withAlipay(on: engine) { alipay, standIn, transport in
            transport.behaviour = .lostReplies
            await #expect(throws: GatewayError.providerUnavailable) { try await alipay.checkout() }
            transport.behaviour = .normal
            let payment = try #require(standIn.state.withLock { $0.offers.keys.first })
            #expect(standIn.act("TRADE_SUCCESS", payment))
            try await alipay.desk.pass(seconds: 120)
            try await alipay.gateway.work()
            let order = try #require(
                try await alipay.desk.store.read { db in try db.payments.find(ID(payment)!).value()?.payment.order })
            #expect(try await alipay.gateway.orders.find(order.rawValue).status == .paid)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an answer that nobody proves refunds nothing, and is asked about`(engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let standIn = FakeAlipayServer()
            let isForged = Mutex(false)
            let transport = RecordingTransport { request in
                var reply = standIn.answer(request)
                guard isForged.withLock({ $0 }) else { return reply }
                reply.body = Data(
                    String(decoding: reply.body, as: UTF8.self).replacing(
                        #""fund_change":"Y""#, with: #""fund_change":"y""#
                    )
                    .utf8)
                return reply
            }
            let alipay = try AlipayGatewayFixture(desk, http: transport)
            let contract = try await alipay.checkout()
            let payment = try desk.payment(contract).rawValue
            #expect(standIn.act("TRADE_SUCCESS", payment))
            try await alipay.notify(AlipayNotice(payment, "TRADE_SUCCESS").raw())
            isForged.withLock { $0 = true }
            await #expect(throws: GatewayError.providerUnavailable) {
                try await alipay.gateway.refunds.request(
                    contract.order.rawValue, amount: GatewayFixture.money(990), reason: "a test", context: .test)
            }
            #expect(try await desk.refunds(contract.order).map(\.state) == [.unknown])
            isForged.withLock { $0 = false }
            _ = try await alipay.gateway.reconciliation.refresh(
                contract.order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            #expect(try await desk.refunds(contract.order).map(\.state) == [.succeeded])
            #expect(standIn.state.withLock { $0.trades[payment]?.refunds.count } == 1)
        }
    }
}
