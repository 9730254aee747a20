import Domain
import Foundation
import TestSupport
import Testing

@Suite("paydesk verify")
struct VerifyCommandTests {
    private static let account = """
        account: apple_main
        kind: apple_iap
        enabled: true
        notify_token: notify-token-of-the-verify-tests
        routing: {platforms: [ios], priority: 1}
        settings:
          apps: [{bundle_id: com.example.app, app_apple_id: \(AppleNotice.appNumber)}]
          environments: [Production, Sandbox]
          root_certificates: ["\(AppleTestCertificates.rootFile)", "\(AppleReceipt.rootFile)"]
        """

    private static let wallet = """
        kind: apple_pay
        routing: {platforms: [web]}
        settings:
          merchant_identifier: merchant.com.example
          display_name: Example
          domain: shop.example.com
          country_code: CN
          supported_networks: [visa]
          processor: box
          root_certificates: ["\(ApplePayTestTokens.rootFile)"]
        """

    /// Base64 of a receipt's outermost layers, signed by nobody.
    private static let unsigned: [UInt8] =
        [0x30, 0x80, 6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 2, 0xA0, 0x80, 0x30, 0x80, 2, 1, 1, 0x31, 0]
        + [0x30, 0x80, 6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1, 0, 0, 0x31, 0, 0, 0, 0, 0, 0, 0]

    private func verify(_ data: Data) async throws -> Installation.Ended {
        let installation = try Installation()
        try installation.folder.write("Config/providers/apple_main.yaml", Self.account)
        try installation.folder.write("Config/providers/wallet.yaml", Self.wallet)
        let file = installation.folder.path + "/evidence"
        try data.write(to: URL(filePath: file))
        return try await installation.run("verify", file)
    }

    @Test func `a receipt is explained from text and from its file`() async throws {
        for data in [Data(Self.unsigned), Data((Data(Self.unsigned).base64EncodedString() + "\n").utf8)] {
            let ended = try await verify(data)
            #expect(ended.output.hasPrefix("This is: receipt\nFAIL form: malformed: signerInfos has no signer\n"))
            #expect(ended.status == 1 && ended.errors == "paydesk: it does not verify\n")
        }
    }

    @Test func `a MiB of nested ASN.1 is refused, and more than 2 MiB is not read`() async throws {
        let nested = Data(
            [UInt8](repeating: 0x30, count: 1 << 20).enumerated().map { $0.offset % 2 == 0 ? 0x30 : 0x80 })
        let ended = try await verify(nested)
        #expect(ended.status == 1 && ended.output.contains("FAIL form: malformed: BER nested deeper than 24\n"))
        let large = try await verify(Data(repeating: 0x30, count: (2 << 20) + 1))
        #expect(large.status == 1 && large.output.isEmpty && large.errors.hasSuffix("is larger than 2 MiB\n"))
        let limit = try await verify(Data(repeating: 0x30, count: 2 << 20))
        #expect(limit.status == 1 && limit.output.contains("FAIL form: malformed: a receipt of"))
    }

    @Test func `what Apple signed is shown to verify`() async throws {
        let now = Timestamp(1_790_000_000)
        let sale = AppleSale(at: now)
        let receipt = try await verify(Data(AppleReceipt([sale], at: now).base64.utf8))
        #expect(receipt.status == 0 && receipt.output.hasPrefix("This is: receipt\nok   form\n"), "\(receipt.output)")
        #expect(receipt.output.contains(sale.id) && receipt.output.contains(sale.product))
        let notice = AppleNotice("ONE_TIME_CHARGE", nil, sale, at: now)
        // The text alone, and as Apple posts it.
        for text in [notice.signedPayload, #"{"signedPayload":"\#(notice.signedPayload)"}"#] {
            let ended = try await verify(Data(text.utf8))
            #expect(ended.status == 0 && ended.output.hasPrefix("This is: notification\n"), "\(ended.output)")
        }
    }

