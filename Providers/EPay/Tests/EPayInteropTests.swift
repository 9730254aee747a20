import Domain
import EPayProvider
import Foundation
import Gateway
import ProviderKit
import ProviderTesting
import TestSupport
import Testing

/// A service that was written in another language, without the provider's code.
@Suite("A service in Python agrees", .serialized, .timeLimit(.minutes(30)))
struct EPayInteropTests {
    @Test func `about addresses, calls and notifications`() async throws {
        let service = try await EPayService.start()
        defer { service.stop() }
        try await withDesk(on: .sqlite) { desk in
            for mode in ["submit", "mapi_qr"] {
                let settings: [String: SettingValue] = [
                    "mode": .text(mode), "type": .text("alipay"), "base": .text("http://127.0.0.1:\(service.port)"),
                ]
                let epay = try EPayGatewayFixture(desk, http: LoopbackTransport(), settings: settings)
                let contract = try await epay.checkout(user: mode)
                let payment = try desk.payment(contract).rawValue
                if case .url(let address) = contract.instruction {
                    let path = try #require(address.split(separator: "/", maxSplits: 2).last)
                    #expect(try await service.get("/\(path.replacing("39.90", with: "0.01"))") == "refused")
                    #expect(try await service.get("/\(path)") == "pay here")
                }
                let told = try await service.get("/play?out_trade_no=\(payment)")
                #expect(told.contains("money=39.9&"))
                await #expect(throws: GatewayError.invalidNotification) {
                    try await epay.notify(EPayNotice.get(told.replacing("39.9&", with: "39.8&")))
                }
                try await epay.notify(mode == "submit" ? EPayNotice.get(told) : EPayNotice.post(told))
                #expect(try await epay.order(contract).status == .paid)
                let provider = try EPayProvider(
                    account: EPayFixture.account(settings),
                    context: TestContext(account: "epay") { request, _ throws(HTTPTransportError) in
                        try await LoopbackTransport().send(request)
                    }.context)
                let reference = ProviderReference(
                    payment: try desk.payment(contract), reference: nil, amount: contract.amount)
                #expect(try await provider.query(reference).outcome == .succeeded(contract.amount))
                #expect(await provider.diagnose().map(\.level) == [.good])
                let refund = try await epay.gateway.refunds.request(
                    contract.order.rawValue, amount: nil, reason: "a test", context: .test)
                #expect(refund.refund.state == .succeeded)
            }
        }
        print("interop: a service in Python verified our addresses and calls, and signed what paid our orders")
    }
}

/// A run of `service.py`.
private struct EPayService {
    struct Failure: Error {}

    let port: UInt16
    private let program: SpawnedProgram
    private let folder: URL

    static func start() async throws -> EPayService {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Interop/service.py").path
        let folder = FileManager.default.temporaryDirectory.appending(path: "epay-interop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let port = try FreePort.next()
        let program = try SpawnedProgram(
            ["/usr/bin/env", InteropPython.interpreter, script, "\(port)", FakeEPayServer.pid, FakeEPayServer.key],
            in: folder.path,
            name: "service", environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"])
        for _ in 0..<1_000 {
            let output = try? String(contentsOf: folder.appending(path: "service.out"), encoding: .utf8)
            if output == "ready\n" { return EPayService(port: port, program: program, folder: folder) }
            if program.ended() != nil { break }
            await SpawnedProgram.pause()
        }
        let errors = (try? String(contentsOf: folder.appending(path: "service.err"), encoding: .utf8)) ?? ""
        if errors.contains("No such file or directory") {
            throw MissingProgram(InteropPython.interpreter)
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
