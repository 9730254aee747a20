import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import TestSupport
import Testing

@testable import ApplePayProvider

struct ApplePaySessionTests {
    private static func status(_ status: Int) -> ApplePayFixture.Answer {
        { _ in IncomingReply(status: status, body: Data(#"{"statusMessage":"secret of Apple's"}"#.utf8)) }
    }

    @Test func `a session is asked for with the identity and passed through byte for byte`() async throws {
        let fixture = ApplePayFixture()
        let provider = try fixture.provider()
        #expect(try await provider.merchantSession() == ApplePayFixture.session)
        let request = try #require(fixture.requests.first)
        #expect(request.url == "https://gateway.example/paymentservices/paymentSession" && request.method == "POST")
        #expect(
            String(decoding: request.body, as: UTF8.self)
                == #"{"displayName":"Example","initiative":"web","initiativeContext":"shop.example.com","#
                + #""merchantIdentifier":"\#(ApplePayTestTokens.merchantIdentifier)"}"#)
        #expect(request.identity?.certificates == Array(ApplePayTestTokens.identity.certificatePEM.utf8))
        #expect(request.timeoutMilliseconds <= 10_000 && request.maxReplyBytes <= 64 << 10)
        #expect("\(request)".contains("PRIVATE KEY") == false)
    }

    @Test(arguments: [417, 500, 503])
    func `what passes is asked once more`(_ status: Int) async throws {
        let fixture = ApplePayFixture()
        fixture.answer(Self.status(status))
        let provider = try fixture.provider()
        #expect(try await provider.merchantSession() == ApplePayFixture.session)
        fixture.answer(Self.status(status), Self.status(status))
        await #expect(throws: ProviderError.unavailable) { try await provider.merchantSession() }
        #expect(fixture.requests.count == 4)
    }

    @Test(arguments: [204, 301, 302, 307, 400, 401, 403, 404, 429])
    func `any other status is no session, and no redirect is followed`(_ status: Int) async throws {
        let fixture = ApplePayFixture()
        fixture.answer { _ in
            IncomingReply(
                status: status, headers: [(name: "location", value: "https://evil.example/")],
                body: ApplePayFixture.session
            )
        }
        let provider = try fixture.provider()
        await #expect(throws: ProviderError.unavailable) { try await provider.merchantSession() }
        #expect(fixture.requests.count == 1)
        let logged = fixture.logged.joined()
        #expect(logged.contains("status(\(status))") && !logged.contains("nonce") && !logged.contains("evil"))
    }

    @Test(arguments: ["", "null", "[]", "\"text\"", "{", "<html>", "{}x"])
    func `what is no JSON object is no session`(_ body: String) async throws {
        let fixture = ApplePayFixture()
        fixture.answer { _ in IncomingReply(status: 200, body: Data(body.utf8)) }
        let provider = try fixture.provider()
        await #expect(throws: ProviderError.unavailable) { try await provider.merchantSession() }
    }

    @Test(arguments: [HTTPTransportError.notSent, .outcomeUnknown])
    func `no connection and no answer are told apart in the log`(_ error: HTTPTransportError) async throws {
        let fixture = ApplePayFixture()
        fixture.fail(error)
        let provider = try fixture.provider()
        await #expect(throws: ProviderError.unavailable) { try await provider.merchantSession() }
        let cause = error == .notSent ? "notSent" : "noAnswer"
        #expect(fixture.logged == ["warning apple pay: no merchant session cause=\(cause)"])
    }

    @Test func `without an identity there is no session`() async throws {
        let fixture = ApplePayFixture()
        let provider = try fixture.provider { $0["identity"] = nil }
        await #expect(throws: ProviderError.rejected(reason: "no_merchant_identity")) {
            try await provider.merchantSession()
        }
        #expect(fixture.requests.isEmpty)
    }

    @Test(
        arguments: [
            "https://apple-pay-gateway.apple.com/paymentservices/startSession", "https://apple-pay-gateway.apple.com",
            "https://apple-pay-gateway.apple.com:443/x", "https://cn-apple-pay-gateway.apple.com/paymentservices/x",
            "https://apple-pay-gateway-cert.apple.com/", "https://cn-apple-pay-gateway-cert.apple.com/",
            "https://apple-pay-gateway-nc-pod5.apple.com/paymentservices/startSession",
            "https://cn-apple-pay-gateway-tj-pod3-dr.apple.com/",
        ])
    func `Apple's addresses are known`(_ address: String) throws {
        #expect(try ApplePayFixture().provider().isKnown(validationURL: address))
    }

    @Test(
        arguments: [
            "https://apple-pay-gateway-apple.com/x", "https://apple-pay-gateway.apple.com.evil.test/x",
            "http://apple-pay-gateway.apple.com/x", "https://apple-pay-gateway.apple.com@evil.test/",
            "https://user@apple-pay-gateway.apple.com/", "https://apple-pay-gateway.apple.com:8443/",
            "https://apple-pay-gateway.apple.com./", "https://apple-pay-gateway-evil.example.zapple.com/",
            "https://169.254.169.254/", "file:///etc/passwd", "//apple-pay-gateway.apple.com/", "",
            "https://evil.test/apple-pay-gateway.apple.com", "https://evil.test#apple-pay-gateway.apple.com",
            "https://apple-pay-gateway-nc-pod6.apple.com/", "https://apple-pay-gateway.аpple.com/",
            "https://apple-pay-gateway.apple.com\\@evil.test/", " https://apple-pay-gateway.apple.com/",
            "https://apple-pay-gateway.apple.com%2eevil.test/", "https://apple.com/",
        ])
    func `nobody else's address is`(_ address: String) throws {
        #expect(try !ApplePayFixture().provider().isKnown(validationURL: address))
    }
}
