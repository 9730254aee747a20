import Domain
import Foundation
import ProviderKit
import ProviderTesting
import StripeProvider
import Synchronization
import Testing

struct StripeDoctorTests {
    @Test(arguments: [[:], StripeFixture.sessions])
    func `a key that Stripe takes is good`(_ settings: [String: SettingValue]) async throws {
        let fixture = StripeFixture()
        let found = await (try fixture.provider(settings)).diagnose()
        #expect(found.map(\.level) == [.good, .notice] && found.first?.words.contains("test mode") == true)
        #expect(fixture.transport.requests.map(\.method) == ["GET", "GET"])
    }

    private static let payments = [
        "payment_intent.succeeded", "payment_intent.payment_failed", "payment_intent.canceled", "charge.refunded",
        "refund.updated", "refund.failed", "charge.dispute.created",
    ]
    private static let mandates = [
        "setup_intent.succeeded", "setup_intent.setup_failed", "setup_intent.canceled", "payment_method.detached",
        "customer.deleted",
    ]

    /// The endpoint's events, whether it is enabled, the settings, and the finding with a word of it.
    @Test func `the webhook's events are compared with those that are needed`() async throws {
        let rows: [([String], String, [String: SettingValue], Diagnosis.Level, String)] = [
            (["*"], "enabled", [:], .good, "has the events"),
            (Self.payments + Self.mandates, "enabled", [:], .good, "has the events"),
            (Self.payments, "enabled", [:], .fault, "payment_method.detached, customer.deleted"),
            (
                Self.payments, "enabled", ["recurring_payment_method_types": .list([])], .good, "has the events"
            ),
            (["*"], "disabled", [:], .fault, "enable it"),
            (Self.payments + Self.mandates, "enabled", StripeFixture.sessions, .fault, "checkout.session.completed"),
        ]
        for (events, status, settings, level, says) in rows {
            let fixture = StripeFixture()
            let endpoint = FakeStripeServer.WebhookTarget(
                url: fixture.context.notifyURL, events: events, status: status)
            fixture.standIn.state.withLock { $0.endpoints = [endpoint] }
            let found = try #require(await (try fixture.provider(settings)).diagnose().last)
            #expect(found.level == level && found.words.contains(says), "\(found)")
            #expect(!found.words.contains(fixture.context.notifyURL), "the address is a secret")
        }
    }

    /// An answer, and the finding for the operator.
    static let answers: [(reply: IncomingReply?, level: Diagnosis.Level, says: String)] = [
        (nil, .fault, "cannot be reached"),
        (
            .stripe(401, "invalid_request_error", nil, "Invalid API Key provided: sk_test_planted"), .fault,
            "copy it again"
        ),
        (.stripe(403, "invalid_request_error"), .fault, "restricted key"),
        (.stripe(404, "invalid_request_error"), .fault, "check api_base"),
        (.stripe(429, "rate_limit_error"), .notice, "later"),
        (.stripe(503, "api_error"), .notice, "later"),
        (IncomingReply(status: 200, body: Data("<html>".utf8)), .notice, "check api_base"),
    ]

    @Test func `what Stripe answers is said with its remedy, and no key is`() async throws {
        for (reply, level, says) in Self.answers {
            let fixture = StripeFixture { _ throws(HTTPTransportError) in
                guard let reply else { throw .notSent }
                return reply
            }
            let found = await (try fixture.provider()).diagnose()
            #expect(found.map(\.level) == [level], "\(says): \(found)")
            #expect(found.allSatisfy { $0.words.contains(says) && !$0.words.contains("planted") }, "\(found)")
        }
    }

    @Test func `a test key is pointed out in production alone`() throws {
        #expect(try StripeFixture().provider().examine().isEmpty)
        let found = try StripeFixture().provider(isDevelopment: false).examine()
        #expect(found.map(\.level) == [.notice] && found.first?.words.contains("test cards") == true)
        let live: [String: SettingValue] = ["secret_key": .text("sk_live_1"), "publishable_key": .text("pk_live_1")]
        #expect(try StripeFixture().provider(live, isDevelopment: false).examine().isEmpty)
    }
}
