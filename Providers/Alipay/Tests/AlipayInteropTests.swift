import AlipayProvider
import Domain
import Foundation
import Gateway
import ProviderKit
import ProviderTesting
import Synchronization
import TestSupport
import Testing
import X509
import _CryptoExtras

/// Compares with a gateway that signs with another library, which Alipay's own library accepts too.
@Suite("Alipay's libraries agree", .serialized, .timeLimit(.minutes(30)))
struct AlipayInteropTests {
    private static let python = InteropPython(peer: "Alipay's libraries")

    @Test func `about requests, answers, pages and notifications`() async throws {
        let peer = try await AlipayPeer.start(Self.python)
        defer { peer.stop() }
        // Alipay's own library only uses port 80, which requires root.
        if peer.hasOfficialDoor {
            let output = try await Self.python.run("client.py", [peer.folder.path])
            #expect(output == "accepted 6\n")
        } else {
            #expect(getuid() != 0, "port 80 of 127.0.0.21 is taken")
        }
        try await withDesk(on: .sqlite) { desk in
            for mode in ["precreate", "page", "wap"] {
                try await buy(desk, peer, mode: mode)
            }
        }
        print("interop: python-alipay-sdk verified our requests and pages, and signed what paid our orders")
    }

    private func buy(_ desk: GatewayFixture, _ peer: AlipayPeer, mode: String) async throws {
        let settings: [String: SettingValue] = [
            "mode": .text(mode), "gateway": .text("http://127.0.0.1:\(peer.port)/gateway.do"),
        ]
        let alipay = try AlipayGatewayFixture(desk, http: LoopbackTransport(), settings: settings)
        let contract = try await alipay.checkout(user: mode)
        let payment = try desk.payment(contract).rawValue
        if case .url(let address) = contract.instruction {
            let query = try #require(address.split(separator: "?", maxSplits: 1).last)
            let seen = try await peer.get("/visit?\(query)")
            #expect(seen == "alipay.trade.\(mode).pay \(payment) 39.90")
            let altered = query.replacing("39.90", with: "00.01")
            #expect(altered != query)
            #expect(try await peer.get("/visit?\(altered)") == "refused")
        }
        let form = try await peer.get("/pay?out_trade_no=\(payment)&status=TRADE_SUCCESS")
        for altered in [
            form.replacing("39.90", with: "39.91"), form.replacing("seller_id=2", with: "seller_id=3"),
            form.replacing("passback_params=&", with: ""), form + "&x=",
        ] {
            #expect(altered != form)
            await #expect(throws: GatewayError.invalidNotification) {
                try await alipay.notify(AlipayNotice.raw(altered))
            }
        }
        try await alipay.notify(AlipayNotice.raw(form))
        #expect(try await alipay.order(contract).status == .paid)
        let refund = try await alipay.gateway.refunds.request(
            contract.order.rawValue, amount: GatewayFixture.money(990), reason: "a test", context: .test)
        #expect(refund.refund.state == .succeeded)
        let attempt = RefundAttempt(
            refund: refund.refund.id,
            payment: ProviderReference(payment: try desk.payment(contract), reference: nil, amount: contract.amount),
            amount: GatewayFixture.money(990), reason: "")
        let provider = try AlipayProvider(
            account: AlipayFixture.account(settings),
            context: TestContext(account: "alipay") { request, _ throws(HTTPTransportError) in
                try await LoopbackTransport().send(request)
            }.context)
        #expect(try await provider.refund(attempt).outcome == .succeeded)
        #expect(try await provider.query(refund: attempt).amount == GatewayFixture.money(990))
        #expect(await provider.diagnose().map(\.level) == [.good])
        let unknown = AlipayFixture().reference(AlipayFixture().attempt())
        #expect(try await provider.query(unknown).outcome == .pending(status: "not_found"))
    }

    @Test func `about requests for its library inside an app`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "alipay-app-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in [
            ("application.pem", AlipayTestCertificates.application.pemRepresentation),
            ("alipay.pub", AlipayTestCertificates.alipay.publicKey.pemRepresentation),
        ] { try Data(text.utf8).write(to: folder.appending(path: name)) }
        let fixture = AlipayFixture()
        let provider = try fixture.provider(["mode": .text("app")])
        var ours: [String] = []
        for title in ["VIP monthly", "会员 “月卡” / A&B=C+"] {
            guard case .alipayApp(let text) = try await provider.open(fixture.attempt(title: title)).instruction else {
                throw RehearsalGap("made no request for an app")
            }
            ours.append(text)
        }
        let verdicts = try await Self.python.lines(
            "app.py", [folder.path], input: Data(ours.joined(separator: "\n").utf8))
        #expect(verdicts == ["same", "same"])
        print("interop: python-alipay-sdk makes the same requests for an app")
    }

    @Test func `about the numbers of certificates`() async throws {
        let roots = AlipayTestCertificates.certificate(
            "Root R1", of: .init(AlipayTestCertificates.stranger.publicKey), by: .init(AlipayTestCertificates.stranger),
            serial: [0x7F, 1, 2, 3])
        let two = roots + "\n" + AlipayTestCertificates.alipayCertificate
        let files = [
            AlipayTestCertificates.file(AlipayTestCertificates.applicationCertificate),
            AlipayTestCertificates.file(two),
        ]
        let output = try await Self.python.run("certificates.py", files)
        let standIn = FakeAlipayServer(certificate: AlipayTestCertificates.alipayNumber)
        let fixture = AlipayFixture(standIn)
        var settings = AlipayFixture.certificateMode(alipay: AlipayTestCertificates.alipayCertificate)
        settings["alipay_root_certificate"] = .text(files[1])
        _ = try await fixture.provider(settings).open(fixture.attempt())
        let form = try #require(standIn.state.withLock { $0.forms.first })
        #expect(output == "\(form["app_cert_sn"] ?? "") \(form["alipay_root_cert_sn"] ?? "")\n")
        print("interop: python-alipay-sdk names certificates by the same numbers")
    }
}

