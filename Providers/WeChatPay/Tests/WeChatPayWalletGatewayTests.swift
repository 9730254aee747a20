import Domain
import Foundation
import Gateway
import ProviderKit
import ProviderTesting
import Store
import Synchronization
import TestSupport
import Testing

/// Tests of one payer's life in the modes for apps and for pages inside WeChat, on both engines.
struct WeChatPayWalletGatewayTests {
    /// The contracts for WeChat's own libraries.
    enum Wallet: String, CaseIterable, Sendable {
        case app, page

        var type: ContractType { self == .app ? .wechatApp : .wechatJSAPI }
        var platform: Platform { self == .app ? .android : .web }
        var payer: WalletPayer {
            self == .app ? WalletPayer(appID: FakeWeChatPayServer.mobile) : WeChatPayFixture.payer
        }
    }

    private static let long: GatewayFixtureSetup = {
        var setup = GatewayFixtureSetup()
        setup.policies.expireAfterMinutes = 300
        return setup
    }()

    private func withWeChat(
        on engine: TestEngine, _ body: (WeChatPayGatewayFixture) async throws -> Void
    ) async throws {
        try await withDesk(on: engine, Self.long) { desk in try await body(try WeChatPayGatewayFixture(desk)) }
    }

    private func checkout(
        _ wechat: WeChatPayGatewayFixture, _ wallet: Wallet, payer: WalletPayer?, platform: Platform? = nil,
        accept: Set<ContractType>? = nil
    ) async throws -> PaymentContract {
        wechat.desk.clock.tick()
        var request = CheckoutRequest(
            sku: "vip_month", platform: platform ?? wallet.platform, currency: .cny,
            provider: WeChatPayGatewayFixture.all, accept: accept ?? [wallet.type])
        request.wallet = payer
        return try await wechat.gateway.cashier.open(request, user: GatewayFixture.user("alice"), context: .test)
    }

    private func checkout(_ wechat: WeChatPayGatewayFixture, _ wallet: Wallet) async throws -> PaymentContract {
        let contract = try await checkout(wechat, wallet, payer: wallet.payer)
        #expect(contract.instruction.type == wallet.type)
        return contract
    }

    private func retry(
        _ wechat: WeChatPayGatewayFixture, _ contract: PaymentContract, _ wallet: Wallet, payer: WalletPayer?
    ) async throws -> PaymentContract {
        wechat.desk.clock.tick()
        var request = RetryRequest(
            platform: wallet.platform, currency: nil, provider: WeChatPayGatewayFixture.all, accept: [wallet.type],
            returnURL: nil)
        request.wallet = payer
        return try await wechat.gateway.cashier.retry(
            contract.order.rawValue, request, user: GatewayFixture.user("alice"), context: .test)
    }

    @Test(arguments: TestEngine.allCases, Wallet.allCases)
    func `a payment is told of, and its money goes back`(engine: TestEngine, wallet: Wallet) async throws {
        try await withWeChat(on: engine) { wechat in
            let contract = try await checkout(wechat, wallet)
            #expect(try wechat.pay(contract))
            for _ in 0..<2 { try await wechat.notify(contract, account: WeChatPayGatewayFixture.all) }
            #expect(try await wechat.state(contract) == .paid)
            let refund = try await wechat.gateway.refunds.request(
                contract.order.rawValue, amount: nil, reason: "a test", context: .test)
            #expect(refund.refund.state == .pending)
            try await wechat.settleRefund("SUCCESS", id: "EV-2", account: WeChatPayGatewayFixture.all)
            #expect(try await wechat.state(contract) == .refunded)
        }
    }

