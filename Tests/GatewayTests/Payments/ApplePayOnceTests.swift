import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("A token is charged once")
struct ApplePayOnceTests {
    @Test(arguments: TestEngine.allCases)
    func `one token from 32 clients at once is charged once`(_ engine: TestEngine) async throws {
        try await withWalletDesk(on: engine) { wallet in
            let contract = try await wallet.checkout()
            let token = try wallet.token(contract)
            let answers = try await withThrowingTaskGroup(of: TokenPayment.Status.self) { group in
                for _ in 0..<32 { group.addTask { try await wallet.pay(contract, token).status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count == 32 && answers.contains(.paid) && !answers.contains(.failed))
            #expect(wallet.line.count(.charge) == 1)
            let order = try await wallet.desk.order(contract.order)
            #expect(order.status == .paid && order.order.anomalies.isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `32 tokens for one payment at once are charged once`(_ engine: TestEngine) async throws {
        try await withWalletDesk(on: engine) { wallet in
            let contract = try await wallet.checkout()
            let tokens = try (0..<32).map { _ in try wallet.token(contract) }
            let refusals = try await withThrowingTaskGroup(of: GatewayError?.self) { group in
                for token in tokens { group.addTask { try await wallet.refusal(contract, token) } }
                return try await group.reduce(into: [GatewayError?]()) { $0.append($1) }
            }
            #expect(refusals.count { $0 == nil } == 1)
            #expect(
                refusals.compactMap(\.self).allSatisfy {
                    $0 == .orderNotOpen || $0.withoutReason == .conflict(reason: "")
                })
            #expect(wallet.line.count(.charge) == 1)
            #expect(try await wallet.desk.payments(contract.order).map(\.payment.state) == [.succeeded])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a signed transaction id pays one payment for ever`(_ engine: TestEngine) async throws {
        try await withWalletDesk(on: engine) { wallet in
            let (first, second) = (try await wallet.checkout(), try await wallet.checkout(user: "bob"))
            let id = [UInt8](repeating: 0xAB, count: 32)
            try await wallet.pay(first, try wallet.token(first) { $0.transactionID = id })
            let stolen = try wallet.token(first) { $0.transactionID = id }
            #expect(
                try await wallet.refusal(second, stolen, user: "bob") == .applePayTokenInvalid(.applicationDataMismatch)
            )
            // Only Apple could sign the same transaction for another payment; not even that pays twice.
            let twice = try wallet.token(second) { $0.transactionID = id }
            #expect(try await wallet.refusal(second, twice, user: "bob") == .applePayTokenReused)
            #expect(wallet.line.count(.charge) == 1)
            #expect(try await wallet.desk.order(second.order).status == .open)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a lost reply is asked for and never sent again`(_ engine: TestEngine) async throws {
        try await withWalletDesk(on: engine) { wallet in
            let contract = try await wallet.checkout()
            let token = try wallet.token(contract)
            wallet.line.set(.charge, .lostReply)
            #expect(try await wallet.pay(contract, token).status == .pending)
            #expect(try await wallet.desk.payments(contract.order).map(\.payment.state) == [.unknown])
            wallet.line.set(.charge, nil)
            #expect(try await wallet.pay(contract, token).status == .pending)
            try await wallet.desk.pass(seconds: 120)
            try await wallet.work()
            #expect(try await wallet.desk.order(contract.order).status == .paid)
            #expect(wallet.line.count(.charge) == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a charge that never began ends the payment`(_ engine: TestEngine) async throws {
        try await withWalletDesk(on: engine) { wallet in
            let contract = try await wallet.checkout()
            let token = try wallet.token(contract)
            wallet.line.set(.charge, .unavailable)
            #expect(try await wallet.pay(contract, token).status == .failed)
            wallet.line.set(.charge, nil)
            #expect(try await wallet.pay(contract, token).status == .failed)
            #expect(wallet.line.count(.charge) == 1)
            let next = try await wallet.retry(contract.order)
            #expect(try await wallet.pay(next, try wallet.token(next)).status == .paid)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a process that dies before the charge leaves a payment that can be closed`(
        _ engine: TestEngine
    ) async throws {
        try await withWalletDesk(on: engine) { wallet in
            let contract = try await wallet.checkout()
            let payment = try wallet.desk.payment(contract)
            // What is durable when the process dies between the claim and the call.
            let audit = AuditContext(actor: .user, requestID: "req_test")
            let processor = try AccountID.test(ApplePayGatewayFixture.processor)
            #expect(
                try await wallet.gateway.settlements.run(audit) { settlement in
                    try TokenClaim(settlement).claim("ab", for: payment, processor: processor)
                })
            try await wallet.desk.pass(seconds: 120)
            try await wallet.work()
            #expect(try await wallet.desk.payments(contract.order).map(\.payment.state) == [.cancelled])
            let next = try await wallet.retry(contract.order)
            #expect(try await wallet.pay(next, try wallet.token(next)).status == .paid)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a repeated key finds its payment and charges nothing`(_ engine: TestEngine) async throws {
        try await withWalletDesk(on: engine) { wallet in
            let contract = try await wallet.checkout()
            let token = try wallet.token(contract)
            let first = try await wallet.desk.run("key")
            #expect(try await wallet.pay(contract, token, context: first).status == .paid)
            try await wallet.desk.pass(seconds: 600)
            let again = try await wallet.desk.run("key")
            #expect(again.resumed == (try wallet.desk.payment(contract).rawValue))
            // The token is too old by now, and is not looked at.
            #expect(try await wallet.pay(contract, token, context: again).status == .paid)
            #expect(wallet.line.count(.charge) == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a used token that comes again too late finds its payment`(_ engine: TestEngine) async throws {
        try await withWalletDesk(on: engine) { wallet in
            let contract = try await wallet.checkout()
            let (used, unused) = (try wallet.token(contract), try wallet.token(contract))
            wallet.line.set(.charge, .unavailable)
            #expect(try await wallet.pay(contract, used).status == .failed)
            wallet.line.set(.charge, nil)
            try await wallet.desk.pass(seconds: 400)
            #expect(try await wallet.pay(contract, used).status == .failed)
            // Also after another contract of the order, which the token does not answer.
            let next = try await wallet.retry(contract.order)
            #expect(try await wallet.pay(next, used).status == .failed)
            let late = GatewayError.applePayTokenInvalid(.signingTimeOutOfWindow)
            #expect(try await wallet.refusal(next, unused) == late)
            let foreign = try await wallet.checkout(user: "bob")
            #expect(try await wallet.refusal(foreign, used, user: "bob") == late)
            #expect(wallet.line.count(.charge) == 1)
        }
    }
}
