import Domain
import Foundation
import Gateway
import ProviderKit
import ProviderTesting
import Synchronization
import TestSupport
import WeChatPayProvider

/// A whole gateway with two WeChat Pay accounts of one merchant: a code to scan, and a page on the phone.
struct WeChatPayDesk: Sendable {
    static let native = "wechat-native"
    static let h5 = "wechat-h5"

    let desk: Desk
    let gateway: Gateway
    let standIn: WeChatPayStandIn
    let transport: RecordingTransport

    init(_ desk: Desk) throws {
        let (base, standIn, clock) = (desk.gateway, WeChatPayStandIn(), desk.clock)
        let transport = RecordingTransport(changesSomething: { $0.method == "POST" }) { request in
            standIn.answer(request, now: clock.now.rawValue)
        }
        let accounts = try [(Self.native, [:]), (Self.h5, WeChatPayBench.h5)].map { name, settings in
            let id = try AccountID.test(name)
            let context = ProviderContext(
                http: transport, time: base.time, random: base.random, book: StoredBook(store: base.store, account: id),
                notifyURL: "\(Desk.publicURL)/v1/notify/\(Desk.notifyToken(name))", publicURL: Desk.publicURL)
            return ConfiguredAccount(
                id: id, provider: try WeChatPayProvider(account: WeChatPayBench.account(settings), context: context),
                enabled: true, routing: AccountRouting(platforms: [.web], priority: 1),
                notifyToken: Desk.notifyToken(name))
        }
        self.desk = desk
        self.standIn = standIn
        self.transport = transport
        gateway = Gateway(
            store: base.store,
            registry: ProviderRegistry(
                kinds: Array(base.registry.kinds.values) + [WeChatPayProvider.self],
                accounts: base.registry.accounts + accounts),
            keyRing: base.keyRing, time: base.time, random: base.random, calls: base.calls, webhooks: base.webhooks,
            settings: base.settings, logger: base.logger, pause: Pauses.forever)
    }

    func checkout(_ account: String = native, user: String = "alice") async throws -> PaymentContract {
        desk.clock.tick()
        return try await gateway.openCheckout(
            CheckoutRequest(
                sku: "vip_month", quantity: 1, days: nil, platform: .web, currency: Desk.money(0).currency,
                provider: account, accept: ContractType.base, returnURL: "https://app.example/done"),
            user: Desk.user(user), context: .test)
    }

    func retry(_ contract: PaymentContract, _ account: String) async throws -> PaymentContract {
        desk.clock.tick()
        let request = RetryRequest(
            platform: .web, currency: nil, provider: account, accept: ContractType.base, returnURL: nil)
        return try await gateway.retryCheckout(
            contract.order.rawValue, request, user: Desk.user("alice"), context: .test)
    }

    /// The payer scans and pays.
    func pay(_ contract: PaymentContract) throws -> Bool {
        standIn.act(succeed: true, on: try desk.payment(contract).rawValue)
    }

    /// Tells of a contract's payment as it is now, as WeChat Pay posts it.
    @discardableResult
    func notify(
        _ contract: PaymentContract, id: String = "EV-1", account: String = native, total: Int64? = nil
    ) async throws -> Acknowledgement {
        let payment = try desk.payment(contract).rawValue
        var object = standIn.state.withLock { state in state.orders.first { $0.number == payment }?.json ?? [:] }
        if let total { object["amount"] = ["total": total, "currency": "CNY"] }
        return try await deliver(WeChatPayStandIn.event("TRANSACTION.SUCCESS", object, id: id), account: account)
    }

    /// Settles a refund at WeChat Pay and tells of it.
    func settleRefund(_ status: String, id: String) async throws {
        let object = standIn.state.withLock { state in
            state.refunds[0].status = status
            return state.refunds[0].notice(total: state.orders[0].total)
        }
        try await deliver(WeChatPayStandIn.event("REFUND.\(status)", object, id: id), account: Self.native)
    }

    @discardableResult
    func deliver(_ body: Data, account: String) async throws -> Acknowledgement {
        let headers = WeChatPaySeal.platform.headers(body, at: desk.clock.now.rawValue)
        return try await gateway.receiveNotification(
            token: Desk.notifyToken(account), WeChatPayStandIn.notification(body, headers))
    }

    /// Runs every job that is due.
    func work() async throws {
        try await gateway.prepareJobs()
        while case let jobs = try await gateway.claimJobs(JobKind.allCases, limit: 50), !jobs.isEmpty {
            for job in jobs { await gateway.perform(job) }
        }
    }

    func state(_ contract: PaymentContract) async throws -> Order.Status {
        try await gateway.readOrder(contract.order.rawValue).status
    }
}