    /// A transaction's text, and the lines of the checks that it fails.
    static let transactions: [(name: String, text: String, faults: [String])] = {
        let sale = AppleSale(at: Timestamp(1_790_000_000))
        let segments = sale.jws.split(separator: ".").map(String.init)
        let other = sale.with { $0.quantity = 2 }.jws.split(separator: ".").map(String.init)
        return [
            ("sound", sale.jws, []),
            ("forged", AppleTestCertificates.sign(sale.payload, by: .forger), ["signature: bad_signature"]),
            ("changed", "\(segments[0]).\(other[1]).\(segments[2])", ["signature: bad_signature"]),
            ("another app's", sale.with { $0.bundle = "com.other" }.jws, ["app: wrong_app"]),
            (
                "Xcode's", sale.with { $0.environment = "Xcode" }.jws,
                ["certificates: wrong_environment", "environment: wrong_environment"]
            ),
            (
                "another app's, forged",
                AppleTestCertificates.sign(sale.with { $0.bundle = "com.other" }.payload, by: .forger),
                ["signature: bad_signature", "app: wrong_app"]
            ),
            (
                "before its certificates", sale.with { $0.signed = 1_500_000_000_000 }.jws,
                ["validity: certificate_expired: the chain was not yet valid"]
            ),
            ("of two segments", segments.prefix(2).joined(separator: "."), ["form: malformed"]),
        ]
    }()

    @Test func `a transaction is explained check by check`() async throws {
        for (name, text, faults) in Self.transactions {
            let ended = try await verify(Data(text.utf8))
            let lines = ended.output.split(separator: "\n").map(String.init)
            let failed = lines.filter { $0.hasPrefix("FAIL ") }.map { $0.dropFirst(5) }
            #expect(failed.count == faults.count, "\(name): \(ended.output)")
            for (line, fault) in zip(failed, faults) { #expect(line.hasPrefix(fault), "\(name): \(line)") }
            guard faults.isEmpty else {
                #expect(ended.status == 1 && ended.errors == "paydesk: it does not verify\n", "\(name)")
                continue
            }
            #expect(ended.status == 0 && lines.first == "This is: transaction")
            let checks = [
                "form", "header", "algorithm", "critical", "certificateList", "payload", "signedDate", "certificates",
                "chain", "purpose", "validity", "signature", "fields", "app", "environment",
            ]
            #expect(Array(lines.dropFirst().prefix(checks.count)) == checks.map { "ok   \($0)" })
        }
    }

    @Test func `a payment token is explained check by check, its time against now`() async throws {
        var now: Int64 { Int64(Date().timeIntervalSince1970) }
        for version in ApplePayRecipe.Version.allCases {
            let ended = try await verify(
                Data(ApplePayTestTokens.token(applicationData: [1], version: version, at: now)))
            #expect(
                ended.status == 0 && ended.output.hasPrefix("This is: applePayToken\nok   form\n"), "\(ended.output)")
            #expect(ended.output.contains("application data: bound to SHA-256 4bf5122f"))
            #expect(!ended.output.contains(ApplePayTestTokens.accountNumber))
        }
        let old = try await verify(Data(ApplePayTestTokens.token(at: now - 3_600)))
        #expect(old.status == 1 && old.output.contains("ok   signature\n"))
        #expect(old.output.contains("FAIL signingTime: signing_time_out_of_window: signed "))
        let deep = Data(repeating: 0x30, count: 1 << 20).base64EncodedString()
        let nested = try await verify(Data(#"{"paymentData":{"version":"EC_v1","signature":"\#(deep)"}}"#.utf8))
        #expect(nested.status == 1 && nested.output.contains("FAIL form: malformed: the token has 1398"))
    }

    @Test(arguments: ["", "{}", "a.b.c", "0", "\u{0}", "not evidence"])
    func `what is neither is refused`(_ text: String) async throws {
        let ended = try await verify(Data(text.utf8))
        #expect(ended.status == 1 && ended.output.contains("FAIL form: malformed"))
    }
}
