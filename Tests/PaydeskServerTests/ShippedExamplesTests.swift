import Foundation
import TestSupport
import Testing

/// Tests the example accounts of the product.
@Suite("Shipped examples of accounts")
struct ShippedExamplesTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Config/providers")

    /// Returns the value of a member at the top of an example.
    private static func value(_ name: String, in text: String) throws -> String {
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("\(name): ") })
        return String(line.dropFirst("\(name): ".count))
    }

    /// Returns the values of the environment variables that the comments name.
    private static func values(_ merchant: ApplePayIdentity, _ alipay: ApplePayIdentity) -> [String: String] {
        func bare(_ pem: String) -> String {
            pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        }
        return [
            "STRIPE_SECRET_KEY": "sk_test_1234567890abcdef", "STRIPE_PUBLISHABLE_KEY": "pk_test_1234567890abcdef",
            "STRIPE_WEBHOOK_SECRET": "whsec_1234567890abcdef", "PAYPAL_CLIENT_ID": "client",
            "PAYPAL_CLIENT_SECRET": "secret", "PAYPAL_WEBHOOK_ID": "8PT597110X687430LKGECATA",
            "EPAY_BASE": "https://pay.example.com/", "EPAY_PID": "1001", "EPAY_KEY": "0123456789abcdef0123456789abcdef",
            "ALIPAY_APP_ID": "2021000000000001", "ALIPAY_SELLER_ID": "2088000000000001",
            "ALIPAY_APP_PRIVATE_KEY": bare(merchant.keyPEM), "ALIPAY_PUBLIC_KEY": bare(alipay.publicKeyPEM),
            "WECHAT_MCHID": "1900000001", "WECHAT_APPID": "wx0000000000000001",
            "WECHAT_API_V3_KEY": String(repeating: "k", count: 32), "REMOTE_URL": "https://plugin.example",
            "REMOTE_SECRET": "whsec_" + Data(repeating: 9, count: 32).base64EncodedString(),
        ]
    }

    @Test func `each is accepted by its kind once its variables have values`() async throws {
        let installation = try Installation()
        let merchant = ApplePayCertificate("Merchant", .newRSA()).issued(by: nil)
        try installation.folder.write("Config/secrets/apiclient_key.pem", merchant.keyPEM)
        try installation.folder.write("Config/secrets/apiclient_cert.pem", merchant.certificatePEM)
        let examples = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
            .filter { $0.hasSuffix(".example") }
        try #require(!examples.isEmpty)
        var kinds: [String: String] = [:]
        for example in examples {
            let text = try String(contentsOf: Self.folder.appending(path: example), encoding: .utf8)
            let account = try Self.value("account", in: text)
            // The first comment names the file.
            #expect(text.contains("\(account).yaml"), "\(example)")
            kinds[account] = try Self.value("kind", in: text)
            try installation.folder.write("Config/providers/\(account).yaml", text)
        }
        #expect(kinds.count == examples.count)
        let values = Self.values(merchant, ApplePayCertificate("Alipay", .newRSA()).issued(by: nil))
        let migrated = try await installation.command(["migrate"], environment: values)
        #expect(migrated.status == 0, "\(migrated.errors)")
        let doctor = try await installation.command(["doctor", "--offline"], environment: values)
        for (account, kind) in kinds {
            let line = "ok   account \(account): \(kind), enabled"
            #expect(doctor.output.contains(line), "\(doctor.output) \(doctor.errors)")
        }
        // Without its variables each example names the missing ones.
        let bare = try await installation.run("migrate")
        #expect(bare.status == 2)
        for name in values.keys where name != "ALIPAY_PUBLIC_KEY" {
            #expect(bare.errors.contains(name), "\(name): \(bare.errors)")
        }
    }
}
