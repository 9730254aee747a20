import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import Testing

@testable import StripeProvider

struct StripeErrorTests {
    /// An answer to a call, and its meaning for a call that changes something and for a query.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let reply: Result<IncomingReply, HTTPTransportError>
        let change: ProviderError
        let question: ProviderError
        var testDescription: String { name }

        init(_ name: String, _ reply: IncomingReply, _ change: ProviderError, _ question: ProviderError? = nil) {
            self.name = name
            self.reply = .success(reply)
            self.change = change
            self.question = question ?? change
        }

        init(_ name: String, _ error: HTTPTransportError, _ change: ProviderError) {
            self.name = name
            reply = .failure(error)
            self.change = change
            question = .unavailable
        }
    }

    private static let invalid = "invalid_request_error"
    private static let html = IncomingReply(status: 502, body: Data("<html>bad gateway</html>".utf8))

    static let rows: [Row] = [
        Row("never sent", .notSent, .unavailable), Row("a time limit", .outcomeUnknown, .outcomeUnknown),
        Row("400", .stripe(400, invalid, "amount_too_small"), .rejected(reason: "amount_too_small")),
        Row("400 without a code", .stripe(400, invalid), .rejected(reason: invalid)),
        Row("400 with a strange code", .stripe(400, invalid, "a b<c>"), .rejected(reason: invalid)),
        Row("400 rate limit", .stripe(400, invalid, "rate_limit"), .unavailable),
        Row("400 of a proxy", IncomingReply(status: 400, body: Data("no".utf8)), .outcomeUnknown, .unavailable),
        Row("401", .stripe(401, invalid), .unavailable), Row("403", .stripe(403, invalid), .unavailable),
        Row("402", .stripe(402, "card_error", "card_declined"), .rejected(reason: "card_declined")),
        Row("404", .missing, .rejected(reason: "resource_missing")),
        Row("404 of a proxy", IncomingReply(status: 404, body: Data("<html>".utf8)), .outcomeUnknown, .unavailable),
        Row("408", .stripe(408, "api_error"), .outcomeUnknown, .unavailable),
        Row(
            "409 key in use", .stripe(409, "idempotency_error", "idempotency_key_in_use"), .outcomeUnknown, .unavailable
        ),
        Row("409", .stripe(409, invalid, "conflict"), .outcomeUnknown, .unavailable),
        Row("425", .stripe(425, "api_error"), .outcomeUnknown, .unavailable),
        Row("429", .stripe(429, "rate_limit_error"), .unavailable),
        Row("429 lock", .stripe(429, invalid, "lock_timeout"), .unavailable),
        Row("500", .stripe(500, "api_error"), .outcomeUnknown, .unavailable),
        Row("502", html, .outcomeUnknown, .unavailable),
        Row("503", .stripe(503, "api_error"), .outcomeUnknown, .unavailable),
        Row("599", IncomingReply(status: 599), .outcomeUnknown, .unavailable),
        Row("302", IncomingReply(status: 302), .outcomeUnknown, .unavailable),
        Row("200 and nothing", IncomingReply(status: 200), .outcomeUnknown, .unavailable),
        Row("200 and garbage", IncomingReply(status: 200, body: Data("{".utf8)), .outcomeUnknown, .unavailable),
        Row("200 and a list", IncomingReply(status: 200, body: Data("[]".utf8)), .outcomeUnknown, .unavailable),
    ]

    private func fixture(_ row: Row) -> StripeFixture {
        StripeFixture { _ throws(HTTPTransportError) in try row.reply.get() }
    }

    @Test(arguments: rows)
    func `an opening's answer has one meaning`(row: Row) async throws {
        for settings in [[:], StripeFixture.sessions] {
            let fixture = fixture(row)
            await #expect(throws: row.change) { try await fixture.provider(settings).open(fixture.attempt()) }
        }
    }

    @Test(arguments: rows)
    func `a question's answer has one meaning`(row: Row) async throws {
        let fixture = fixture(row)
        let provider = try fixture.provider()
        let reference = fixture.reference(fixture.attempt(), "pi_1")
        await #expect(throws: row.question) { try await provider.query(reference) }
        await #expect(throws: row.question) {
            try await provider.query(refund: fixture.refund(reference, usd(1), reference: "re_1"))
        }
    }

    @Test(arguments: rows)
    func `a refund's answer has one meaning`(row: Row) async throws {
        let fixture = fixture(row)
        let reference = fixture.reference(fixture.attempt(), "pi_1")
        await #expect(throws: row.change) { try await fixture.provider().refund(fixture.refund(reference, usd(1))) }
    }

    @Test func `a refund's key that was used otherwise leaves its outcome unknown`() async throws {
        let fixture = StripeFixture { _ in .stripe(400, "idempotency_error") }
        let reference = fixture.reference(fixture.attempt(), "pi_1")
        await #expect(throws: ProviderError.outcomeUnknown) {
            try await fixture.provider().refund(fixture.refund(reference, usd(1)))
        }
    }

    /// A status, Stripe's advice, the pause by other advice, and the number of calls.
    @Test(
        arguments: [
            (500, nil, nil, 3), (503, nil, nil, 3), (409, nil, nil, 3), (500, "false", nil, 1), (409, "false", nil, 1),
            (429, nil, nil, 1), (429, "true", nil, 3), (400, nil, nil, 1), (400, "true", nil, 3), (402, nil, nil, 1),
            (429, "true", "2", 3), (429, "true", "6", 1), (429, "true", "-1", 1), (500, "maybe", nil, 3),
            (500, nil, "Fri, 31 Dec 1999 23:59:59 GMT", 3), (302, nil, nil, 1),
        ] as [(Int, String?, String?, Int)])
    func `a call is repeated where Stripe wants it`(
        status: Int, advice: String?, after: String?, calls: Int
    ) async throws {
        let headers = [("Stripe-Should-Retry", advice), ("Retry-After", after)].compactMap { name, value in
            value.map { (name: name, value: $0) }
        }
        let fixture = StripeFixture { _ in .stripe(status, "api_error", headers: headers) }
        _ = try? await fixture.provider().open(fixture.attempt())
        #expect(fixture.transport.requests.count == calls)
        let keys = fixture.transport.requests.map { FakeStripeServerCall($0).header("idempotency-key") }
        #expect(Set(keys).count == 1 && keys[0]?.hasSuffix("-open") == true)
        let pauses = fixture.pauses.withLock { $0 }
        #expect(pauses.count == calls - 1)
        #expect(pauses.allSatisfy { $0 >= .milliseconds(after == "2" ? 2_000 : 500) && $0 <= .seconds(5) })
    }

    @Test func `a call that succeeds at last is a success`() async throws {
        let fixture = StripeFixture()
        fixture.standIn.script(.stripe(500, "api_error"), .stripe(409, "idempotency_error", "idempotency_key_in_use"))
        let opened = try await fixture.provider().open(fixture.attempt())
        #expect(opened.outcome == .accepted && fixture.calls.count == 3)
    }

    @Test func `a service that takes its time is not asked again and again`() async throws {
        let fixture = StripeFixture()
        let clock = fixture.clock
        let slow = StripeFixture { _ in
            clock.advance(seconds: 21)
            return .stripe(500, "api_error")
        }
        let context = ProviderContext(
            http: slow.transport, time: clock.time, random: slow.context.random, book: slow.context.book, notifyURL: "",
            publicURL: "https://pay.example")
        let provider = try StripeProvider(account: StripeFixture.account(), context: context, pause: { _ in })
        await #expect(throws: ProviderError.outcomeUnknown) { try await provider.open(fixture.attempt()) }
        #expect(slow.transport.requests.count == 1)
    }
}