    @Test(arguments: TestEngine.allCases, Wallet.allCases)
    func `a payment is asked for, and one that comes late counts`(engine: TestEngine, wallet: Wallet) async throws {
        try await withWeChat(on: engine) { wechat in
            let asked = try await checkout(wechat, wallet)
            #expect(try wechat.pay(asked))
            _ = try await wechat.gateway.reconciliation.refresh(
                asked.order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            #expect(try await wechat.state(asked) == .paid)
            let late = try await checkout(wechat, wallet)
            let number = try wechat.desk.payment(late).rawValue
            _ = try await wechat.gateway.orderClosing.cancel(
                late.order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            #expect(try await wechat.state(late) == .closed)
            wechat.standIn.state.withLock { state in
                for index in state.orders.indices where state.orders[index].number == number {
                    #expect(state.orders[index].state == "CLOSED")
                    state.orders[index].state = "SUCCESS"
                }
            }
            try await wechat.notify(late, id: "EV-9", account: WeChatPayGatewayFixture.all)
            #expect(try await wechat.state(late) == .paid)
            #expect(try await wechat.order(late).order.anomalies == [.latePayment])
        }
    }

    @Test(arguments: TestEngine.allCases, Wallet.allCases)
    func `after two hours another attempt is needed, and pays the order`(
        engine: TestEngine, wallet: Wallet
    ) async throws {
        try await withWeChat(on: engine) { wechat in
            let first = try await checkout(wechat, wallet)
            let (order, user) = (first.order.rawValue, GatewayFixture.user("alice"))
            #expect(try await wechat.gateway.contracts.find(order, user: user) == first)
            wechat.desk.clock.advance(seconds: 7_200)
            await #expect(throws: GatewayError.instructionExpired) {
                try await wechat.gateway.contracts.find(order, user: user)
            }
            #expect(try await wechat.state(first) == .open)
            let second = try await retry(wechat, first, wallet, payer: wallet.payer)
            #expect(second.payment != first.payment && second.instruction != first.instruction)
            #expect(try await wechat.gateway.contracts.find(order, user: user) == second)
            #expect(try wechat.pay(second))
            try await wechat.notify(second, account: WeChatPayGatewayFixture.all)
            #expect(try await wechat.state(first) == .paid)
        }
    }

    @Test(
        arguments: TestEngine.allCases,
        [
            (.app, WalletPayer(appID: FakeWeChatPayServer.office), "app_id"),
            (.page, nil, "app_id"), (.page, WalletPayer(openID: "oPayer0of0the0office"), "app_id"),
            (.page, WalletPayer(appID: FakeWeChatPayServer.mobile, openID: "oPayer0of0the0office"), "app_id"),
            (.page, WalletPayer(appID: FakeWeChatPayServer.office), "payer.wechat_openid"),
        ] as [(wallet: Wallet, payer: WalletPayer?, field: String)])
    func `what is missing or foreign makes no order`(
        engine: TestEngine, asked: (wallet: Wallet, payer: WalletPayer?, field: String)
    ) async throws {
        try await withWeChat(on: engine) { (wechat) async throws in
            let error = await #expect(throws: GatewayError.self) {
                try await checkout(wechat, asked.wallet, payer: asked.payer)
            }
            if case .invalidRequest(let field, _)? = error {
                #expect(field == asked.field)
            } else {
                Issue.record("another error")
            }
            #expect(try await wechat.desk.count("orders") == 0 && wechat.transport.requests.isEmpty)
            // The account's only app of a mode need not be named.
            #expect(try await checkout(wechat, .app, payer: nil).instruction.type == .wechatApp)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another attempt takes over neither app nor openid`(engine: TestEngine) async throws {
        try await withWeChat(on: engine) { wechat in
            let first = try await checkout(wechat, .page)
            await #expect(throws: GatewayError.self) { try await retry(wechat, first, .page, payer: nil) }
            let mini = WalletPayer(appID: FakeWeChatPayServer.mini, openID: "oPayer0of0the0mini")
            let second = try await retry(wechat, first, .page, payer: mini)
            if case .wechatJSAPI(let shown) = second.instruction {
                #expect(shown.appId == FakeWeChatPayServer.mini)
            } else {
                Issue.record("another contract")
            }
            #expect(wechat.standIn.state.withLock { $0.orders.map(\.state) } == ["CLOSED", "NOTPAY"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `platform and modes choose the contract, and a code needs no payer`(engine: TestEngine) async throws {
        try await withWeChat(on: engine) { wechat in
            let all: Set<ContractType> = [.qr, .wechatJSAPI, .wechatApp]
            let code = try await checkout(wechat, .page, payer: nil, accept: all)
            #expect(code.instruction.type == .qr)
            let page = try await checkout(
                wechat, .page, payer: WeChatPayFixture.payer, accept: [.wechatJSAPI, .wechatApp])
            #expect(page.instruction.type == .wechatJSAPI)
            let app = try await checkout(wechat, .app, payer: Wallet.app.payer, accept: [.wechatJSAPI, .wechatApp])
            #expect(app.instruction.type == .wechatApp)
            for (wallet, platform) in [(.app, .web), (.app, .desktop), (.page, .ios), (.page, .android)]
                as [(Wallet, Platform)]
            {
                await #expect(throws: GatewayError.noProvider(NoProvider(reason: .platform, accounts: []))) {
                    try await checkout(wechat, wallet, payer: wallet.payer, platform: platform)
                }
            }
            // Apple sells digital goods on iOS itself.
            await #expect(throws: GatewayError.noProvider(NoProvider(reason: .sku, accounts: []))) {
                try await checkout(wechat, .app, payer: Wallet.app.payer, platform: .ios)
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an openid is sealed until the payment is opened, and a repetition says the same`(
        engine: TestEngine
    ) async throws {
        try await withWeChat(on: engine) { wechat in
            wechat.transport.behaviour = .lostReplies
            await #expect(throws: GatewayError.providerUnavailable) { try await checkout(wechat, .page) }
            #expect(try await wechat.desk.count("payments WHERE wechat_openid IS NOT NULL") == 1)
            #expect(try await wechat.desk.places(of: "oPayer0of0the0office") == [])
            #expect(try await wechat.gateway.secrets.reseal().closed == 0)
            wechat.transport.behaviour = .normal
            try await wechat.desk.pass(seconds: 120)
            try await wechat.work()
            let contract = try await checkout(wechat, .page)
            #expect(try await wechat.desk.count("payments WHERE wechat_openid IS NOT NULL") <= 1)
            #expect(contract.instruction.type == .wechatJSAPI)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an openid goes with its user`(engine: TestEngine) async throws {
        try await withWeChat(on: engine) { wechat in
            wechat.transport.behaviour = .unavailable
            await #expect(throws: GatewayError.providerUnavailable) { try await checkout(wechat, .page) }
            #expect(try await wechat.desk.count("payments WHERE wechat_openid IS NOT NULL") == 1)
            _ = try await wechat.gateway.users.erase(GatewayFixture.user("alice"), context: .test)
            #expect(try await wechat.desk.count("payments WHERE wechat_openid IS NOT NULL") == 0)
        }
    }
}