/// A run of `gateway.py` with the keys of the tests.
private struct AlipayPeer {
    struct Failure: Error {}

    let folder: URL
    let port: UInt16
    let hasOfficialDoor: Bool
    private let program: SpawnedProgram

    static func start(_ python: InteropPython) async throws -> AlipayPeer {
        let folder = FileManager.default.temporaryDirectory.appending(path: "alipay-interop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, text) in [
            ("application.pem", AlipayTestCertificates.application.pemRepresentation),
            ("application.pub", AlipayTestCertificates.application.publicKey.pemRepresentation),
            ("alipay.pem", AlipayTestCertificates.alipay.pemRepresentation),
            ("alipay.pub", AlipayTestCertificates.alipay.publicKey.pemRepresentation),
        ] { try Data(text.utf8).write(to: folder.appending(path: name)) }
        let port = try FreePort.next()
        let program = try SpawnedProgram(
            python.command("gateway.py", [folder.path, "\(port)"]), in: folder.path, name: "gateway",
            environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"])
        for _ in 0..<1_000 {
            let output = (try? String(contentsOf: folder.appending(path: "gateway.out"), encoding: .utf8)) ?? ""
            if output.hasPrefix("ready"), output.hasSuffix("\n") {
                return AlipayPeer(
                    folder: folder, port: port, hasOfficialDoor: output.contains("both"), program: program)
            }
            if program.ended() != nil {
                throw MissingProgram("python-alipay-sdk for \(InteropPython.interpreter)", program.errors)
            }
            await SpawnedProgram.pause()
        }
        program.send(SIGKILL)
        throw Failure()
    }

    func get(_ path: String) async throws -> String {
        guard let reply = await LoopbackHTTP.send("GET", path, port: port), reply.status == 200 else { throw Failure() }
        return reply.body
    }

    func stop() {
        program.send(SIGKILL)
        try? FileManager.default.removeItem(at: folder)
    }
}
