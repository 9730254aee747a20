import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Orders and Apple Pay payments that end")
struct ApplePayCancellationTests {
    @Test(arguments: TestEngine.allCases)
    func `closed, expired and foreign orders take no token`(_ engine: TestEngine) async throws {
        try await withWalletDesk(on: engine) { wallet in
            let (closed, expired) = (try await wallet.checkout(), try await wallet.checkout())
            #expect(
                try await wallet.refusal(closed, try wallet.token(closed), user: "bob")
                    == .orderNotFound(closed.order.rawValue))
            _ = try await wallet.gateway.orderClosing.cancel(
                closed.order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            #expect(try await wallet.refusal(closed, try wallet.token(closed)) == .orderNotOpen)
            try await wallet.desk.pass(seconds: 1_801)
            #expect(try await wallet.refusal(expired, try wallet.token(expired)) == .orderNotOpen)
            try await wallet.work()
            #expect(try await wallet.desk.order(expired.order).order.state == .closed)
            #expect(try await wallet.desk.payments(expired.order).map(\.payment.state) == [.cancelled])
            #expect(wallet.line.count(.charge) == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another way to pay closes the contract for certain`(_ engine: TestEngine) async throws {
        try await withWalletDesk(on: engine) { wallet in
            let first = try await wallet.checkout()
            let second = try await wallet.retry(first.order, accept: [.qr], provider: "box-qr")
            let records = try await wallet.desk.payments(first.order).map(\.payment)
            #expect(records.map(\.state) == [.cancelled, .pending] && records.allSatisfy { !$0.unfenced })
            #expect(try await wallet.refusal(first, try wallet.token(first))?.withoutReason == .conflict(reason: ""))
            try await wallet.desk.notify("payment.succeeded", second)
            #expect(try await wallet.desk.order(first.order).status == .paid)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an order is paid by card of the wallet after a QR was shown`(_ engine: TestEngine) async throws {
        try await withWalletDesk(on: engine) { wallet in
            let qr = try await wallet.desk.checkout(provider: "box-qr")
            let missing = try await wallet.refusal(qr, Data("{}".utf8))
            #expect(missing?.withoutReason == .conflict(reason: ""))
            let contract = try await wallet.retry(qr.order)
            #expect(try await wallet.pay(contract, try wallet.token(contract)).status == .paid)
            #expect(try await wallet.desk.payments(qr.order).map(\.payment.state) == [.cancelled, .succeeded])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an order that is closed while the charge is on its way is not charged`(_ engine: TestEngine) async throws {
        try await withWalletDesk(on: engine) { wallet in
            let contract = try await wallet.checkout()
            let token = try wallet.token(contract)
            let gate = Gate()
            wallet.line.hold(.charge, at: ApplePayGatewayFixture.processor) { await gate.pass() }
            async let paying = wallet.pay(contract, token).status
            await gate.arrivals()
            // The processor, which has not heard of it, closes it: the charge comes too late.
            let closed = try await wallet.gateway.orderClosing.cancel(
                contract.order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            #expect(closed.order.state == .closed)
            gate.open()
            #expect(try await paying == .failed)
            #expect(try await wallet.desk.payments(contract.order).map(\.payment.state) == [.cancelled])
            #expect(try await wallet.desk.order(contract.order).order.anomalies.isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what the contract's account says of a payment that is being charged meanwhile does not count`(
        _ engine: TestEngine
    ) async throws {
        try await withWalletDesk(on: engine) { wallet in
            let contract = try await wallet.checkout()
            let token = try wallet.token(contract)
            let payment = try #require(try await wallet.desk.payments(contract.order).first?.payment)
            let audit = AuditContext(actor: .user, requestID: "req_test")
            let report = try await wallet.gateway.paymentAttempts.ask(payment, audit: audit) { client, reference in
                _ = try? await wallet.pay(contract, token)
                return try? await client.cancel(reference)
            }
            #expect(report == nil)
            #expect(try await wallet.desk.payments(contract.order).map(\.payment.state) == [.succeeded])
            #expect(try await wallet.desk.order(contract.order).order.anomalies.isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another attempt that meets a charge asks its processor`(_ engine: TestEngine) async throws {
        try await withWalletDesk(on: engine) { wallet in
            let contract = try await wallet.checkout()
            let token = try wallet.token(contract)
            let audit = AuditContext(actor: .user, requestID: "req_test")
            let payment = try wallet.desk.payment(contract)
            let processor = try AccountID.test(ApplePayGatewayFixture.processor)
            // The token is claimed between the reading of the payment and the settlement of its cancellation.
            let stale = try #require(try await wallet.desk.payments(contract.order).first?.payment)
            _ = try await wallet.gateway.settlements.run(audit) {
                try TokenClaim($0).claim("ab", for: payment, processor: processor)
            }
            #expect(
                try await wallet.gateway.paymentAttempts.ask(stale, audit: audit) { try? await $0.cancel($1) } == nil)
            let next = try await wallet.retry(contract.order, accept: [.qr], provider: "box-qr")
            let records = try await wallet.desk.payments(contract.order).map(\.payment)
            #expect(records.map(\.state) == [.cancelled, .pending] && records.allSatisfy { !$0.unfenced })
            #expect(
                wallet.line.count(.cancel, at: ApplePayGatewayFixture.processor) == 1 && next.payment == records[1].id)
            #expect(try await wallet.refusal(contract, token)?.withoutReason == .conflict(reason: ""))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a processor that is full takes no claim`(_ engine: TestEngine) async throws {
        try await withWalletDesk(on: engine, ApplePayGatewayFixtureSetup { $0.desk.callsPerAccount = 1 }) { wallet in
            let (first, second) = (try await wallet.checkout(), try await wallet.checkout(user: "bob"))
            let gate = Gate()
            wallet.line.hold(.charge, at: ApplePayGatewayFixture.processor) { await gate.pass() }
            async let paying = wallet.pay(first, try wallet.token(first)).status
            await gate.arrivals()
            let token = try wallet.token(second)
            #expect(try await wallet.refusal(second, token, user: "bob") == .providerUnavailable)
            gate.open()
            #expect(try await paying == .paid)
            #expect(try await wallet.pay(second, token, user: "bob").status == .paid)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a contract that nobody can charge is not offered while another account is able`(
        _ engine: TestEngine
    ) async throws {
        try await withWalletDesk(on: engine) { wallet in
            let request = CheckoutRequest(
                sku: "vip_month", platform: .web, currency: GatewayFixture.money(0).currency, accept: [.applePay, .qr])
            func type() async throws -> ContractType {
                try await wallet.gateway.cashier.open(request, user: GatewayFixture.user("alice"), context: .test)
                    .instruction
                    .type
            }
            #expect(try await type() == .applePay)
            wallet.line.set(.charge, .unavailable)
            for _ in 0..<5 {
                let contract = try await wallet.checkout()
                try await wallet.pay(contract, try wallet.token(contract))
            }
            #expect(try await type() == .qr)
            // Where there is no other, a guess must not refuse a sale.
            #expect(try await wallet.checkout().instruction.type == .applePay)
            let change = AccountChange(enabled: false)
            _ = try await wallet.gateway.accounts.change(ApplePayGatewayFixture.processor, change, context: .test)
            await expectNoProvider { try await wallet.checkout() }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what the user owns by now is not charged again`(_ engine: TestEngine) async throws {
        try await withWalletDesk(on: engine) { wallet in
            let (first, second) = (try await wallet.checkout("walkie"), try await wallet.checkout("walkie"))
            #expect(try await wallet.pay(first, try wallet.token(first)).status == .paid)
            #expect(try await wallet.refusal(second, try wallet.token(second)) == .alreadyOwned)
            #expect(wallet.line.count(.charge) == 1)
        }
    }
}
