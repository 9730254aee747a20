import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Testing

@testable import RemoteProvider

/// Tests that no lie of a plugin about mandates is accepted, in answers and in notifications.
struct RemoteMandateLieTests {
    private let fixture = RemoteFixture(ScriptedPlugin(hasMandates: true))

    private func error<Value: Sendable>(_ call: () async throws(ProviderError) -> Value) async -> ProviderError? {
        await ending(call).error
    }

    @Test(
        arguments: RemoteLieTests.anywhere + [
            RemoteLieTests.Lie("a body beyond the limit") {
                $0.body["padding"] = String(repeating: "x", count: 70_000)
            },
            RemoteLieTests.Lie("an amount of another currency") {
                $0["payment", "amount"] = ["value": 3_990, "currency": "USD"]
            },
            RemoteLieTests.Lie("another amount") { $0["payment", "amount"] = ["value": 1, "currency": "CNY"] },
            RemoteLieTests.Lie("a success without an amount") { $0["payment", "amount"] = nil },
            RemoteLieTests.Lie("a charge that is not there") { $0["payment", "status"] = "not_found" },
            RemoteLieTests.Lie("a set-up instead") { $0.body = ["setup": ["setup_id": "x", "status": "succeeded"]] },
        ])
    func `no charge is ended by`(lie: RemoteLieTests.Lie) async throws {
        let provider = try fixture.provider()
        _ = await provider.fetchManifest(keeps: false)
        fixture.plugin.twist("mandates/charge", lie.twist)
        let expected: ProviderError = lie.unproven.map { .unproven($0) } ?? .outcomeUnknown
        #expect(
            await error { () async throws(ProviderError) in try await provider.charge(fixture.charge()) } == expected)
        #expect(fixture.logged.contains { $0.contains("remote:") } || lie.testDescription == "504, honestly")
    }

    /// The lies that have nothing to do with a payment's members.
    private static let general = RemoteLieTests.anywhere.filter { lie in
        ![
            "another payment's id", "no status", "a status that is a number", "an amount in a currency that is none",
            "an amount with a fraction",
        ].contains(lie.testDescription)
    }

    @Test(
        arguments: general + [
            RemoteLieTests.Lie("a body beyond the limit") {
                $0.body["padding"] = String(repeating: "x", count: 70_000)
            },
            RemoteLieTests.Lie("another set-up and another mandate") {
                $0["setup", "setup_id"] = "stp_0000000000000000000000000a"
                $0["mandate", "reference"] = "M-2"
                $0.body["charges"] = nil
            },
            RemoteLieTests.Lie("statuses and references that are numbers") {
                $0["setup", "status"] = 1
                $0["mandate", "reference"] = 1
                $0.body["charges"] = 1
            },
            RemoteLieTests.Lie("a success without its mandate") {
                $0["setup", "status"] = "succeeded"
                $0["setup", "mandate"] = ["reference": "two words"]
                $0["mandate", "reference"] = "two words"
                $0.body["charges"] = [["payment_id": "pay_1"]]
            },
        ])
    func `no other call is ended by`(lie: RemoteLieTests.Lie) async throws {
        let provider = try fixture.provider()
        _ = await provider.fetchManifest(keeps: false)
        for call in RemoteCall.allCases where ["setups", "mandates"].contains(call.rawValue.prefix { $0 != "/" }) {
            fixture.plugin.twist(call.rawValue, lie.twist)
        }
        let (attempt, mandate) = (fixture.setup(), fixture.mandate())
        let changed: ProviderError = lie.unproven.map { .unproven($0) } ?? .outcomeUnknown
        let asked: ProviderError = lie.unproven.map { .unproven($0) } ?? .unavailable
        #expect(await error { () async throws(ProviderError) in try await provider.setUp(attempt) } == changed)
        #expect(await error { () async throws(ProviderError) in try await provider.revoke(mandate) } == changed)
        let setup = fixture.reference(attempt)
        #expect(await error { () async throws(ProviderError) in try await provider.query(setup: setup) } == asked)
        #expect(await error { () async throws(ProviderError) in try await provider.verify(mandate) } == asked)
        #expect(
            await error { () async throws(ProviderError) in
                try await provider.charges(of: mandate, since: Timestamp(0))
            } == asked)
        let cancelled = await ending { () async throws(ProviderError) in try await provider.cancel(setup: setup) }
        // Every set-up ends: after its cancel nothing is asked any more.
        if lie.testDescription == "a success without its mandate" {
            #expect(try cancelled.get().outcome == .failed(reason: "no_mandate"))
        } else {
            #expect(cancelled.error == changed)
        }
    }

    @Test(
        arguments: RemoteLieTests.openings.filter {
            $0.testDescription.contains("contract") || $0.testDescription.contains("address")
        } + [
            RemoteLieTests.Lie("a set-up that is not there") { $0["setup", "status"] = "not_found" }
        ])
    func `nobody is shown a set-up's contract after`(lie: RemoteLieTests.Lie) async throws {
        let provider = try fixture.provider(isDevelopment: false)
        fixture.plugin.twist("setups/open", lie.twist)
        let end = await error { () async throws(ProviderError) in
            try await provider.setUp(fixture.setup(accepts: [.url]))
        }
        #expect(end == .outcomeUnknown)
    }

    @Test func `another customer's mandate is not verified`() async throws {
        let provider = try fixture.provider()
        let mandate = fixture.mandate(customer: "C-1")
        #expect(try await provider.verify(mandate).customer == "C-1")
        fixture.plugin.twist("mandates/verify") { $0["mandate", "customer"] = "C-2" }
        #expect(await error { () async throws(ProviderError) in try await provider.verify(mandate) } == .unavailable)
        fixture.plugin.twist("mandates/verify") { $0["mandate", "customer"] = nil }
        #expect(try await provider.verify(mandate).customer == "C-1")
    }

    @Test func `money counts although its mandate cannot be kept`() async throws {
        let provider = try fixture.provider()
        for reference in ["", "two words", "中", String(repeating: "m", count: 129)] {
            fixture.plugin.twist("payments/query") { said in
                said["payment", "status"] = "succeeded"
                said["payment", "mandate"] = ["reference": reference]
            }
            let report = try await provider.query(fixture.reference())
            #expect(report.outcome == .succeeded(RemoteFixture.price) && report.mandate == nil)
        }
        #expect(fixture.logged.contains { $0.contains("a mandate that cannot be kept") })
    }

    @Test func `what a mandate says beyond its bounds is left out`() async throws {
        fixture.plugin.twist("mandates/verify") { said in
            said.body["mandate"] = [
                "reference": "M-1", "fingerprint": "two words", "label": "a\u{7}", "brand": "a b", "last4": "42424",
                "exp_month": 13, "exp_year": 99, "more": ["unknown": true],
            ]
        }
        #expect(try await fixture.provider().verify(fixture.mandate()) == ProviderMandate(reference: "M-1"))
    }
}

