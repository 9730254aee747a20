import Domain
import Foundation
import ProviderKit
import ProviderTesting
import StripeProvider
import Synchronization
import Testing

/// Tests of answers that Stripe never gives: none of them may cause a payment, a closed payment or a crash.
struct StripeHostileTests {
    private static func intent(_ more: [String: Any], payment: String) -> IncomingReply {
        let honest: [String: Any] = [
            "id": "pi_1", "status": "requires_payment_method", "amount": 3990, "currency": "usd",
            "client_secret": "pi_1_secret", "livemode": false, "metadata": ["payment_id": payment],
        ]
        return .json(honest.merging(more) { $1 })
    }

    @Test(arguments: [
        "another payment", "no metadata", "live", "another amount", "another currency", "no secret", "empty secret",
        "huge secret", "number as id", "no status",
    ])
    func `an opening's answer that is not this payment's leaves it unknown`(lie: String) async throws {
        let payment = Mutex("")
        let fixture = StripeFixture { _ in
            let lies: [String: [String: Any]] = [
                "another payment": ["metadata": ["payment_id": "pay_01jhgx0000000000000000000a"]],
                "no metadata": ["metadata": NSNull()], "live": ["livemode": true], "another amount": ["amount": 1],
                "another currency": ["currency": "eur"], "no secret": ["client_secret": NSNull()],
                "empty secret": ["client_secret": ""],
                "huge secret": ["client_secret": String(repeating: "x", count: 1 << 16)],
                "number as id": ["id": 1], "no status": ["status": NSNull()],
            ]
            return Self.intent(lies[lie] ?? [:], payment: payment.withLock { $0 })
        }
        let attempt = fixture.attempt()
        payment.withLock { $0 = attempt.payment.rawValue }
        let error = await #expect(throws: ProviderError.self) { try await fixture.provider().open(attempt) }
        #expect(error == .outcomeUnknown || error?.isUnproven == true)
    }

    @Test(arguments: [
        "http://checkout.example/x", "javascript:alert(1)", "//checkout.example", "https://a@checkout.example", "",
        "https://checkout.example/\" onload=x",
    ])
    func `a page's address is a plain https address`(address: String) async throws {
        let payment = Mutex("")
        let fixture = StripeFixture { _ in
            .json([
                "id": "cs_1", "status": "open", "payment_status": "unpaid", "amount_total": 3990, "currency": "usd",
                "url": address, "livemode": false, "metadata": ["payment_id": payment.withLock { $0 }],
            ])
        }
        let attempt = fixture.attempt()
        payment.withLock { $0 = attempt.payment.rawValue }
        await #expect(throws: ProviderError.outcomeUnknown) {
            try await fixture.provider(StripeFixture.sessions).open(attempt)
        }
    }

    @Test func `another account's object answers no question`() async throws {
        let fixture = StripeFixture()
        let provider = try fixture.provider()
        let (mine, theirs) = (fixture.attempt(), fixture.attempt())
        _ = try await provider.open(mine)
        let other = try await provider.open(theirs)
        let crossed = fixture.reference(mine, other.reference)
        await #expect(throws: ProviderError.unproven(.otherPayment)) { try await provider.query(crossed) }
        await #expect(throws: ProviderError.unproven(.otherPayment)) { try await provider.cancel(crossed) }
        #expect(fixture.standIn.state.withLock { $0.intents.allSatisfy { $0.status != "canceled" } })
    }

    @Test(arguments: ["", "..", "pi_1/cancel", "pi_1?expand[]=x", "ch_1", "pi_é", "re_1"])
    func `a reference that is none of ours is not asked for`(reference: String) async throws {
        let fixture = StripeFixture()
        let provider = try fixture.provider()
        let payment = fixture.reference(fixture.attempt(), reference)
        await #expect(throws: ProviderError.unproven(.otherPayment)) { try await provider.query(payment) }
        let refund = fixture.refund(payment, usd(1), reference: "re_1/../../x")
        await #expect(throws: ProviderError.unproven(.otherPayment)) { try await provider.query(refund: refund) }
        #expect(fixture.calls.isEmpty)
    }

    @Test func `an answer with another id than was asked for is refused`() async throws {
        let fixture = StripeFixture()
        let attempt = fixture.attempt()
        let liar = StripeFixture { _ in
            Self.intent(["id": "pi_2", "status": "succeeded"], payment: attempt.payment.rawValue)
        }
        await #expect(throws: ProviderError.unproven(.otherPayment)) {
            try await liar.provider().query(fixture.reference(attempt, "pi_1"))
        }
        await #expect(throws: ProviderError.unproven(.otherPayment)) {
            try await liar.provider().query(
                refund: fixture.refund(fixture.reference(attempt, "pi_1"), usd(1), reference: "re_1"))
        }
    }

    @Test func `lists that never end do end`() async throws {
        let fixture = StripeFixture { request in
            let neighbour: [String: Any] = ["id": "pi_\(UUID().uuidString.replacing("-", with: ""))", "status": "x"]
            return .json(["data": [neighbour], "has_more": true])
        }
        await #expect(throws: ProviderError.unavailable) {
            try await fixture.provider().query(fixture.reference(fixture.attempt()))
        }
        #expect(fixture.calls.count <= 22)
        let asked = fixture.calls.count
        let reference = fixture.reference(fixture.attempt(), "pi_1")
        await #expect(throws: ProviderError.unavailable) {
            try await fixture.provider().query(refund: fixture.refund(reference, usd(1)))
        }
        #expect(fixture.calls.count - asked == 10)
    }

    @Test(arguments: [
        String(repeating: "[", count: 200_000), String(repeating: #"{"a":"#, count: 50_000), "\u{0}", "nul", "1e999",
        #"{"id":"pi_1","status":"succeeded","amount_received":99999999999999999999}"#,
        #"{"id":"pi_1","status":"succeeded","amount_received":-1,"currency":"usd"}"#, "\u{FEFF}{}",
    ])
    func `garbage is never a result`(text: String) async throws {
        let fixture = StripeFixture { _ in IncomingReply(status: 200, body: Data(text.utf8)) }
        let provider = try fixture.provider()
        let reference = fixture.reference(fixture.attempt(), "pi_1")
        await #expect(throws: ProviderError.self) { try await provider.query(reference) }
        await #expect(throws: ProviderError.self) { try await provider.cancel(reference) }
        // The answer does not prove that the call had no effect.
        let refused = await #expect(throws: ProviderError.self) {
            try await provider.refund(fixture.refund(reference, usd(1)))
        }
        let unopened = await #expect(throws: ProviderError.self) { try await provider.open(fixture.attempt()) }
        for error in [refused, unopened] { #expect(error == .outcomeUnknown || error?.isUnproven == true) }
    }

    @Test func `calls are bounded in time and size`() async throws {
        let fixture = StripeFixture()
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        _ = try await provider.open(attempt)
        _ = try await provider.query(fixture.reference(attempt))
        #expect(
            fixture.transport.requests.allSatisfy { $0.timeoutMilliseconds <= 15_000 && $0.maxReplyBytes <= 8 << 20 })
    }
}
