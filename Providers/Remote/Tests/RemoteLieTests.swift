import Domain
import Foundation
import ProviderKit
import ProviderTesting
import RemoteProvider
import Testing

/// Tests that no lie of a plugin is accepted, and that the effect of the call then counts as unknown.
struct RemoteLieTests {
    struct Lie: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let twist: ScriptedPlugin.Twist
        /// The reason why the message is unproven; nil where its signature is good.
        let unproven: UnprovenReason?

        init(_ name: String, unproven: UnprovenReason? = nil, _ twist: @escaping ScriptedPlugin.Twist) {
            testDescription = name
            self.unproven = unproven
            self.twist = twist
        }
    }

    private static let another = "pay_0000000000000000000000000a"

    /// The lies that no call accepts.
    static let anywhere: [Lie] = [
        Lie("another payment's id") { said in
            for object in ["payment", "refund"] where said.body[object] != nil { said[object, "payment_id"] = another }
        },
        Lie("nothing") { $0.body = [:] },
        Lie("no status") { said in
            for object in ["payment", "refund"] { said[object, "status"] = nil }
        },
        Lie("a status that is a number") { said in
            for object in ["payment", "refund"] { said[object, "status"] = 1 }
        },
        Lie("an amount in a currency that is none") { said in
            for object in ["payment", "refund"] { said[object, "amount"] = ["value": 3990, "currency": "XXX"] }
        },
        Lie("an amount with a fraction") { said in
            for object in ["payment", "refund"] { said[object, "amount"] = ["value": 39.9, "currency": "CNY"] }
        },
        Lie("a redirect") { $0.raw = IncomingReply(status: 302, headers: [(name: "location", value: "/elsewhere")]) },
        Lie("a signed redirect") { $0.status = 307 },
        Lie("201") { $0.status = 201 },
        Lie("404") { $0.status = 404 },
        Lie("a page of a proxy") { $0.raw = IncomingReply(status: 200, body: Data("<html>".utf8)) },
        Lie("no signature") { $0.isSigned = false },
        Lie("another's secret", unproven: .signature) { $0.secrets = [ScriptedPlugin.foreignSecret] },
        Lie("a signature from before the window", unproven: .time) { $0.time -= 301 },
        Lie("a signature from the future", unproven: .time) { $0.time += 301 },
        Lie("the answer to another call", unproven: .signature) { $0.id = "re_msg_another" },
        Lie("the call itself, sent back", unproven: .signature) { $0.id = String($0.id.dropFirst(3)) },
        Lie("an id with a dot") { $0.id = "re_a.b" },
        Lie("a refusal whose status says something else") {
            $0.status = 409
            $0.body = ["error": ["type": "unavailable"]]
        },
        Lie("a refusal in another's words") {
            $0.status = 503
            $0.body = ["error": "unavailable"]
        },
        Lie("an answer whose status says a refusal") { $0.status = 409 },
        Lie("an unsigned refusal") {
            $0.raw = IncomingReply(
                status: 409, body: Data(#"{"error":{"type":"rejected","reason":"no"}}"#.utf8))
        },
        Lie("504, honestly") {
            $0.status = 504
            $0.body = ["error": ["type": "outcome_unknown"]]
        },
    ]

    @Test(arguments: anywhere)
    func `no call is ended by`(lie: Lie) async throws {
        let fixture = RemoteFixture()
        let provider = try fixture.provider()
        _ = await provider.fetchManifest(keeps: false)
        for call in ["payments/open", "payments/query", "payments/cancel", "refunds/make", "refunds/query"] {
            fixture.plugin.twist(call, lie.twist)
        }
        let payment = fixture.reference()
        let refund = fixture.refund(payment)
        let changed: ProviderError = lie.unproven.map { .unproven($0) } ?? .outcomeUnknown
        let asked: ProviderError = lie.unproven.map { .unproven($0) } ?? .unavailable
        #expect(
            await ending { () async throws(ProviderError) in try await provider.open(fixture.attempt()) }.error
                == changed
        )
        #expect(await ending { () async throws(ProviderError) in try await provider.cancel(payment) }.error == changed)
        #expect(await ending { () async throws(ProviderError) in try await provider.refund(refund) }.error == changed)
        #expect(await ending { () async throws(ProviderError) in try await provider.query(payment) }.error == asked)
        #expect(
            await ending { () async throws(ProviderError) in try await provider.query(refund: refund) }.error == asked)
    }

    static let openings: [Lie] = [
        Lie("another amount") { $0["payment", "amount"] = ["value": 1, "currency": "CNY"] },
        Lie("another currency") { $0["payment", "amount"] = ["value": 3990, "currency": "USD"] },
        Lie("no amount") { $0["payment", "amount"] = nil },
        Lie("a payment that is not there") { $0["payment", "status"] = "not_found" },
        Lie("a success without an amount") { said in
            said["payment", "status"] = "succeeded"
            said["payment", "amount"] = nil
        },
        Lie("no contract") { $0.body["contract"] = nil },
        Lie("a contract of another type") { $0["contract", "type"] = "stripe" },
        Lie("a contract that the client does not take") {
            $0.body["contract"] = ["type": "qr", "text": "weixin://pay/1"]
        },
        Lie("a contract without its address") { $0["contract", "checkout_url"] = nil },
        Lie("an address that runs code") { $0["contract", "checkout_url"] = "javascript:alert(1)" },
        Lie("an address with a user") { $0["contract", "checkout_url"] = "https://plugin.example@evil.example/" },
        Lie("an address without https") { $0["contract", "checkout_url"] = "http://plugin.example/pay/1" },
        Lie("an endless address") {
            $0["contract", "checkout_url"] = "https://plugin.example/" + String(repeating: "a", count: 4_096)
        },
    ]

    @Test(arguments: openings)
    func `nobody is shown a contract after`(lie: Lie) async throws {
        let fixture = RemoteFixture()
        let provider = try fixture.provider(isDevelopment: false)
        fixture.plugin.twist("payments/open", lie.twist)
        let end = await ending { () async throws(ProviderError) in
            try await provider.open(fixture.attempt(accepts: [.url, .appleIAP]))
        }
        #expect(end.error == .outcomeUnknown)
        #expect(fixture.logged.contains { $0.contains("remote:") })
    }

    @Test(arguments: ["javascript:alert(1)", "http://plain.example/", "data:text/html,x", "a\u{0}b", "", "二维码"])
    func `a code is no text that a phone would run`(text: String) async throws {
        let fixture = RemoteFixture()
        let provider = try fixture.provider(isDevelopment: false)
        fixture.plugin.twist("payments/open") { $0.body["contract"] = ["type": "qr", "text": text] }
        let end = await ending { () async throws(ProviderError) in try await provider.open(fixture.attempt()) }
        #expect(end.error == .outcomeUnknown)
        fixture.plugin.twist("payments/open") { $0.body["contract"] = ["type": "qr", "text": "weixin://wxpay/1"] }
        #expect(try await provider.open(fixture.attempt()).instruction == .qr(text: "weixin://wxpay/1"))
    }

    @Test func `a refund that never arrived has an end, a day later`() async throws {
        let fixture = RemoteFixture()
        let provider = try fixture.provider()
        let refund = fixture.refund(fixture.reference(), cny(1_000))
        fixture.plugin.twist("refunds/query") { $0["refund", "status"] = "not_found" }
        #expect(try await provider.query(refund: refund).outcome == .pending)
        fixture.clock.advance(seconds: 86_402)
        #expect(try await provider.query(refund: refund).outcome == .failed(reason: "never_arrived"))
        // A refund that the plugin once named exists there.
        let named = RefundAttempt(
            refund: refund.refund, payment: refund.payment, amount: refund.amount, reason: "", reference: "R-1")
        #expect(try await provider.query(refund: named).outcome == .pending)
    }

    @Test func `a refund that was made at the plugin is known by its reference`() async throws {
        let fixture = RemoteFixture()
        let provider = try fixture.provider()
        let made = fixture.refund(fixture.reference(), cny(1_000))
        let refund = RefundAttempt(
            refund: made.refund, payment: made.payment, amount: made.amount, reason: "", reference: "R-1")
        fixture.plugin.twist("refunds/query") {
            $0["refund", "refund_id"] = nil
            $0["refund", "reference"] = "R-1"
        }
        #expect(try await provider.query(refund: refund).outcome == .succeeded)
        for other in [made, fixture.refund(fixture.reference(), cny(1_000))] {
            let end = await ending { () async throws(ProviderError) in try await provider.query(refund: other) }
            #expect(end.error == .unavailable)
        }
    }

    @Test func `another refund's id and another amount give no report`() async throws {
        let fixture = RemoteFixture()
        let provider = try fixture.provider()
        let refund = fixture.refund(fixture.reference(), cny(1_000))
        for call in ["refunds/make", "refunds/query"] {
            fixture.plugin.twist(call) { $0["refund", "amount"] = ["value": 3_990, "currency": "CNY"] }
        }
        #expect(
            await ending { () async throws(ProviderError) in try await provider.refund(refund) }.error
                == .outcomeUnknown)
        // Only the plugin may know the amount of a refund that is queried; the settlement compares it.
        #expect(try await provider.query(refund: refund).amount == cny(3_990))
        fixture.plugin.twist("refunds/make") { $0["refund", "refund_id"] = "ref_0000000000000000000000000a" }
        #expect(
            await ending { () async throws(ProviderError) in try await provider.refund(refund) }.error
                == .outcomeUnknown)
    }

    @Test(
        arguments: [
            ("teleported", .pending(status: "teleported")), ("SUCCEEDED", .pending(status: "SUCCEEDED")),
            ("", .pending(status: "unknown")), (String(repeating: "x", count: 65), .pending(status: "unknown")),
            ("paid\n", .pending(status: "unknown")), ("not_found", .pending(status: "not_found")),
            ("waiting", .accepted), ("failed", .failed(reason: "failed")), ("cancelled", .cancelled),
            ("try_failed", .tryFailed(reason: "failed")), ("succeeded", .succeeded(cny(1))),
        ] as [(String, PaymentOutcome)])
    func `a status means what the protocol says, and any other nothing`(
        status: String, outcome: PaymentOutcome
    ) async throws {
        let fixture = RemoteFixture()
        fixture.plugin.twist("payments/query") { said in
            said["payment", "status"] = status
            // Another amount is passed on, because Paydesk compares it.
            said["payment", "amount"] = ["value": 1, "currency": "CNY"]
            said["payment", "reason"] = "free text\nof any form"
            said["payment", "reference"] = String(repeating: "r", count: 200)
        }
        let report = try await fixture.provider().query(fixture.reference())
        #expect(report.outcome == outcome && report.reference == nil)
    }

    @Test(
        arguments: [
            (409, "rejected", ProviderError.rejected(reason: "too_much")), (501, "unsupported", .unsupported),
            (503, "unavailable", .unavailable), (504, "outcome_unknown", .outcomeUnknown),
        ])
    func `a signed refusal is what it says`(status: Int, word: String, error: ProviderError) async throws {
        let fixture = RemoteFixture()
        let provider = try fixture.provider()
        for call in ["payments/open", "payments/cancel", "refunds/make", "payments/query"] {
            fixture.plugin.twist(call) { said in
                said.status = status
                said.body = ["error": ["type": word, "reason": "too_much"]]
            }
        }
        let refund = fixture.refund(fixture.reference())
        #expect(
            await ending { () async throws(ProviderError) in try await provider.open(fixture.attempt()) }.error == error
        )
        #expect(await ending { () async throws(ProviderError) in try await provider.refund(refund) }.error == error)
        #expect(
            await ending { () async throws(ProviderError) in try await provider.cancel(refund.payment) }.error == error)
        // The refusal of a query is never final.
        let asked = await ending { () async throws(ProviderError) in try await provider.query(refund.payment) }.error
        #expect(asked == (status == 501 ? .unsupported : .unavailable))
    }
}