// Notifications.
extension RemoteMandateLieTests {
    private static let setup = "stp_0000000000000000000000000a"
    private static let subscription = "sub_0000000000000000000000000a"

    private func facts(_ text: String) async throws(ProviderError) -> ReceivedNotification {
        let provider: RemoteProvider
        do { provider = try fixture.provider() } catch { throw .unavailable }
        return try await provider.receive(ScriptedPlugin.notice(text, time: fixture.clock.now.rawValue))
    }

    @Test(
        arguments: [
            (#"{"status":"waiting"}"#, .pending), (#"{"status":"teleported"}"#, .pending),
            (#"{"status":"failed","reason":"declined"}"#, .failed(reason: "declined")),
            (#"{"status":"cancelled"}"#, .cancelled),
            (
                #"{"status":"succeeded","mandate":{"reference":"M-1","fingerprint":"F"}}"#,
                .succeeded(ProviderMandate(reference: "M-1", fingerprint: "F"))
            ),
        ] as [(String, SetupOutcome)])
    func `a set-up is told of`(members: String, outcome: SetupOutcome) async throws {
        let object = #"{"setup_id":"\#(Self.setup)",\#(members.dropFirst())"#
        let received = try await facts(#"{"type":"setup","setup":\#(object)}"#)
        let setup = try #require(ID<Setup>(Self.setup))
        #expect(received.facts == [.setup(SetupReport(setup: setup, outcome: outcome))])
        #expect(received.type.hasPrefix("setup."))
        let foreign = object.replacing(Self.setup, with: "agreement-7")
        #expect(try await facts(#"{"type":"setup","setup":\#(foreign)}"#).facts.isEmpty)
    }

    @Test(
        arguments: [
            (
                #""status":"made","mandate":{"reference":"M-1"}"#,
                [.made(ProviderMandate(reference: "M-1"))]
            ),
            (#""status":"ended""#, [.ended(reference: nil)]),
            (#""status":"ended","mandate":{"reference":"M-1"}"#, [.ended(reference: "M-1")]),
            (#""status":"paused""#, []),
        ] as [(String, [MandateReport.Event])])
    func `a mandate that comes or goes is told of`(members: String, events: [MandateReport.Event]) async throws {
        let received = try await facts(
            #"{"type":"mandate","mandate":{"subscription_id":"\#(Self.subscription)",\#(members)}}"#)
        let subscription = try #require(ID<Subscription>(Self.subscription))
        #expect(received.facts == events.map { .mandate(MandateReport(subscription: subscription, event: $0)) })
        let foreign = try await facts(#"{"type":"mandate","mandate":{"subscription_id":"contract-7",\#(members)}}"#)
        #expect(foreign.facts.isEmpty)
    }

    @Test(
        arguments: [
            (#"{"type":"setup"}"#, "malformed_body"), (#"{"type":"mandate"}"#, "malformed_body"),
            (#"{"type":"setup","setup":{"setup_id":"\#(setup)","status":"succeeded"}}"#, "bad_mandate"),
            (
                #"{"type":"setup","setup":{"setup_id":"\#(setup)","status":"succeeded","mandate":{"reference":"a b"}}}"#,
                "bad_mandate"
            ),
            (
                #"{"type":"mandate","mandate":{"subscription_id":"\#(subscription)","status":"made"}}"#, "bad_mandate"
            ),
            // It must not end every mandate of the subscription.
            (
                #"{"type":"mandate","mandate":{"subscription_id":"\#(subscription)","status":"ended","mandate":{"reference":"a b"}}}"#,
                "bad_mandate"
            ),
        ])
    func `a statement that cannot be kept is rejected`(text: String, reason: String) async throws {
        #expect(
            await error { () async throws(ProviderError) in try await facts(text) } == .rejected(reason: reason))
    }

    @Test func `a payment is told of with its mandate, and a charge with its refusal`() async throws {
        let payment = "pay_0000000000000000000000000a"
        let id = try #require(ID<Payment>(payment))
        let paid = #"{"payment_id":"\#(payment)","status":"succeeded","amount":{"value":1,"currency":"CNY"},"#
        let left = try await facts(#"{"type":"payment","payment":\#(paid)"mandate":{"reference":"M-1"}}}"#)
        #expect(
            left.facts == [
                .payment(
                    PaymentReport(
                        payment: id, outcome: .succeeded(cny(1)), mandate: ProviderMandate(reference: "M-1")))
            ])
        let failed = try await facts(
            #"{"type":"payment","payment":{"payment_id":"\#(payment)","status":"failed","refusal":"action_required"}}"#)
        #expect(
            failed.facts == [
                .payment(PaymentReport(payment: id, outcome: .failed(reason: "failed"), refusal: .actionRequired))
            ])
    }
}
