import Domain
import Foundation
import Gateway
import HTTPAPI
import Hummingbird
import HummingbirdTesting
import Logging
import ProviderKit
import ProviderTesting
import TestSupport
import Testing

/// The image of a `qr` contract, read back by a reader that was written elsewhere (Debian's package `zbar-tools`).
struct AlipayQRTests {
    private static let codes = [
        "https://qr.alipay.com/bax03431ljhokirwl38f00a7",
        "https://qr.alipay.com/" + String(repeating: "Ab9-_.~", count: 60) + "?x=%E4%BC%9A&y=1#z",
    ]

    @Test(arguments: codes) func `zbarimg reads exactly the text that Alipay gave`(code: String) async throws {
        try await withDesk(on: .sqlite) { desk in
            let transport = RecordingTransport { request in
                let form = FakeAlipayServer.form(String(decoding: request.body, as: UTF8.self))
                let content = try? JSONDecoder().decode(
                    [String: String].self, from: Data((form["biz_content"] ?? "").utf8))
                let node = ["code": "10000", "out_trade_no": content?["out_trade_no"] ?? "", "qr_code": code]
                return FakeAlipayServer().reply("alipay.trade.precreate", node)
            }
            let alipay = try AlipayGatewayFixture(desk, http: transport)
            let contract = try await alipay.checkout()
            let path = try #require(contract.qrImageURL).replacing(GatewayFixture.publicURL, with: "")
            let svg = try await image(of: path, alipay.gateway)
            let text = try ZBar.read(try bitmap(svg))
            #expect(text == code)
            print("interop: zbarimg reads \(text.utf8.count) bytes back from the QR image")
        }
    }

    /// Returns the answer of the public API, without a login.
    private func image(of path: String, _ gateway: Gateway) async throws -> String {
        let api = API(
            gateway: gateway,
            settings: APISettings(
                corsOrigins: [],
                limits: APISettings.Limits(
                    userPerSecond: 0, userBurst: 0, keyPerSecond: 0, keyBurst: 0, sessionsPerMinute: 0, concurrent: 0),
                tokens: UserTokenRules(
                    keys: .secret(Array("user-secret-planted-in-tests-0123456789".utf8)), issuer: "", audience: ""),
                version: "0.0.0-test", metricsText: { "" }), logger: gateway.logger)
        let app = Application(router: api.router(), logger: Logger(label: "http") { _ in SwiftLogNoOpLogHandler() })
        return try await app.test(.router) { client in
            let response = try await client.execute(uri: path, method: .get)
            #expect(response.status.code == 200)
            return String(buffer: response.body)
        }
    }

    /// The squares of the image, eight pixels each, as a portable graymap.
    private func bitmap(_ svg: String) throws -> Data {
        let scale = 8
        let size = try #require(svg.firstMatch(of: /viewBox="0 0 (\d+) \1"/).flatMap { Int($0.1) })
        var pixels = [UInt8](repeating: 255, count: size * scale * size * scale)
        for module in svg.matches(of: /M(\d+),(\d+)h1v1h-1z/) {
            let (column, row) = (try #require(Int(module.1)), try #require(Int(module.2)))
            for y in 0..<scale {
                for x in 0..<scale { pixels[(row * scale + y) * size * scale + column * scale + x] = 0 }
            }
        }
        return Data("P5 \(size * scale) \(size * scale) 255\n".utf8) + pixels
    }
}

/// The reader of bar codes.
private enum ZBar {
    /// - Throws: ``MissingProgram`` where there is no `zbarimg`.
    static func read(_ image: Data) throws -> String {
        let path = "/usr/bin/zbarimg"
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw MissingProgram("zbarimg (Debian's package zbar-tools)")
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "qr-\(UUID().uuidString).pgm")
        try image.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = ["--quiet", "--raw", "--oneshot", file.path]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }
}
