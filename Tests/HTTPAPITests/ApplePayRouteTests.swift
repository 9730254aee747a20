import Domain
import Foundation
import Gateway
import Hummingbird
import HummingbirdTesting
import Logging
import ProviderKit
import Store
import TestSupport
import Testing

@testable import HTTPAPI

/// Runs a test with the HTTP API of a gateway that accepts Apple Pay.
private func withWalletCounter(
    on engine: TestEngine, _ setup: ApplePayGatewayFixtureSetup = ApplePayGatewayFixtureSetup(),
    sessionsPerMinute: Int64 = 0, _ body: @Sendable (Counter, ApplePayGatewayFixture) async throws -> Void
) async throws {
    try await withWalletDesk(on: engine, setup) { wallet in
        var limits = CounterSetup().limits
        limits.sessionsPerMinute = sessionsPerMinute
        let api = API(
            gateway: wallet.gateway,
            settings: APISettings(
                corsOrigins: [], limits: limits,
                tokens: UserTokenRules(keys: .secret(Array(Counter.userSecret.utf8)), issuer: "", audience: ""),
                version: "0.0.0-test", metricsText: { "" }),
            logger: setup.desk.logger)
        let app = Application(router: api.router(), logger: Logger(label: "http") { _ in SwiftLogNoOpLogHandler() })
        try await app.test(.router) { client in
            try await body(try Counter(desk: wallet.desk, api: api, client: client, adminKey: ""), wallet)
        }
    }
}

/// A transport to Apple's gateway that always issues the same session.
private struct SessionGateway: HTTPTransport {
    static let session = #"{ "signature":"30" , "nonce":"AB"}"#

    func send(_ request: OutgoingRequest) async throws(HTTPTransportError) -> IncomingReply {
        IncomingReply(status: 200, body: Data(Self.session.utf8))
    }
}

@Suite("Apple Pay over HTTP")
struct ApplePayRouteTests {
    private static let payments = "/v1/public/apple-pay/payments"
    private static let sessions = "/v1/public/apple-pay/session"
    private static let association = "/.well-known/apple-developer-merchantid-domain-association"

    private func body(_ contract: PaymentContract, _ token: Data) -> String {
        #"{"order_id":"\#(contract.order)","token":\#(String(decoding: token, as: UTF8.self))}"#
    }

