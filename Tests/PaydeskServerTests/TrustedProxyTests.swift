import Foundation
import ProviderKit
import Synchronization
import TestSupport
import Testing

/// `http.trusted_proxies` of the built program, as a payment service sees it.
@Suite("Trusted proxies of the built program")
struct TrustedProxyTests {
    @Test(arguments: [("[127.0.0.1]", "93.184.216.34"), ("[]", "127.0.0.1")])
    func `a payment service is told the payer's address`(_ trusted: String, _ told: String) async throws {
        let forms = Mutex<[String]>([])
        let service = try FakeHTTPServer { request in
            forms.withLock { $0.append(String(decoding: request.body, as: UTF8.self)) }
            return IncomingReply(status: 200, body: Data(#"{"code":1,"payurl":"https://pay.example/1"}"#.utf8))
        }
        defer { service.stop() }
        let installation = try Installation(proxies: trusted)
        try installation.folder.write(
            "Config/providers/epay.yaml",
            """
            kind: epay
            notify_token: n2
            routing: {priority: 9}
            settings: {mode: mapi_url, base: "\(service.base)/", pid: "1001", key: 0123456789abcdef, type: alipay}
            """)
        try await installation.whileServing { _ in
            let token = try await installation.token()
            let reply = try #require(
                await LoopbackHTTP.send(
                    "POST", "/v1/public/checkout", port: installation.port,
                    headers: ["Authorization": "Bearer \(token)", "X-Forwarded-For": "9.9.9.9, 93.184.216.34"],
                    body: #"{"sku":"vip_month","platform":"web","currency":"CNY","provider":"epay"}"#))
            #expect(reply.status == 200, "\(reply.body)")
        }
        let form = try #require(forms.withLock { $0.first })
        #expect(form.contains("clientip=\(told)&"), "\(form)")
    }
}
