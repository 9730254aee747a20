import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Checkout")
struct CheckoutTests {
    @Test(arguments: TestEngine.allCases)
    func `every account makes the contract of its type`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let url = try await desk.checkout(provider: "box-url")
            let page = "\(GatewayFixture.publicURL)/sandbox/\(try desk.payment(url))"
            #expect(url.instruction == .url(checkoutURL: page))
            #expect(url.status == .pending)
            #expect(url.amount == GatewayFixture.money(3990))
            #expect(url.expiresAt == desk.clock.now.adding(seconds: 1_800))

            let qr = try await desk.checkout(provider: "box-qr")
            #expect(qr.instruction == .qr(text: "\(GatewayFixture.publicURL)/sandbox/\(try desk.payment(qr))"))
            #expect(qr.qrImageURL == "\(GatewayFixture.publicURL)/v1/public/payments/\(try desk.payment(qr))/qr.svg")
            #expect(
                try await desk.gateway.contracts.qrText(try desk.payment(qr).rawValue).hasSuffix(
                    "\(try desk.payment(qr))"))

            let stripe = try await desk.checkout(provider: "box-stripe")
            guard case .stripe(let key, let secret, _) = stripe.instruction else {
                Issue.record("a stripe contract is \(stripe.instruction)")
                return
            }
            #expect(key == "pk_sandbox_box-stripe")
            #expect(secret.hasPrefix("\(try desk.payment(stripe))_secret_"))

            let instant = try await desk.checkout(provider: "box-none", accept: [.none])
            #expect(instant.instruction == .none)
            #expect(instant.status == .succeeded)
            #expect(try await desk.order(instant.order).status == .paid)
            await #expect(throws: GatewayError.contractGone) {
                try await desk.gateway.contracts.find(instant.order.rawValue, user: GatewayFixture.user("alice"))
            }
            for contract in [url, qr, stripe] {
                #expect(
                    try await desk.gateway.contracts.find(contract.order.rawValue, user: GatewayFixture.user("alice"))
                        == contract)
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an Apple contract has the products and one token for each user`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            func token(_ contract: PaymentContract) -> String? {
                guard case .appleIAP(_, let token, _) = contract.instruction else { return nil }
                return token
            }
            let month = try await desk.checkout(platform: .ios)
            guard case .appleIAP(let products, let aliceToken, let hint) = month.instruction else {
                Issue.record("the contract is \(month.instruction)")
                return
            }
            #expect(products == ["com.example.vip.month"])
            #expect(UUID(uuidString: aliceToken) != nil)
            #expect(!hint.isEmpty)
            let pass = try await desk.checkout("basic_days", platform: .ios)
            #expect(token(pass) == aliceToken)
            guard case .appleIAP(let offered, _, _) = pass.instruction else { return }
            #expect(offered == ["merchant.example.day7", "merchant.example.day30"])
            #expect(pass.amount == GatewayFixture.money(800))
            let week = try await desk.checkout("basic_days", days: 30, platform: .ios)
            guard case .appleIAP(let one, _, _) = week.instruction else { return }
            #expect(one == ["merchant.example.day30"])
            let other = try await desk.checkout(user: "bob", platform: .ios)
            #expect(token(other) != aliceToken)
            let renewed = try await desk.checkout("apple_auto", platform: .ios)
            #expect(renewed.recurring)
            let elsewhere = try await desk.checkout("vip_auto")
            #expect(!elsewhere.recurring)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a free order is paid at once and asks nobody`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout("trial", provider: nil, accept: [.url])
            #expect(contract.instruction == .none)
            #expect(contract.payment == nil)
            #expect(contract.provider == nil)
            #expect(contract.status == .succeeded)
            #expect(desk.line.count(.open) == 0)
            let order = try await desk.order(contract.order)
            #expect(order.status == .paid)
            #expect(order.order.charged == GatewayFixture.money(0))
            #expect(try await desk.snapshot().tier == "Basic")
            #expect(try await desk.events(contract.order.rawValue) == ["order.opened", "order.paid"])
            await #expect(throws: GatewayError.refundExceedsCaptured) { try await desk.refund(contract.order) }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an order keeps the price and terms of its moment`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            _ = try await desk.gateway.catalogue.change(
                "vip_month",
                .object([
                    "prices": .array([.object(["currency": .string("CNY"), "value": .integer(9900)])]),
                    "duration_days": .integer(1), "tier": .string("Gold"),
                ]), context: .test)
            let next = try await desk.checkout(user: "bob")
            #expect(next.amount == GatewayFixture.money(9900))
            try await desk.notify("payment.succeeded", contract)
            #expect(try await desk.order(contract.order).order.charged == GatewayFixture.money(3990))
            let snapshot = try await desk.snapshot()
            #expect(snapshot.tier == "VIP")
            #expect(snapshot.expires_at == desk.clock.now.adding(days: 30))
            #expect(try await desk.retryPrice(after: contract) == nil)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another attempt of an open order costs what the order costs`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            _ = try await desk.gateway.catalogue.change(
                "vip_month",
                .object(["prices": .array([.object(["currency": .string("CNY"), "value": .integer(9900)])])]),
                context: .test)
            #expect(try await desk.retryPrice(after: contract) == GatewayFixture.money(3990))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `selection follows what an admin changes, from the next checkout on`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            func chosen() async throws -> String? { try await desk.checkout(provider: nil).provider?.rawValue }
            func change(_ account: String, _ change: AccountChange) async throws {
                _ = try await desk.gateway.accounts.change(account, change, context: .test)
            }
            #expect(try await chosen() == "box-url")
            try await change("box-url", AccountChange(enabled: false))
            #expect(try await chosen() == "box-qr")
            try await change("box-stripe", AccountChange(routing: .object(["priority": .integer(90)])))
            #expect(try await chosen() == "box-stripe")
            try await change("box-stripe", AccountChange(routing: .object(["max": .integer(3989)])))
            #expect(try await chosen() == "box-qr")
            try await change("box-qr", AccountChange(routing: .object(["weight": .integer(0)])))
            #expect(try await chosen() == "scripted")
            for account in ["box-url", "box-qr", "box-stripe"] {
                try await change(account, AccountChange(reset: true))
            }
            #expect(try await chosen() == "box-url")
            #expect(try await desk.gateway.accounts.list().allSatisfy { !$0.isOverridden })
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `payment methods are in the order in which a checkout takes them`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let request = CheckoutRequest(
                sku: "vip_month", platform: .web, currency: GatewayFixture.money(0).currency,
                accept: [.url, .qr, .stripe])
            let methods = try await desk.gateway.cashier.paymentMethods(request, user: GatewayFixture.user("alice"))
            #expect(methods.map(\.account) == ["box-url", "box-qr", "box-stripe", "scripted"])
            #expect(methods.map(\.type) == [.url, .qr, .stripe, .url])
        }
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let error: GatewayError
        let act: @Sendable (GatewayFixture) async throws -> PaymentContract

        init(
            _ name: String, _ error: GatewayError,
            _ act: @escaping @Sendable (GatewayFixture) async throws -> PaymentContract
        ) {
            testDescription = name
            self.error = error
            self.act = act
        }
    }

    static let refusals = [
        Refusal("unknown SKU", .skuNotFound("nothing")) { try await $0.checkout("nothing") },
        Refusal("no SKU id at all", .skuNotFound("Not a SKU!")) { try await $0.checkout("Not a SKU!") },
        Refusal("currency without a price", .invalidRequest(field: "currency", reason: "")) {
            try await $0.checkout(currency: "JPY")
        },
        Refusal("quantity 0", .invalidRequest(field: "quantity", reason: "")) {
            try await $0.checkout("coins", quantity: 0)
        },
        Refusal("quantity 10^9", .invalidRequest(field: "quantity", reason: "")) {
            try await $0.checkout("coins", quantity: 1_000_000_000)
        },
        Refusal("two of a non-consumable", .invalidRequest(field: "quantity", reason: "")) {
            try await $0.checkout("walkie", quantity: 2)
        },
        Refusal("an option that is not there", .invalidRequest(field: "days", reason: "")) {
            try await $0.checkout("basic_days", days: 8)
        },
        Refusal("no option at all", .invalidRequest(field: "days", reason: "")) { try await $0.checkout("basic_days") },
        Refusal("days of a SKU without options", .invalidRequest(field: "days", reason: "")) {
            try await $0.checkout(days: 30)
        },
        Refusal("a javascript address", .invalidRequest(field: "return_url", reason: "")) {
            try await $0.checkout(returnURL: "javascript:alert(1)")
        },
        Refusal("an unknown provider", .noProviderAvailable) { try await $0.checkout(provider: "nobody") },
        Refusal("a type that nobody makes", .noProviderAvailable) { try await $0.checkout(accept: [.applePay]) },
        Refusal("a subscription that only Apple renews", .noProviderAvailable) { try await $0.checkout("apple_auto") },
    ]

    @Test(arguments: TestEngine.allCases, refusals)
    func `a refused checkout leaves nothing behind`(_ engine: TestEngine, _ refusal: Refusal) async throws {
        try await withDesk(on: engine) { desk in
            let error = await #expect(throws: GatewayError.self) { _ = try await refusal.act(desk) }
            #expect(error?.withoutReason == refusal.error)
            let left = try await (desk.count("orders"), desk.count("payments"))
            #expect(left == (0, 0))
            #expect(desk.line.count(.open) == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an archived SKU is no longer sold`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            _ = try await desk.gateway.catalogue.archive("vip_month", context: .test)
            await #expect(throws: GatewayError.skuNotFound("vip_month")) { try await desk.checkout() }
        }
    }
}

extension GatewayFixture {
    /// The price of another attempt; nil when the order takes none.
    fileprivate func retryPrice(after contract: PaymentContract) async throws -> Money? {
        do {
            return try await retry(contract.order).amount
        } catch GatewayError.orderNotOpen {
            return nil
        }
    }
}

extension GatewayError {
    /// This error without its words for people.
    var withoutReason: GatewayError {
        if case .invalidRequest(let field, _) = self { return .invalidRequest(field: field, reason: "") }
        if case .conflict = self { return .conflict(reason: "") }
        if case .noProvider = self { return .noProviderAvailable }
        return self
    }
}
