import Domain
import Foundation
import Gateway
import ProviderKit
import ProviderTesting
import Synchronization
import TestSupport
import WeChatPayProvider

/// A whole gateway with three WeChat Pay accounts of one merchant: a code to scan, a page on the phone, and one with the
/// modes for apps and for pages inside WeChat.
struct WeChatPayGatewayFixture: ProviderGatewayFixture {
    static let native = "wechat-native"
    static let account = native
    static let h5 = "wechat-h5"
    static let all = "wechat-all"

    let desk: GatewayFixture
    let gateway: Gateway
    let standIn: FakeWeChatPayServer
    let transport: RecordingTransport

    init(_ desk: GatewayFixture) throws {
        let (standIn, clock) = (FakeWeChatPayServer(), desk.clock)
        let transport = RecordingTransport(changesSomething: { $0.method == "POST" }) { request in
            standIn.answer(request, now: clock.now.rawValue)
        }
        let accounts = try [
            (Self.native, [:]), (Self.h5, WeChatPayFixture.h5), (Self.all, WeChatPayFixture.wallets),
        ].map { name, settings in
            try desk.account(name, http: transport, platforms: name == Self.all ? Platform.allCases : [.web]) {
                try WeChatPayProvider(account: WeChatPayFixture.account(settings), context: $0)
            }
        }
        self.desk = desk
        self.standIn = standIn
        self.transport = transport
        gateway = desk.gateway(with: accounts)
    }

    func checkout(_ account: String = native, user: String = "alice") async throws -> PaymentContract {
        try await checkout(user: user, provider: account)
    }

    func retry(_ contract: PaymentContract, _ account: String) async throws -> PaymentContract {
        try await retry(contract, provider: account)
    }

    /// Scans and pays like the payer.
    func pay(_ contract: PaymentContract) throws -> Bool {
        standIn.act(succeed: true, on: try desk.payment(contract).rawValue)
    }

    /// Notifies of the current state of a contract's payment like WeChat Pay.
    @discardableResult
    func notify(
        _ contract: PaymentContract, id: String = "EV-1", account: String = native, total: Int64? = nil
    ) async throws -> Acknowledgement {
        let payment = try desk.payment(contract).rawValue
        var object = standIn.state.withLock { state in state.orders.first { $0.number == payment }?.json ?? [:] }
        if let total { object["amount"] = ["total": total, "currency": "CNY"] }
        return try await deliver(FakeWeChatPayServer.event("TRANSACTION.SUCCESS", object, id: id), account: account)
    }

    /// Completes a refund at WeChat Pay and notifies of it.
    func settleRefund(_ status: String, id: String, account: String = native) async throws {
        let object = standIn.state.withLock { state in
            state.refunds[0].status = status
            return state.refunds[0].notice(total: state.orders[0].total)
        }
        try await deliver(FakeWeChatPayServer.event("REFUND.\(status)", object, id: id), account: account)
    }

    @discardableResult
    func deliver(_ body: Data, account: String) async throws -> Acknowledgement {
        let headers = WeChatPaySeal.platform.headers(body, at: desk.clock.now.rawValue)
        return try await notify(FakeWeChatPayServer.notification(body, headers), account: account)
    }
}