    @Test(arguments: TestEngine.allCases)
    func `a token pays and its answer has the order`(_ engine: TestEngine) async throws {
        try await withWalletCounter(on: engine) { counter, wallet in
            let user = try await counter.token()
            let asked = try await counter.checkout(user, #","accept":["apple_pay"]"#)
            #expect(asked.text("type") == "apple_pay" && asked["apple_pay"]["total"].text("amount") == "39.90")
            #expect(
                asked["apple_pay"].names == [
                    "merchant_identifier", "country_code", "currency_code", "supported_networks",
                    "merchant_capabilities", "total", "application_data",
                ])
            let contract = try await wallet.checkout()
            let sent = body(contract, try wallet.token(contract))
            let reply = try await counter.post(Self.payments, user, sent)
            #expect(reply.status == 200, "\(reply)")
            #expect(try reply.data.text("status") == "paid" && reply.data["order"].text("status") == "paid")
            let charge = try #require(wallet.line.charges.last)
            guard case .applePayEncrypted(let token) = charge.instrument else {
                Issue.record("the processor got \(charge.instrument.form)")
                return
            }
            // The client's token is sent byte for byte inside the body.
            #expect(sent.contains(#""paymentData":"# + String(decoding: token.paymentData, as: UTF8.self)))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `refusals have their ids and reasons and change nothing`(_ engine: TestEngine) async throws {
        try await withWalletCounter(on: engine) { counter, wallet in
            let user = try await counter.token()
            let contract = try await wallet.checkout()
            let before = try await counter.traces()
            func refused(
                _ token: String, _ status: Int, _ id: String, field: String? = nil, reason: String? = nil
            ) async throws {
                let reply = try await counter.post(
                    Self.payments, user, #"{"order_id":"\#(contract.order)","token":\#(token)}"#)
                #expect(reply.status == status && reply.error == id, "\(reply)")
                if let field { #expect(reply.field == field) }
                if let reason { #expect(try reply.json["details"].text("reason") == reason) }
            }
            func text(_ token: Data) -> String { String(decoding: token, as: UTF8.self) }
            try await refused(#""text""#, 400, "invalid_request", field: "token")
            try await refused("null", 400, "invalid_request", field: "token")
            try await refused(#"{},"token":{}"#, 400, "invalid_request", field: "token")
            try await refused("{}", 400, "apple_pay_token_invalid")
            try await refused(
                #"{"paymentData":{},"paymentMethod":{},"transactionIdentifier":"Simulated Identifier"}"#, 400,
                "apple_pay_token_invalid", reason: "simulator_token")
            try await refused(
                text(try wallet.token(contract, variant: .signatureTampered)), 400, "apple_pay_token_invalid",
                reason: "bad_signature")
            try await refused(text(try wallet.token(contract, amount: 1)), 409, "amount_mismatch")
            let large = #"{"paymentData":"\#(String(repeating: "A", count: 40_000))"}"#
            try await refused(large, 400, "apple_pay_token_invalid", reason: "malformed")
            try await refused(
                #"{"paymentData":"\#(String(repeating: "MIAw", count: 262_144))"}"#, 413, "payload_too_large")
            let other = try await counter.post(
                Self.payments, try await counter.token("bob"), body(contract, try wallet.token(contract)))
            #expect(other.status == 404 && other.error == "order_not_found")
            #expect(try await counter.traces() == before && wallet.line.count(.charge) == 0)
        }
    }

    @Test func `a session is Apple's object, unchanged and not to be kept`() async throws {
        try await withWalletCounter(on: .sqlite, ApplePayGatewayFixtureSetup { $0.gateway = SessionGateway() }) {
            counter, wallet in
            let user = try await counter.token()
            let contract = try await wallet.checkout()
            let ask = #"{"order_id":"\#(contract.order)"}"#
            let reply = try await counter.post(Self.sessions, user, ask, headers: ["Idempotency-Key": "k"])
            #expect(reply.status == 200 && reply.text.contains(#"{"merchant_session":\#(SessionGateway.session)}"#))
            #expect(reply.header("cache-control") == "no-store")
            let again = try await counter.post(Self.sessions, user, ask, headers: ["Idempotency-Key": "k"])
            #expect(again.status == 200 && again.header("Idempotency-Replayed") == nil)
            #expect(try await wallet.desk.places(of: "\"nonce\"").isEmpty)
            let foreign = try await counter.post(
                Self.sessions, user,
                #"{"order_id":"\#(contract.order)","validation_url":"https://apple-pay-gateway-apple.com/x"}"#)
            #expect(foreign.status == 400 && foreign.field == "validation_url")
            let stranger = try await counter.post(Self.sessions, try await counter.token("bob"), ask)
            #expect(stranger.error == "order_not_found")
            let qr = try await wallet.desk.checkout(provider: "box-qr")
            #expect(try await counter.post(Self.sessions, user, #"{"order_id":"\#(qr.order)"}"#).error == "conflict")
            try await wallet.pay(contract, try wallet.token(contract))
            #expect(try await counter.post(Self.sessions, user, ask).error == "order_not_open")
        }
    }

    @Test func `sessions are limited for each user`() async throws {
        let setup = ApplePayGatewayFixtureSetup { $0.gateway = SessionGateway() }
        try await withWalletCounter(on: .sqlite, setup, sessionsPerMinute: 20) { counter, wallet in
            let user = try await counter.token()
            let contract = try await wallet.checkout()
            let ask = #"{"order_id":"\#(contract.order)"}"#
            var statuses: [Int] = []
            for _ in 0..<25 { statuses.append(try await counter.post(Self.sessions, user, ask).status) }
            #expect(statuses.count { $0 == 200 } == 20 && statuses.suffix(5).allSatisfy { $0 == 429 })
            let other = try await counter.post(Self.sessions, try await counter.token("bob"), ask)
            #expect(other.status == 404)
            wallet.desk.clock.advance(seconds: 4)
            #expect(try await counter.post(Self.sessions, user, ask).status == 200)
        }
    }

    @Test func `the domain's file is served to everybody as it is`() async throws {
        try await withWalletCounter(on: .sqlite) { counter, _ in
            for host in ["shop.example.com", "shop.example.com:443", "other.example"] {
                let reply = try await counter.get(Self.association, headers: ["Host": host])
                #expect(reply.status == 200 && reply.text == "the association of the tests")
                #expect(reply.header("content-type") == "text/plain")
            }
        }
        try await withCounter { (counter) async throws in
            #expect(try await counter.get(Self.association).error == "not_found")
        }
    }

    @Test(arguments: TestEngine.allCases, InstrumentForm.allCases)
    func `card data is left nowhere`(_ engine: TestEngine, _ form: InstrumentForm) async throws {
        let capture = LogCapture()
        let setup = ApplePayGatewayFixtureSetup {
            $0.form = form
            $0.desk.logger = capture.logger()
        }
        try await withWalletCounter(on: engine, setup) { counter, wallet in
            let user = try await counter.token()
            var texts: [String] = []
            for (variant, amount) in [(nil, 3_990), (nil, 1), (.unknownKeyHash, 3_990), (.dataTampered, 3_990)]
                as [(ApplePayVariant?, Int64)]
            {
                let contract = try await wallet.checkout()
                let sent = body(contract, try wallet.token(contract, amount: amount, variant: variant))
                texts.append(
                    try await counter.post(Self.payments, user, sent, headers: ["Idempotency-Key": "k\(texts.count)"])
                        .text)
            }
            let charge = try #require(wallet.line.charges.last)
            var dumped = ""
            dump(charge, to: &dumped)
            texts += [capture.text, dumped, "\(charge)", String(reflecting: charge)]
            #expect(capture.text.contains("an Apple Pay token was refused"))
            let cryptogram = Data(ApplePayTestTokens.cryptogram)
            let hex = Hex.encoded(ApplePayTestTokens.cryptogram)
            for planted in [ApplePayTestTokens.accountNumber, cryptogram.base64EncodedString(), hex] {
                for text in texts { #expect(!text.contains(planted)) }
                #expect(try await wallet.desk.places(of: planted).isEmpty)
            }
        }
    }
}
