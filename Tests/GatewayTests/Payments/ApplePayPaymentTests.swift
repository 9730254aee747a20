import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Paying with an Apple Pay token")
struct ApplePayPaymentTests {
    @Test(arguments: TestEngine.allCases)
    func `a contract has what the sheet needs, and only where the client takes it`(
        _ engine: TestEngine
    ) async throws {
        try await withWalletDesk(on: engine) { wallet in
            let contract = try await wallet.checkout()
            guard case .applePay(let request) = contract.instruction else {
                Issue.record("the contract is \(contract.instruction)")
                return
            }
            #expect(request.merchantIdentifier == ApplePayTestTokens.merchantIdentifier && request.countryCode == "CN")
            #expect(request.currencyCode == "CNY" && request.total == .init(label: "Example", amount: "39.90"))
            #expect(request.supportedNetworks == ["visa", "chinaUnionPay"])
            #expect(request.merchantCapabilities == ["supports3DS"])
            #expect(Data(base64Encoded: request.applicationData)?.count == 32)
            let second = try await wallet.checkout()
            #expect(second.instruction != contract.instruction)
            let silent = try await wallet.gateway.cashier.open(
                CheckoutRequest(sku: "vip_month", platform: .web, currency: GatewayFixture.money(0).currency),
                user: GatewayFixture.user("alice"), context: .test)
            #expect(silent.instruction.type == .url)
            #expect(
                try await wallet.gateway.contracts.find(contract.order.rawValue, user: GatewayFixture.user("alice"))
                    == contract)
        }
    }

    @Test(arguments: TestEngine.allCases, InstrumentForm.allCases)
    func `a sound token pays and its processor gets the form that it takes`(
        _ engine: TestEngine, _ form: InstrumentForm
    ) async throws {
        try await withWalletDesk(on: engine, ApplePayGatewayFixtureSetup { $0.form = form }) { wallet in
            for version in ApplePayRecipe.Version.allCases {
                for shape in ApplePayRecipe.Form.allCases {
                    let contract = try await wallet.checkout()
                    let token = try wallet.token(contract, version: version) { $0.form = shape }
                    let paid = try await wallet.pay(contract, token)
                    #expect(paid.status == .paid && paid.order.status == .paid, "\(version) \(shape)")
                    try Self.expect(try #require(wallet.line.charges.last), form, of: token, shape)
                }
            }
            let count = ApplePayRecipe.Version.allCases.count * ApplePayRecipe.Form.allCases.count
            #expect(wallet.line.count(.charge) == count && wallet.line.count(.open) == 0)
            #expect(try await wallet.desk.snapshot().tier == "VIP")
        }
    }

    private static func expect(
        _ charge: InstrumentCharge, _ form: InstrumentForm, of token: Data, _ shape: ApplePayRecipe.Form
    ) throws {
        #expect(charge.instrument.form == form)
        switch charge.instrument {
        case .applePayEncrypted(let encrypted):
            let sent = shape == .base64 ? Data() : Data(encrypted.paymentData)
            if shape == .object || shape == .bare { #expect(token.range(of: sent) != nil) }
            #expect(encrypted.displayName == (shape == .bare ? nil : "Visa 1111"))
        case .networkToken(let card):
            let digits = card.accountNumber.withBytes { String(decoding: $0, as: UTF8.self) }
            #expect(digits == ApplePayTestTokens.accountNumber && card.expiryYear == 2031 && card.expiryMonth == 12)
            #expect(card.cryptogram?.withBytes { Array($0) } == ApplePayTestTokens.cryptogram)
            #expect(card.electronicCommerceIndicator == "7")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `facts, queries and refunds go by the processor`(_ engine: TestEngine) async throws {
        try await withWalletDesk(on: engine) { wallet in
            let contract = try await wallet.buy()
            let record = try #require(try await wallet.desk.payments(contract.order).first)
            #expect(record.payment.account.rawValue == ApplePayGatewayFixture.account)
            #expect(record.payment.processor?.rawValue == ApplePayGatewayFixture.processor)
            let refund = try await wallet.gateway.refunds.request(
                contract.order.rawValue, amount: GatewayFixture.money(990), reason: "a test", context: .test)
            #expect(
                refund.refund.state == .succeeded
                    && wallet.line.count(.refund, at: ApplePayGatewayFixture.processor) == 1)
            // A dispute is told by the processor's own notification.
            try await wallet.desk.notify("dispute.opened", contract, account: ApplePayGatewayFixture.processor)
            #expect(try await wallet.desk.grants(contract.order).map(\.suspended) == [true])
            // Another account's word counts for nothing.
            try await wallet.desk.notify("dispute.lost", contract, account: "box-qr")
            #expect(try await wallet.desk.grants(contract.order).map(\.suspended) == [true])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a charge that is refused ends the payment and the next contract pays`(_ engine: TestEngine) async throws {
        try await withWalletDesk(on: engine) { wallet in
            try await wallet.sell("odd", 1_013)
            let first = try await wallet.checkout("odd")
            let failed = try await wallet.pay(first, try wallet.token(first))
            #expect(failed.status == .failed && failed.order.status == .open)
            #expect(try await wallet.desk.payments(first.order).map(\.payment.state) == [.failed])
            let late = try await wallet.refusal(first, try wallet.token(first))
            #expect(late?.withoutReason == .conflict(reason: ""))
            try await wallet.sell("odd", 1_014)
            let second = try await wallet.retry(first.order)
            #expect(second.instruction.type == .applePay && second.instruction != first.instruction)
            #expect(try await wallet.refusal(second, try wallet.token(first))?.withoutReason == .conflict(reason: ""))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a charge that waits is paid by its notification`(_ engine: TestEngine) async throws {
        try await withWalletDesk(on: engine) { wallet in
            try await wallet.sell("slow", 1_017)
            let contract = try await wallet.checkout("slow")
            let token = try wallet.token(contract)
            #expect(try await wallet.pay(contract, token).status == .pending)
            #expect(try await wallet.pay(contract, token).status == .pending)
            let other = try await wallet.refusal(contract, try wallet.token(contract))
            #expect(other?.withoutReason == .conflict(reason: ""))
            try await wallet.desk.notify("payment.succeeded", contract, account: ApplePayGatewayFixture.processor)
            #expect(try await wallet.pay(contract, token).status == .paid)
            #expect(wallet.line.count(.charge) == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another amount or currency changes nothing and a sound token may follow`(
        _ engine: TestEngine
    ) async throws {
        try await withWalletDesk(on: engine) { wallet in
            let contract = try await wallet.checkout()
            let before = try await wallet.desk.outcome(contract.order)
            for token in [
                try wallet.token(contract, amount: 3_991), try wallet.token(contract, amount: 0),
                try wallet.token(contract, currency: "840"), try wallet.token(contract, currency: "999"),
            ] { #expect(try await wallet.refusal(contract, token) == .amountMismatch) }
            #expect(try await wallet.desk.outcome(contract.order) == before && wallet.line.count(.charge) == 0)
            #expect(try await wallet.pay(contract, try wallet.token(contract)).status == .paid)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `without a key a token goes on encrypted and its amount is not known`(_ engine: TestEngine) async throws {
        try await withWalletDesk(on: engine, ApplePayGatewayFixtureSetup { $0.hasKeys = false }) { wallet in
            let contract = try await wallet.checkout()
            #expect(try await wallet.pay(contract, try wallet.token(contract, amount: 1)).status == .paid)
            #expect(wallet.line.charges.map(\.amount) == [contract.amount])
            let other = try await wallet.checkout()
            let forged = try wallet.token(other, variant: .signatureTampered)
            #expect(try await wallet.refusal(other, forged) == .applePayTokenInvalid(.badSignature))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a replay comes to the same`(_ engine: TestEngine) async throws {
        try await withWalletDesk(on: engine) { wallet in
            let contract = try await wallet.buy()
            _ = try await wallet.gateway.refunds.request(
                contract.order.rawValue, amount: GatewayFixture.money(990), reason: "a test", context: .test)
            let left = try await wallet.checkout(user: "bob")
            _ = try await wallet.retry(left.order, accept: [.qr], provider: "box-qr", user: "bob")
            try await withDatabase(on: .sqlite) { scratch in
                let report = try await ReplayInbox(
                    source: wallet.store, scratch: scratch.store, gateway: wallet.gateway
                ).run()
                #expect(report.differences.isEmpty, "\(report)")
            }
        }
    }

    @Test(arguments: ApplePayVariant.allCases)
    func `every variant of a token is taken or refused with its reason`(_ variant: ApplePayVariant) async throws {
        try await withWalletDesk(on: .sqlite) { wallet in
            for version in variant.versions {
                let contract = try await wallet.checkout()
                let refusal = try await wallet.refusal(
                    contract, try wallet.token(contract, version: version, variant: variant))
                let state = try await wallet.desk.order(contract.order).order.state
                if let reason = variant.reason {
                    #expect(
                        refusal == InstrumentRefusal.Reason(rawValue: reason).map(GatewayError.applePayTokenInvalid))
                    #expect(state == .open)
                } else {
                    #expect(refusal == nil && state == .paid)
                }
            }
        }
    }
}

extension ApplePayGatewayFixture {
    /// Offers something at a price in fen.
    func sell(_ sku: String, _ price: Int64) async throws {
        let json = """
            [{"id": "\(sku)", "name": "Odd", "kind": "consumable", "units": {"coins": 1},
              "prices": [{"currency": "CNY", "value": \(price)}]}]
            """
        _ = try await gateway.catalogue.merge(
            try JSONDecoder().decode([SKU].self, from: Data(json.utf8)), context: .test)
    }
}
