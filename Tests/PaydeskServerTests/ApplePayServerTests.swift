import Foundation
import SwiftASN1
import TestSupport
import Testing

/// Apple Pay with the built program: mutual TLS to a gateway on this machine, and what stops the start.
@Suite("Apple Pay of the built program")
struct ApplePayServerTests {
    /// The gateway's certificate, for `localhost`.
    private static let server = ApplePayCertificate("localhost", .newP256()) {
        // subjectAltName (RFC 5280 section 4.2.1.6): one dNSName.
        $0.extensions = [([2, 5, 29, 17], [0x30, 0x0B, 0x82, 0x09] + Array("localhost".utf8))]
    }.issued(by: ApplePayTestTokens.root)

    private static func installation(
        gateway: Int = 1, identity: ApplePayIdentity = ApplePayTestTokens.identity, more: String = "processor: charge",
        processor: String = "kind: sandbox\nnotify_token: n2\nrouting: {weight: 0}\nsettings: {secret: s}"
    ) throws -> Installation {
        let installation = try Installation()
        let folder = installation.folder
        try folder.write("Config/identity.pem", identity.certificatePEM)
        try folder.write("Config/identity.key", identity.keyPEM)
        try folder.write("Config/root.pem", ApplePayTestTokens.root.certificatePEM)
        try folder.write("Config/association", "the proof of the domain")
        try folder.write("Config/providers/charge.yaml", processor)
        try folder.write(
            "Config/providers/pay.yaml",
            """
            kind: apple_pay
            routing: {platforms: [web], priority: 9}
            settings:
              merchant_identifier: \(ApplePayTestTokens.merchantIdentifier)
              display_name: Example
              domain: shop.example.com
              country_code: CN
              supported_networks: [visa]
              gateway: https://localhost:\(gateway)
              gateway_ca: root.pem
              identity: {certificate: identity.pem, private_key: "file:identity.key"}
              root_certificates: [root.pem]
              domain_association: association
              \(more)
            """)
        return installation
    }

    private static let authorities = [ApplePayTestTokens.intermediate, ApplePayTestTokens.root]
    private static let session = #"{ "nonce" : "AB",  "signature":"30", "é":[1.50] }"#

