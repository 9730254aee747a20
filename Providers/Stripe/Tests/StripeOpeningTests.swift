import Domain
import Foundation
import ProviderKit
import ProviderTesting
import StripeProvider
import Synchronization
import Testing

struct StripeOpeningTests {
    private let fixture = StripeFixture()

    private func body(_ index: Int = 0) throws -> [String: String] {
        FakeStripeServerCall(try #require(fixture.transport.requests.dropFirst(index).first)).values
    }

    @Test func `a PaymentIntent has the amount, our ids and nothing personal`() async throws {
        let attempt = fixture.attempt()
        let opened = try await fixture.provider().open(attempt)
        let intent = try #require(fixture.standIn.state.withLock { $0.intents.first })
        #expect(
            opened.instruction == .stripe(publishableKey: StripeFixture.publishable, clientSecret: intent.secret))
        #expect(opened.reference == intent.id && opened.outcome == .accepted)
        #expect(
            try body() == [
                "amount": "3990", "currency": "usd", "automatic_payment_methods[enabled]": "true",
                "metadata[payment_id]": attempt.payment.rawValue, "metadata[order_id]": attempt.order.rawValue,
            ])
    }

    @Test func `a call names version, key and idempotency key`() async throws {
        let attempt = fixture.attempt()
        _ = try await fixture.provider().open(attempt)
        let request = try #require(fixture.transport.requests.first)
        let headers = Dictionary(uniqueKeysWithValues: request.headers.map { ($0.name, $0.value) })
        #expect(
            headers == [
                "Authorization": "Bearer \(FakeStripeServer.key)", "Stripe-Version": "2026-10-28.endive",
                "Accept": "application/json", "User-Agent": "paydesk",
                "Content-Type": "application/x-www-form-urlencoded",
                "Idempotency-Key": "\(attempt.payment.rawValue)-open",
            ])
        #expect(request.url == "https://api.stripe.com/v1/payment_intents" && request.method == "POST")
    }

    @Test func `payment method types are sent in their order`() async throws {
        let types = SettingValue.list([.text("card"), .text("alipay")])
        _ = try await fixture.provider(["payment_method_types": types]).open(fixture.attempt())
        let sent = try body()
        #expect(sent["payment_method_types[0]"] == "card" && sent["payment_method_types[1]"] == "alipay")
        #expect(!sent.keys.contains { $0.hasPrefix("automatic") })
    }

    @Test func `a session has a line, the way back and our ids twice`() async throws {
        let attempt = fixture.attempt(title: "VIP & é")
        let opened = try await fixture.provider(StripeFixture.sessions).open(attempt)
        let session = try #require(fixture.standIn.state.withLock { $0.sessions.first })
        #expect(opened.instruction == .url(checkoutURL: "https://checkout.stripe.example/c/pay/\(session.id)#frag"))
        #expect(opened.reference == session.id && opened.outcome == .accepted)
        let (payment, order) = (attempt.payment.rawValue, attempt.order.rawValue)
        #expect(
            try body() == [
                "mode": "payment", "client_reference_id": payment,
                "expires_at": "\(fixture.clock.now.rawValue + 2_400)",
                "success_url": "https://app.example/done?a=1&b=é", "cancel_url": "https://app.example/done?a=1&b=é",
                "line_items[0][price_data][currency]": "usd", "line_items[0][price_data][unit_amount]": "3990",
                "line_items[0][price_data][product_data][name]": "VIP & é", "line_items[0][quantity]": "1",
                "metadata[payment_id]": payment, "metadata[order_id]": order,
                "payment_intent_data[metadata][payment_id]": payment,
                "payment_intent_data[metadata][order_id]": order, "payment_intent_data[metadata][contract]": "url",
            ])
    }

    @Test func `a session without a title or a way back has others`() async throws {
        let attempt = fixture.attempt(title: "", returnURL: nil)
        _ = try await fixture.provider(StripeFixture.sessions).open(attempt)
        #expect(try body()["line_items[0][price_data][product_data][name]"] == attempt.order.rawValue)
        #expect(try body()["success_url"] == "https://pay.example")
    }

    @Test(arguments: [(-10, 2_400), (60, 2_400), (3_600, 3_600), (86_400, 86_100), (.max, 86_100)] as [(Int64, Int64)])
    func `a session ends when Stripe allows it`(expires: Int64, end: Int64) async throws {
        _ = try await fixture.provider(StripeFixture.sessions).open(fixture.attempt(expires: expires))
        #expect(try body()["expires_at"] == "\(fixture.clock.now.rawValue + end)")
    }

    @Test(arguments: [299, 300, 1_000, 82_000] as [Int64])
    func `a session that is opened late lives long enough`(later: Int64) async throws {
        let attempt = fixture.attempt()
        fixture.clock.advance(seconds: later)
        let provider = try fixture.provider(StripeFixture.sessions)
        let opened = try await provider.open(attempt)
        fixture.clock.advance(seconds: 301)
        // The parameters are others now, and the session is still the same.
        #expect(try await provider.open(attempt).reference == opened.reference)
        #expect(fixture.standIn.state.withLock { $0.sessions.count } == 1)
    }

    @Test(arguments: [[:], StripeFixture.sessions])
    func `a repetition minutes later sends the same bytes`(settings: [String: SettingValue]) async throws {
        let attempt = fixture.attempt()
        let first = try await fixture.provider(settings).open(attempt)
        fixture.clock.advance(seconds: 240)
        let second = try await fixture.provider(settings).open(attempt)
        let posts = fixture.transport.requests.filter { $0.method == "POST" }
        #expect(posts.count == 2 && posts[0].body == posts[1].body)
        #expect(first.instruction == second.instruction && first.reference == second.reference)
    }

    @Test func `a replayed answer is not believed but read anew`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        _ = try await provider.open(attempt)
        _ = fixture.standIn.act(succeed: true, on: attempt.payment.rawValue)
        #expect(try await provider.open(attempt).outcome == .succeeded(usd(3990)))
        #expect(fixture.calls.last?.hasPrefix("GET payment_intents/pi_") == true)
    }

    @Test(arguments: [[:], StripeFixture.sessions])
    func `after a day it asks before it opens`(settings: [String: SettingValue]) async throws {
        let provider = try fixture.provider(settings)
        let attempt = fixture.attempt(expires: 200_000)
        let first = try await provider.open(attempt)
        fixture.standIn.state.withLock { $0.keys = [:] }
        fixture.clock.advance(seconds: 23 * 3_600 + 1)
        let again = try await provider.open(attempt)
        #expect(again.reference == first.reference && again.instruction == first.instruction)
        #expect(fixture.calls.count { $0.hasPrefix("POST") } == 1)
    }

    @Test func `a changed setting between two calls opens nothing twice`() async throws {
        let attempt = fixture.attempt()
        let first = try await fixture.provider().open(attempt)
        let types = SettingValue.list([.text("card")])
        let again = try await fixture.provider(["payment_method_types": types]).open(attempt)
        guard case .stripe(let key, let secret, nil) = first.instruction else {
            throw RehearsalGap("no stripe contract")
        }
        #expect(again.instruction == .stripe(publishableKey: key, clientSecret: secret, method: "card"))
        #expect(fixture.standIn.state.withLock { $0.intents.count } == 1)
    }

    @Test func `one payment id cannot have two amounts`() async throws {
        let provider = try fixture.provider()
        let first = fixture.attempt()
        _ = try await provider.open(first)
        let second = PaymentAttempt(
            payment: first.payment, order: first.order, amount: usd(100), title: "", platform: .web, returnURL: nil,
            expiresAt: first.expiresAt, accepts: [.stripe])
        await #expect(throws: ProviderError.unproven(.badMoney)) { try await provider.open(second) }
    }

    @Test(arguments: [0, 30, 950, 90_000] as [Int64])
    func `a payment whose opening was not answered is found among its neighbours`(later: Int64) async throws {
        for settings in [[:], StripeFixture.sessions] {
            let fixture = StripeFixture()
            let provider = try fixture.provider(settings)
            let attempt = fixture.attempt(expires: 200_000)
            for _ in 0..<130 { _ = try await provider.open(fixture.attempt()) }
            let opened = try await provider.open(attempt)
            for _ in 0..<130 { _ = try await provider.open(fixture.attempt()) }
            fixture.clock.advance(seconds: later)
            let report = try await provider.query(fixture.reference(attempt))
            #expect(report.reference == opened.reference && report.outcome == .accepted)
        }
    }

    @Test(arguments: [[:], StripeFixture.sessions])
    func `a payment that was opened long after its making is found`(settings: [String: SettingValue]) async throws {
        let provider = try fixture.provider(settings)
        let attempt = fixture.attempt(expires: 200_000)
        fixture.clock.advance(seconds: 40_000)
        let opened = try await provider.open(attempt)
        fixture.clock.advance(seconds: 40_000)
        #expect(try await provider.query(fixture.reference(attempt)).reference == opened.reference)
    }

    @Test func `where too much happened at once its search is asked`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        let opened = try await provider.open(attempt)
        fixture.standIn.state.withLock { state in
            let one = state.intents[0]
            for number in 0..<1_100 {
                state.intents.append(
                    FakeStripeServer.Intent(
                        id: "pi_neighbour\(number)", amount: 1, currency: "usd", metadata: [:], created: one.created))
            }
        }
        // Not yet in the search, and that proves nothing.
        await #expect(throws: ProviderError.unavailable) { try await provider.query(fixture.reference(attempt)) }
        fixture.standIn.state.withLock { $0.isSearchable = true }
        #expect(try await provider.query(fixture.reference(attempt)).reference == opened.reference)
        fixture.clock.advance(seconds: 181)
        fixture.standIn.state.withLock { $0.isSearchable = false }
        #expect(
            try await provider.query(fixture.reference(attempt)).outcome == .pending(status: "not_found"))
    }
}
