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
struct PayPalGatewayTests {
    private func withPayPal(on engine: TestEngine, _ body: (PayPalGatewayFixture) async throws -> Void) async throws {
        try await withDesk(on: engine) { desk in try await body(try PayPalGatewayFixture(desk)) }
    }

    @Test(arguments: TestEngine.allCases)
    func `an approval is captured by its notification, once`(engine: TestEngine) async throws {
        try await withPayPal(on: engine) { paypal in
            let contract = try await paypal.checkout()
            guard case .url(let page) = contract.instruction else {
                Issue.record("another contract: \(contract.instruction)")
                return
            }
            #expect(page.hasPrefix("https://www.paypal.com/checkoutnow?token="))
            let order = try #require(try paypal.approve(contract))
            for _ in 0..<2 {
                let answer = try await paypal.notify("CHECKOUT.ORDER.APPROVED", order.json, id: "WH-1")
                #expect(answer.status == 200)
            }
            #expect(try await paypal.state(contract) == .paid)
            let captured = try #require(paypal.standIn.order(order.custom))
            #expect(captured.captures.count == 1 && captured.status == "COMPLETED")
            try await paypal.notify("PAYMENT.CAPTURE.COMPLETED", captured.captures[0].json, id: "WH-2")
            #expect(try await paypal.desk.grants(contract.order).count == 1)
            let part = GatewayFixture.money(20, "USD")
            let refund = try await paypal.gateway.refunds.request(
                contract.order.rawValue, amount: part, reason: "a test", context: .test)
            #expect(refund.refund.state == .succeeded)
            #expect(try await paypal.state(contract) == .partiallyRefunded)
            // The notification of the same refund changes nothing more.
            let made = try #require(paypal.standIn.order(order.custom)?.refunds.first)
            try await paypal.notify("PAYMENT.CAPTURE.REFUNDED", made.json, id: "WH-3")
            #expect(try await paypal.desk.refunds(contract.order).map(\.state) == [.succeeded])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an approval is captured when the payer comes back`(engine: TestEngine) async throws {
        try await withPayPal(on: engine) { paypal in
            let contract = try await paypal.checkout()
            #expect(try await paypal.comeBack(contract) == .open)
            #expect(try paypal.approve(contract) != nil)
            #expect(try await paypal.comeBack(contract) == .paid)
            #expect(paypal.standIn.state.withLock { $0.orders[0].captures.count } == 1)
        }
    }

    /// The order is complete, and its money is not there.
    @Test(arguments: TestEngine.allCases, ["PENDING", "DECLINED", "TELEPORTED"])
    func `a completed order with a capture that is not pays nothing`(engine: TestEngine, status: String) async throws {
        try await withPayPal(on: engine) { paypal in
            paypal.standIn.state.withLock { $0.captureStatus = status }
            let contract = try await paypal.checkout()
            let order = try #require(try paypal.approve(contract))
            try await paypal.notify("CHECKOUT.ORDER.APPROVED", order.json, id: "WH-1")
            let captured = try #require(paypal.standIn.order(order.custom))
            #expect(captured.status == "COMPLETED")
            try await paypal.notify("CHECKOUT.ORDER.COMPLETED", captured.json, id: "WH-2")
            #expect(try await paypal.state(contract) == .open)
            #expect(try await paypal.desk.grants(contract.order).isEmpty)
            guard status == "PENDING" else { return }
            // What was pending may be paid days later.
            paypal.standIn.state.withLock { $0.orders[0].captures[0].status = "COMPLETED" }
            let capture = try #require(paypal.standIn.order(order.custom)?.captures.first)
            try await paypal.notify("PAYMENT.CAPTURE.COMPLETED", capture.json, id: "WH-3")
            #expect(try await paypal.state(contract) == .paid)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `switching fences the approval, and a late one takes no money`(engine: TestEngine) async throws {
        try await withPayPal(on: engine) { paypal in
            let first = try await paypal.checkout()
            let second = try await paypal.retry(first, "box-url")
            let payments = try await paypal.desk.payments(first.order).map(\.payment)
            #expect(payments.map(\.state) == [.cancelled, .pending] && payments.map(\.unfenced) == [false, false])
            let order = try #require(try paypal.approve(first))
            try await paypal.notify("CHECKOUT.ORDER.APPROVED", order.json, id: "WH-1")
            #expect(paypal.standIn.order(order.custom)?.captures.isEmpty == true)
            try await paypal.desk.notify("payment.succeeded", second)
            #expect(try await paypal.state(first) == .paid)
            #expect(try await paypal.desk.order(first.order).order.anomalies.isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an order that nobody paid is closed, and a lost opening goes on`(engine: TestEngine) async throws {
        try await withPayPal(on: engine) { paypal in
            let contract = try await paypal.checkout()
            try await paypal.desk.pass(seconds: 31 * 60)
            try await paypal.work()
            #expect(try await paypal.state(contract) == .closed)
            paypal.transport.behaviour = .lostReplies
            await #expect(throws: GatewayError.providerUnavailable) { try await paypal.checkout() }
            paypal.transport.behaviour = .normal
            try await paypal.desk.pass(seconds: 120)
            try await paypal.work()
            #expect(paypal.standIn.state.withLock { $0.orders.allSatisfy { $0.captures.isEmpty } })
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a dispute suspends, a won one reinstates, and a lost one revokes`(engine: TestEngine) async throws {
        try await withPayPal(on: engine) { paypal in
            let contract = try await paypal.checkout()
            let order = try #require(try paypal.approve(contract))
            #expect(try await paypal.comeBack(contract) == .paid)
            func tell(_ id: String, _ status: String, _ code: String? = nil, stage: String = "CHARGEBACK") async throws
            {
                let capture = try #require(paypal.standIn.order(order.custom)?.captures.first?.id)
                var object = PayPalRehearsal.dispute(
                    "PP-D-1", order.custom, order.amount, status, code, capture: capture)
                object["dispute_life_cycle_stage"] = stage
                let data = try JSONSerialization.data(withJSONObject: object)
                paypal.standIn.state.withLock { $0.disputes["PP-D-1"] = data }
                try await paypal.notify("CUSTOMER.DISPUTE.UPDATED", object, id: id)
            }
            func active() async throws -> [Bool] {
                try await paypal.desk.grants(contract.order).map { !$0.suspended && $0.revocation == nil }
            }
            try await tell("WH-1", "OPEN", stage: "INQUIRY")
            #expect(try await active() == [true])
            try await tell("WH-2", "UNDER_REVIEW")
            #expect(try await active() == [false])
            try await tell("WH-3", "RESOLVED", "RESOLVED_SELLER_FAVOUR")
            #expect(try await active() == [true])
        }
    }

    /// Money that went back by itself, with the ids that PayPal takes over from the capture.
    private func back(
        _ paypal: PayPalGatewayFixture, _ order: FakePayPalServer.Order, _ id: String, status: String = "COMPLETED"
    ) throws -> FakePayPalServer.Refund {
        let capture = try #require(paypal.standIn.order(order.custom)?.captures.first?.id)
        let made = FakePayPalServer.Refund(
            id: id, capture: capture, custom: order.custom, invoice: order.custom, amount: order.amount, status: status)
        paypal.standIn.state.withLock { $0.refunds.append(made) }
        return made
    }

    private func paid(_ paypal: PayPalGatewayFixture) async throws -> (PaymentContract, FakePayPalServer.Order) {
        let contract = try await paypal.checkout()
        let order = try #require(try paypal.approve(contract))
        #expect(try await paypal.comeBack(contract) == .paid)
        return (contract, order)
    }

    @Test(arguments: TestEngine.allCases)
    func `a refund that was made at PayPal is followed to its end`(engine: TestEngine) async throws {
        try await withPayPal(on: engine) { paypal in
            let (contract, order) = try await paid(paypal)
            let made = try back(paypal, order, "1JU0", status: "PENDING")
            try await paypal.notify("PAYMENT.REFUND.PENDING", made.json, id: "WH-1")
            #expect(try await paypal.desk.refunds(contract.order).map(\.state) == [.pending])
            paypal.standIn.state.withLock { $0.refunds[0].status = "COMPLETED" }
            try await paypal.desk.pass(seconds: 60)
            try await paypal.work()
            #expect(try await paypal.desk.refunds(contract.order).map(\.state) == [.succeeded])
            #expect(try await paypal.state(contract) == .refunded)
        }
    }

    @Test(arguments: TestEngine.allCases, [true, false])
    func `a reversal takes the grant back, once, with a dispute and without`(
        engine: TestEngine, isDisputed: Bool
    ) async throws {
        try await withPayPal(on: engine) { paypal in
            let (contract, order) = try await paid(paypal)
            let reversal = try back(paypal, order, "REV1")
            let dispute = PayPalRehearsal.dispute(
                "PP-D-1", order.custom, order.amount, "RESOLVED", "RESOLVED_BUYER_FAVOUR", capture: reversal.capture)
            if isDisputed {
                let data = try JSONSerialization.data(withJSONObject: dispute)
                paypal.standIn.state.withLock { $0.disputes["PP-D-1"] = data }
            }
            for id in ["WH-1", "WH-2"] { try await paypal.notify("PAYMENT.CAPTURE.REVERSED", reversal.json, id: id) }
            if isDisputed { try await paypal.notify("CUSTOMER.DISPUTE.RESOLVED", dispute, id: "WH-3") }
            let record = try #require(try await paypal.desk.payments(contract.order).first)
            #expect(record.lost == (isDisputed ? contract.amount.value : 0))
            #expect(record.refunded == (isDisputed ? 0 : contract.amount.value))
            #expect(try await paypal.desk.grants(contract.order).allSatisfy { $0.revocation != nil })
            #expect(try await paypal.desk.order(contract.order).order.anomalies.isEmpty)
        }
    }

    /// It waited for two days because PayPal was away, and then its answer was lost.
    @Test(arguments: TestEngine.allCases)
    func `a refund that waited before it was sent is given up a day after its sending`(engine: TestEngine) async throws
    {
        try await withPayPal(on: engine) { paypal in
            let (contract, _) = try await paid(paypal)
            func refund() async throws -> Refund { try #require(try await paypal.desk.refunds(contract.order).first) }
            paypal.transport.behaviour = .unavailable
            await #expect(throws: GatewayError.providerUnavailable) {
                try await paypal.gateway.refunds.request(
                    contract.order.rawValue, amount: nil, reason: "a test", context: .test)
            }
            #expect(try await refund().state == .created)
            try await paypal.desk.pass(seconds: 2 * 86_400)
            paypal.transport.behaviour = .normal
            paypal.standIn.script("/refund", IncomingReply(status: 500))
            try await paypal.work()
            let sent = paypal.desk.clock.now
            #expect(try await refund().state == .unknown)
            #expect(try await refund().sentAt == sent)
            for _ in 0..<3 {
                try await paypal.desk.pass(seconds: 3_600)
                try await paypal.work()
                #expect(try await refund().state.isBinding)
            }
            #expect(paypal.standIn.state.withLock { $0.orders[0].refunds.isEmpty })
            try await paypal.desk.pass(seconds: 86_400)
            try await paypal.work()
            #expect(try await refund().state == .failed)
            #expect(try await refund().sentAt == sent)
            #expect(try await paypal.state(contract) == .paid)
        }
    }
}
