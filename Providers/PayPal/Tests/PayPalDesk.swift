import Domain
import Foundation
import Gateway
import PayPalProvider
import ProviderKit
import ProviderTesting
import Synchronization
import TestSupport

/// A whole gateway with one PayPal account.
struct PayPalDesk: Sendable {
    static let account = "paypal-main"

    let desk: Desk
    let gateway: Gateway
    let standIn: PayPalStandIn
    let transport: RecordingTransport

    init(_ desk: Desk) throws {
        let (base, standIn, clock) = (desk.gateway, PayPalStandIn(), desk.clock)
        let transport = RecordingTransport(changesSomething: PayPalBench.changesSomething) { request in
            standIn.answer(request, now: clock.now.rawValue)
        }
        let id = try AccountID.test(Self.account)
        let context = ProviderContext(
            http: transport, time: base.time, random: base.random, book: StoredBook(store: base.store, account: id),
            notifyURL: "", publicURL: Desk.publicURL)
        let account = ConfiguredAccount(
            id: id, provider: try PayPalProvider(account: PayPalBench.account(), context: context), enabled: true,
            routing: AccountRouting(platforms: [.web], priority: 1), notifyToken: Desk.notifyToken(Self.account))
        self.desk = desk
        self.standIn = standIn
        self.transport = transport
        gateway = Gateway(
            store: base.store,
            registry: ProviderRegistry(
                kinds: Array(base.registry.kinds.values) + [PayPalProvider.self],
                accounts: base.registry.accounts + [account]),
            keyRing: base.keyRing, time: base.time, random: base.random, calls: base.calls, webhooks: base.webhooks,
            settings: base.settings, logger: base.logger, pause: Pauses.forever)
    }

    func checkout() async throws -> PaymentContract {
        desk.clock.tick()
        return try await gateway.openCheckout(
            CheckoutRequest(
                sku: "walkie", quantity: 1, days: nil, platform: .web, currency: Desk.money(0, "USD").currency,
                provider: Self.account, accept: ContractType.base, returnURL: "https://app.example/done"),
            user: Desk.user("alice"), context: .test)
    }

    func retry(_ contract: PaymentContract, _ account: String) async throws -> PaymentContract {
        desk.clock.tick()
        let request = RetryRequest(
            platform: .web, currency: nil, provider: account, accept: ContractType.base, returnURL: nil)
        return try await gateway.retryCheckout(
            contract.order.rawValue, request, user: Desk.user("alice"), context: .test)
    }

    /// The payer approves at PayPal.
    func approve(_ contract: PaymentContract) throws -> PayPalStandIn.Order? {
        let payment = try desk.payment(contract).rawValue
        return standIn.approve(payment) ? standIn.order(payment) : nil
    }

    /// The payer is back in the app, which asks after its order.
    func comeBack(_ contract: PaymentContract) async throws -> Order.Status {
        try await desk.pass(seconds: 60)
        return try await gateway.refreshOrder(
            contract.order.rawValue, user: Desk.user("alice"), context: .test
        ).status
    }

    @discardableResult
    func notify(_ type: String, _ resource: [String: Any], id: String) async throws -> Acknowledgement {
        let body = PayPalMint.event(type, resource, id: id)
        return try await gateway.receiveNotification(
            token: Desk.notifyToken(Self.account),
            PayPalMint.notification(body, PayPalMint.headers(body, at: desk.clock.now.rawValue)))
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
