import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import TestSupport
import Testing
import WeChatPayProvider

/// Compares with wechatpayv3, an independent library for Python.
@Suite("wechatpayv3 agrees", .serialized, .timeLimit(.minutes(30)))
struct WeChatPayInteropTests {
    private let python = InteropPython(peer: "wechatpayv3")

    private static func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "wechatpay-interop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, content) in [
            ("merchant.pem", WeChatPayTestCertificates.merchantKey),
            ("platform.pem", WeChatPayTestCertificates.platform.pem),
            ("pub_key.pem", WeChatPayTestCertificates.publicKeyPEM),
            ("platform.key", WeChatPayTestCertificates.platform.key.pkcs8PEM),
            ("stranger.key", WeChatPayTestCertificates.stranger.key.pkcs8PEM),
            ("merchant.pub", WeChatPayTestCertificates.merchantPublicKey),
        ] {
            try Data(content.utf8).write(to: folder.appending(path: name))
        }
        return folder
    }

    private static func json(_ object: Any) throws -> String {
        String(decoding: try JSONSerialization.data(withJSONObject: object, options: .sortedKeys), as: UTF8.self)
    }

    @Test(arguments: ["certificates", "public_key"])
    func `that the stand-in is a WeChat Pay`(mode: String) async throws {
        let (standIn, folder) = (FakeWeChatPayServer(), try Self.folder())
        defer { try? FileManager.default.removeItem(at: folder) }
        let seal = mode == "public_key" ? WeChatPaySeal.publicKey : .platform
        let paid = FakeWeChatPayServer.Order(
            number: "paid-order-1", total: 3990, body: Data(), mode: "native", state: "SUCCESS")
        standIn.state.withLock { state in
            state.seal = seal
            state.orders.append(paid)
        }
        let now = Int64(Date().timeIntervalSince1970)
        let server = try FakeHTTPServer { standIn.answer($0, now: Int64(Date().timeIntervalSince1970)) }
        defer { server.stop() }
        let refund = FakeWeChatPayServer.Refund(
            number: "python-refund-1", order: "paid-order-1", amount: 1, status: "SUCCESS")
        let notices = try [
            FakeWeChatPayServer.event("TRANSACTION.SUCCESS", paid.json),
            FakeWeChatPayServer.event("REFUND.SUCCESS", refund.notice(total: 3990)),
        ].map { body in
            let headers = Dictionary(seal.headers(body, at: now)) { first, _ in first }
            return try Self.json([
                "headers": headers, "body": String(decoding: body, as: UTF8.self), "number": "paid-order-1",
            ])
        }
        let settings = try Self.json([
            "mchid": FakeWeChatPayServer.mchid, "appid": FakeWeChatPayServer.appid,
            "serial": WeChatPayTestCertificates.merchant.serial, "api_key": FakeWeChatPayServer.apiKey,
            "platform_serial": WeChatPayTestCertificates.platform.serial,
            "public_key_id": WeChatPayTestCertificates.publicKeyID, "mode": mode,
        ])
        let output = try await python.run(
            "client.py", [server.base, folder.path, settings], input: Data(notices.joined(separator: "\n").utf8))
        #expect(output.hasPrefix("accepted "))
        print("interop: the stand-in and wechatpayv3:", output.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    @Test func `about every notification that it signs`() async throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let fixture = WeChatPayFixture()
        let (payment, refund) = (fixture.attempt().payment, fixture.ids.make(Refund.self))
        let settings = try Self.json([
            "mchid": FakeWeChatPayServer.mchid, "appid": FakeWeChatPayServer.appid,
            "api_key": FakeWeChatPayServer.apiKey,
            "platform_serial": WeChatPayTestCertificates.platform.serial, "payment": payment.rawValue,
            "refund": refund.rawValue,
            "now": fixture.clock.now.rawValue,
        ])
        let output = try await python.run("sign.py", [folder.path, settings])
        let rows = try output.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        #expect(rows.count == 16)
        let provider = try fixture.provider()
        for row in rows {
            let name = row["name"] as? String ?? ""
            let headers = (row["headers"] as? [String: String] ?? [:]).map { (name: $0.key, value: $0.value) }
            let raw = FakeWeChatPayServer.notification(Data((row["body"] as? String ?? "").utf8), headers)
            guard row["good"] as? Bool == true else {
                await #expect(throws: ProviderError.self, "\(name)") { try await provider.receive(raw) }
                continue
            }
            let facts = try await provider.receive(raw).facts
            #expect(facts.count == 1 && facts.allSatisfy { $0.payment == payment }, "\(name)")
            if name == "paid", case .payment(let report)? = facts.first {
                #expect(report.outcome == .succeeded(cny(3990)))
            }
            if name == "refunded", case .refund(let report)? = facts.first {
                #expect(report.outcome == .succeeded && report.refund == refund && report.amount == cny(1_000))
            }
        }
        print("interop: \(rows.count) notifications signed by wechatpayv3, we agree about each")
    }

    @Test func `about the parameters for WeChat's libraries`() async throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let fixture = WeChatPayFixture()
        let provider = try fixture.provider(WeChatPayFixture.wallets)
        guard case .wechatApp(let app) = try await provider.open(fixture.attempt(accepts: [.wechatApp])).instruction,
            case .wechatJSAPI(let page) = try await provider.open(
                fixture.attempt(accepts: [.wechatJSAPI], payer: WeChatPayFixture.payer)
            ).instruction
        else { throw RehearsalGap("made other contracts") }
        let settings = try Self.json([
            "mchid": FakeWeChatPayServer.mchid, "appid": FakeWeChatPayServer.mobile,
            "serial": WeChatPayTestCertificates.merchant.serial, "api_key": FakeWeChatPayServer.apiKey,
            "public_key_id": WeChatPayTestCertificates.publicKeyID,
        ])
        let signed = try [
            [app.appid, app.timestamp, app.noncestr, app.prepayid],
            [page.appId, page.timeStamp, page.nonceStr, page.package],
        ].map(Self.json)
        let signatures = try await python.lines(
            "wallets.py", [folder.path, settings], input: Data(signed.joined(separator: "\n").utf8))
        #expect(signatures == [app.sign, page.paySign])
        print("interop: wechatpayv3 signs the same parameters")
    }

    @Test func `about the signatures of our requests`() async throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let fixture = WeChatPayFixture()
        let provider = try fixture.provider()
        let payment = try await fixture.paid(provider)
        _ = try await provider.query(payment)
        let refund = fixture.refund(payment, cny(1_000))
        _ = try await provider.refund(refund)
        _ = try await provider.query(refund: refund)
        _ = try await provider.cancel(payment)
        _ = try await fixture.provider(WeChatPayFixture.h5).open(fixture.attempt(title: "会员 “月卡” / VIP"))
        let wallets = try fixture.provider(WeChatPayFixture.wallets)
        _ = try await wallets.open(fixture.attempt(accepts: [.wechatApp]))
        _ = try await wallets.open(fixture.attempt(accepts: [.wechatJSAPI], payer: WeChatPayFixture.payer))
        let questions = try fixture.transport.requests.map { request in
            let call = FakeWeChatPayServerCall(request)
            return try Self.json([
                "method": call.method, "target": call.target, "body": String(decoding: call.body, as: UTF8.self),
                "authorization": call.header("authorization") ?? "",
            ])
        }
        let path = folder.appending(path: "merchant.pub").path
        // An altered request shows that the peer verifies.
        let altered = questions[1].replacing("3990", with: "3991")
        let input = Data((questions + [altered]).joined(separator: "\n").utf8)
        let output = try await python.run("verify.py", [path], input: input)
        let verdicts = output.split(separator: "\n").map(String.init)
        #expect(verdicts == Array(repeating: "accept", count: questions.count) + ["bad signature"])
        print("interop: wechatpayv3 verifies \(questions.count) requests of ours")
    }
}