    @Test func `a session comes over mutual TLS, byte for byte`() async throws {
        let gateway = try await LoopbackTLS(own: Self.server, clients: Self.authorities) { _ in
            (200, Self.session)
        }
        let installation = try Self.installation(gateway: gateway.port)
        #expect(try await installation.run("migrate").status == 0)
        let doctor = try await installation.run("doctor")
        #expect(doctor.output.contains("ok   account pay, gateway: "), "\(doctor.output)")
        #expect(doctor.output.contains("ok   account pay, Merchant Identity: fits its key and the merchant id"))
        #expect(doctor.output.contains("ok   account pay, self-test: "))
        try await installation.whileServing { server in
            let token = try await installation.token()
            let contract = try await installation.call(
                "POST", "/v1/public/checkout", token,
                #"{"sku":"vip_month","platform":"web","currency":"CNY","accept":["apple_pay"]}"#)
            let order = try #require(contract["order_id"] as? String)
            let reply = try #require(
                await LoopbackHTTP.send(
                    "POST", "/v1/public/apple-pay/session", port: installation.port,
                    headers: ["Authorization": "Bearer \(token)"], body: #"{"order_id":"\#(order)"}"#))
            #expect(reply.status == 200 && reply.body.contains(#"{"merchant_session":\#(Self.session)}"#), "\(reply)")
            #expect(reply.head.lowercased().contains("cache-control: no-store"))
            let file = try #require(
                await LoopbackHTTP.send(
                    "GET", "/.well-known/apple-developer-merchantid-domain-association", port: installation.port))
            #expect(file.status == 200 && file.body == "the proof of the domain")
            #expect(!server.errors.contains("signature") && !server.output.contains("\"nonce\""))
        }
        #expect(gateway.received.count == 2)
        try await gateway.stop()
    }

    @Test func `a gateway that does not know the identity issues nothing`() async throws {
        let gateway = try await LoopbackTLS(
            own: Self.server, clients: [ApplePayTestTokens.root("Other", key: .newP256())]
        ) {
            _ in
            (200, Self.session)
        }
        let installation = try Self.installation(gateway: gateway.port)
        #expect(try await installation.run("migrate").status == 0)
        let doctor = try await installation.run("doctor")
        #expect(doctor.status == 1 && doctor.output.contains("FAIL account pay, gateway: "), "\(doctor.output)")
        #expect(gateway.received.isEmpty)
        // Without the network, what is here is judged all the same.
        let offline = try await installation.run("doctor", "--offline")
        #expect(offline.status == 0 && offline.output.contains("account pay, Merchant Identity"))
        try await gateway.stop()
    }

    @Test func `a gateway whose certificate leads elsewhere gets nothing`() async throws {
        let stranger = ApplePayCertificate("localhost", .newP256()) {
            $0.extensions = [([2, 5, 29, 17], [0x30, 0x0B, 0x82, 0x09] + Array("localhost".utf8))]
        }.issued(by: ApplePayTestTokens.root("Other", key: .newP256()))
        let gateway = try await LoopbackTLS(own: stranger, clients: Self.authorities) { _ in
            (200, Self.session)
        }
        let installation = try Self.installation(gateway: gateway.port)
        #expect(try await installation.run("migrate").status == 0)
        let doctor = try await installation.run("doctor")
        #expect(doctor.output.contains("FAIL account pay, gateway: ") && gateway.received.isEmpty)
        try await gateway.stop()
    }

    @Test(
        arguments: [(307, 10, "answered 307"), (200, 70_000, "gave no answer"), (404, 10, "answered 404")])
    func `a redirect is not followed and a long answer not read`(
        _ status: Int, _ length: Int, _ words: String
    ) async throws {
        let body = #"{"a":"\#(String(repeating: "x", count: length))"}"#
        let gateway = try await LoopbackTLS(own: Self.server, clients: Self.authorities) { _ in (status, body) }
        let installation = try Self.installation(gateway: gateway.port)
        #expect(try await installation.run("migrate").status == 0)
        let doctor = try await installation.run("doctor")
        #expect(doctor.status == 1 && doctor.output.contains(words), "\(doctor.output)")
        #expect(gateway.received.count == 1)
        try await gateway.stop()
    }

    @Test(
        arguments: [
            (
                "processor: nobody", "kind: sandbox\nnotify_token: n2\nsettings: {secret: s}",
                "settings.processor: is no account"
            ),
            (
                "processor: charge", "kind: sandbox\nenabled: false\nnotify_token: n2\nsettings: {secret: s}",
                "settings.processor: charge is not enabled"
            ),
            (
                "processor: pay", "kind: sandbox\nnotify_token: n2\nsettings: {secret: s}",
                "settings.token_form: pay does not charge encrypted tokens"
            ),
            (
                "processor: charge\n  token_form: decrypted", "kind: sandbox\nnotify_token: n2\nsettings: {secret: s}",
                "settings.token_form: is decrypted, but payment_processing holds no key"
            ),
        ])
    func `a processor that cannot charge stops the start`(
        _ more: String, _ processor: String, _ fault: String
    ) async throws {
        let installation = try Self.installation(more: more, processor: processor)
        let ended = try await installation.run("serve")
        #expect(ended.status == 2 && ended.errors.contains("providers/pay.yaml: \(fault)"), "\(ended.errors)")
    }

    @Test func `a key that does not fit stops the start and is not shown`() async throws {
        let installation = try Self.installation()
        try installation.folder.write("Config/identity.key", ApplePayTestTokens.processingRSA.keyPEM)
        let ended = try await installation.run("serve")
        #expect(ended.status == 2)
        #expect(
            ended.errors.contains(
                "providers/pay.yaml: settings.identity: cannot be used: the private key is not the one of the certificate"
            ))
        let body = ApplePayTestTokens.processingRSA.keyPEM.split(separator: "\n")[1]
        #expect(!ended.errors.contains(body))
    }
}
