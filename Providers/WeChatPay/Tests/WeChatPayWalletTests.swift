import Crypto
import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import Testing
import WeChatPayProvider
import _CryptoExtras

/// Tests of the parameters for WeChat's own libraries, and of the app of a payment.
struct WeChatPayWalletTests {
    private let fixture = WeChatPayFixture()

    private func isSigned(_ lines: [String], _ signature: String) -> Bool {
        let text = lines.map { "\($0)\n" }.joined()
        guard let bytes = Data(base64Encoded: signature) else { return false }
        return WeChatPayTestCertificates.merchant.key.publicKey.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: bytes), for: SHA256.hash(data: Data(text.utf8)),
            padding: .insecurePKCS1v1_5)
    }

    @Test func `an app gets the members of WeChat's request, signed, and the same again`() async throws {
        let provider = try fixture.provider(WeChatPayFixture.wallet("app"))
        let attempt = fixture.attempt(platform: .android)
        let opened = try await provider.open(attempt)
        guard case .wechatApp(let shown) = opened.instruction else { throw RehearsalGap("gave \(opened.instruction)") }
        #expect(shown.appid == FakeWeChatPayServer.mobile && shown.partnerid == FakeWeChatPayServer.mchid)
        #expect(shown.package == "Sign=WXPay" && shown.timestamp == "1736860000")
        #expect(shown.noncestr.wholeMatch(of: /[A-Za-z0-9]{1,32}/) != nil)
        #expect(isSigned([shown.appid, shown.timestamp, shown.noncestr, shown.prepayid], shown.sign))
        #expect(opened.instruction.expiresAt == Timestamp(1_736_860_000 + 7_200))
        fixture.clock.advance(seconds: 60)
        let restarted = try fixture.provider(WeChatPayFixture.wallet("app"))
        #expect(try await restarted.open(attempt).instruction == opened.instruction)
        let order = try #require(fixture.transport.requests.last.map(FakeWeChatPayServerCall.init)).object
        #expect(order["appid"] as? String == FakeWeChatPayServer.mobile && order["payer"] == nil)
    }

    @Test(arguments: [
        ("oPayer0of0the0office", FakeWeChatPayServer.office), ("oPayer0of0the0mini", FakeWeChatPayServer.mini),
    ])
    func `a page inside WeChat and a mini program get theirs`(openID: String, app: String) async throws {
        let provider = try fixture.provider(WeChatPayFixture.wallets)
        let attempt = fixture.attempt(accepts: [.wechatJSAPI], payer: WalletPayer(appID: app, openID: openID))
        let opened = try await provider.open(attempt)
        guard case .wechatJSAPI(let shown) = opened.instruction else {
            throw RehearsalGap("gave \(opened.instruction)")
        }
        #expect(shown.appId == app && shown.signType == "RSA" && shown.package.hasPrefix("prepay_id=wx"))
        #expect(isSigned([shown.appId, shown.timeStamp, shown.nonceStr, shown.package], shown.paySign))
        let order = try #require(fixture.transport.requests.last.map(FakeWeChatPayServerCall.init)).object
        #expect(order["appid"] as? String == app && order["payer"] as? [String: String] == ["openid": openID])
    }

    @Test(
        arguments: [
            (WalletPayer(appID: FakeWeChatPayServer.office), "wechat_openid"),
            (WalletPayer(openID: "oPayer0of0the0office"), "app_id"),
            (WalletPayer(appID: FakeWeChatPayServer.mobile, openID: "oPayer0of0the0office"), "app_id"),
        ])
    func `what is missing or foreign is refused without a call`(payer: WalletPayer, reason: String) async throws {
        let provider = try fixture.provider(WeChatPayFixture.wallets)
        await #expect(throws: ProviderError.unfit(reason: reason)) {
            try await provider.open(fixture.attempt(accepts: [.wechatJSAPI], payer: payer))
        }
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test func `an openid of another app is WeChat Pay's to refuse`() async throws {
        let provider = try fixture.provider(WeChatPayFixture.wallets)
        let payer = WalletPayer(appID: FakeWeChatPayServer.mini, openID: "oPayer0of0the0office")
        await #expect(throws: ProviderError.rejected(reason: "PARAM_ERROR")) {
            try await provider.open(fixture.attempt(accepts: [.wechatJSAPI], payer: payer))
        }
        #expect(!fixture.logged.joined().contains("oPayer0of0the0office"))
    }

    @Test func `the first of the modes that a client accepts is taken`() async throws {
        let provider = try fixture.provider(WeChatPayFixture.wallets)
        for (accepts, type) in [
            ([.qr, .wechatJSAPI, .wechatApp], .qr), ([.wechatJSAPI, .wechatApp, .url], .wechatJSAPI),
            ([.wechatApp, .url], .wechatApp),
        ] as [(Set<ContractType>, ContractType)] {
            let payer = type == .wechatJSAPI ? WeChatPayFixture.payer : nil
            let opened = try await provider.open(fixture.attempt(accepts: accepts, payer: payer))
            #expect(opened.instruction.type == type)
        }
        await #expect(throws: ProviderError.unfit(reason: "accept")) {
            try await provider.open(fixture.attempt(accepts: [.url]))
        }
    }

    @Test(arguments: [FakeWeChatPayServer.office, FakeWeChatPayServer.appid, "wx00foreign"])
    func `an answer or a notification of another app is not believed`(app: String) async throws {
        let provider = try fixture.provider(WeChatPayFixture.wallets)
        let payer = WalletPayer(appID: FakeWeChatPayServer.mini, openID: "oPayer0of0the0mini")
        let attempt = fixture.attempt(accepts: [.wechatJSAPI], payer: payer)
        _ = try await provider.open(attempt)
        let number = attempt.payment.rawValue
        #expect(fixture.standIn.act(succeed: true, on: number))
        let own = fixture.standIn.state.withLock { $0.orders[0].json }
        let told = fixture.notification(FakeWeChatPayServer.event("TRANSACTION.SUCCESS", own))
        #expect(try await provider.receive(told).facts.count == 1)
        let foreign = own.merging(["appid": app]) { $1 }
        let notice = fixture.notification(FakeWeChatPayServer.event("TRANSACTION.SUCCESS", foreign))
        await #expect(throws: ProviderError.unproven(.otherApp)) { try await provider.receive(notice) }
        fixture.standIn.state.withLock { $0.orders[0].appid = app }
        await #expect(throws: ProviderError.unproven(.otherApp)) {
            try await provider.query(fixture.reference(attempt))
        }
    }

    @Test func `no order waits longer than WeChat Pay lets it`() async throws {
        _ = try await fixture.provider(WeChatPayFixture.wallet("app")).open(fixture.attempt(expires: 30 * 86_400))
        let order = try #require(fixture.transport.requests.last.map(FakeWeChatPayServerCall.init)).object
        #expect(order["time_expire"] as? String == "2025-01-21T21:06:40+08:00")
    }
}
