import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Testing

@testable import RemoteProvider

/// Tests set-ups, charges and mandates against a plugin with scripted answers: every outcome, and what may be lost.
struct RemoteMandateTests {
    private let fixture = RemoteFixture(ScriptedPlugin(hasMandates: true))

    private func error<Value: Sendable>(_ call: () async throws(ProviderError) -> Value) async -> ProviderError? {
        await ending(call).error
    }

    @Test func `a plugin without mandates is asked nothing of them`() async throws {
        let fixture = RemoteFixture()
        let provider = try fixture.provider()
        _ = await provider.fetchManifest(keeps: false)
        let asked = fixture.plugin.asked.count
        #expect(!provider.chargesMandates)
        #expect(
            await error { () async throws(ProviderError) in try await provider.setUp(fixture.setup()) }
                == .unfit(reason: "no_mandates"))
        // A manifest that lost its mandates by mistake costs nobody a try.
        #expect(
            await error { () async throws(ProviderError) in try await provider.charge(fixture.charge()) }
                == .unavailable)
        let attempt = fixture.attempt()
        let leaving = PaymentAttempt(
            payment: attempt.payment, order: attempt.order, amount: attempt.amount, title: attempt.title,
            platform: .web, returnURL: nil, expiresAt: attempt.expiresAt, accepts: [.url],
            mandate: MandateRequest(subscription: fixture.ids.make(), periodIndex: 0, terms: "terms"))
        #expect(
            await error { () async throws(ProviderError) in try await provider.open(leaving) }
                == .unfit(reason: "no_mandates"))
        #expect(fixture.plugin.asked.count == asked)
        #expect(try await provider.open(attempt).reference == "P-1")
        let body = try #require(fixture.plugin.asked.last.map { String(decoding: $0.body, as: UTF8.self) })
        #expect(!body.contains("mandate") && !body.contains("subscription"))
    }

    @Test func `the calls are signed, and carry what a plugin needs`() async throws {
        let provider = try fixture.provider()
        let (attempt, mandate) = (fixture.setup(), fixture.mandate(customer: "C-9"))
        let charge = fixture.charge(mandate)
        #expect(try await provider.setUp(attempt).instruction == .url(checkoutURL: "https://plugin.example/pay/1"))
        _ = try await provider.query(setup: fixture.reference(attempt))
        _ = try await provider.cancel(setup: fixture.reference(attempt))
        #expect(try await provider.charge(charge).outcome == .succeeded(charge.amount))
        #expect(try await provider.verify(mandate).customer == "C-9")
        #expect(try await provider.charges(of: mandate, since: Timestamp(17)) == [])
        try await provider.revoke(mandate)
        let members = [
            (
                "setups/open",
                "accepts call currency expires_at notify_url platform return_url setup_id subscription_id terms title"
            ),
            ("setups/query", "call setup_id subscription_id"), ("setups/cancel", "call setup_id subscription_id"),
            (
                "mandates/charge",
                "amount call mandate order_id payment_id period_index subscription_id title"
            ),
            ("mandates/verify", "call mandate subscription_id"),
            ("mandates/charges", "call mandate since subscription_id"),
            ("mandates/revoke", "call mandate owns_customer subscription_id"),
        ]
        let asked = fixture.plugin.asked.dropFirst()
        #expect(asked.map(\.path) == members.map(\.0))
        for (call, (path, names)) in zip(asked, members) {
            let body = try #require(JSONSerialization.jsonObject(with: call.body) as? [String: Any])
            #expect(call.isGenuine && body["call"] as? String == path)
            #expect(body.keys.sorted().joined(separator: " ") == names)
        }
    }

    @Test func `an opening asks for a mandate, and a success leaves it`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        let subscription: ID<Subscription> = fixture.ids.make()
        let leaving = PaymentAttempt(
            payment: attempt.payment, order: attempt.order, amount: attempt.amount, title: attempt.title,
            platform: .web, returnURL: nil, expiresAt: attempt.expiresAt, accepts: [.url],
            mandate: MandateRequest(subscription: subscription, periodIndex: 0, terms: "CNY 39.90 a month"))
        _ = try await provider.open(leaving)
        let body = try #require(fixture.plugin.asked.last.map { String(decoding: $0.body, as: UTF8.self) })
        #expect(body.contains(#""terms":"CNY 39.90 a month""#) && body.contains(subscription.rawValue))
        fixture.plugin.twist("payments/query") { said in
            said["payment", "status"] = "succeeded"
            said["payment", "mandate"] = [
                "reference": "M-1", "customer": "C-1", "fingerprint": "F", "label": "Visa •••• 4242", "brand": "visa",
                "last4": "4242", "exp_month": 12, "exp_year": 2_030,
            ]
        }
        let report = try await provider.query(fixture.reference(attempt))
        #expect(
            report.mandate
                == ProviderMandate(
                    reference: "M-1", customer: "C-1", fingerprint: "F", label: "Visa •••• 4242", brand: "visa",
                    last4: "4242", expMonth: 12, expYear: 2_030))
        // A mandate of what is not paid is none.
        fixture.plugin.twist("payments/query") { $0["payment", "mandate"] = ["reference": "M-1"] }
        #expect(try await provider.query(fixture.reference(attempt)).mandate == nil)
    }

    @Test(
        arguments: [
            ("waiting", .pending), ("not_found", .pending), ("teleported", .pending), ("SUCCEEDED", .pending),
            ("", .pending), ("failed", .failed(reason: "declined")), ("cancelled", .cancelled),
            ("succeeded", .succeeded(ProviderMandate(reference: "M-1"))),
        ] as [(String, SetupOutcome)])
    func `a set-up is what the protocol says, and any other status no end`(
        status: String, outcome: SetupOutcome
    ) async throws {
        for call in ["setups/query", "setups/cancel"] {
            fixture.plugin.twist(call) { said in
                said["setup", "status"] = status
                said["setup", "reason"] = "declined"
                said["setup", "mandate"] = ["reference": "M-1"]
            }
        }
        let provider = try fixture.provider()
        let attempt = fixture.setup()
        let expected = SetupReport(setup: attempt.setup, outcome: outcome, reference: "S-1")
        #expect(try await provider.query(setup: fixture.reference(attempt)) == expected)
        #expect(try await provider.cancel(setup: fixture.reference(attempt)) == expected)
    }

    @Test(arguments: ["failed", "cancelled"])
    func `a set-up that is closed is not opened`(status: String) async throws {
        fixture.plugin.twist("setups/open") { $0["setup", "status"] = status }
        let provider = try fixture.provider()
        #expect(
            await error { () async throws(ProviderError) in try await provider.setUp(fixture.setup()) }
                == .rejected(reason: "setup_closed"))
    }

    @Test(
        arguments: [
            ("succeeded", nil, .succeeded(RemoteFixture.price), nil), ("waiting", nil, .processing, nil),
            ("teleported", nil, .pending(status: "teleported"), nil),
            ("try_failed", nil, .pending(status: "try_failed"), nil),
            ("failed", "soft", .failed(reason: "declined"), .soft),
            ("failed", "hard", .failed(reason: "declined"), .hard),
            ("failed", "action_required", .failed(reason: "declined"), .actionRequired),
            ("failed", "perhaps", .failed(reason: "declined"), .soft),
            ("failed", nil, .failed(reason: "declined"), .soft),
            ("cancelled", nil, .failed(reason: "cancelled"), .soft),
        ] as [(String, String?, PaymentOutcome, ChargeRefusal?)])
    func `a charge is what the protocol says`(
        status: String, refusal: String?, outcome: PaymentOutcome, kind: ChargeRefusal?
    ) async throws {
        fixture.plugin.twist("mandates/charge") { said in
            said["payment", "status"] = status
            said["payment", "reason"] = "declined"
            if let refusal { said["payment", "refusal"] = refusal }
            // A charge leaves no mandate behind.
            said["payment", "mandate"] = ["reference": "M-2"]
        }
        let charge = fixture.charge()
        let report = try await fixture.provider().charge(charge)
        #expect(
            report
                == PaymentReport(payment: charge.payment, outcome: outcome, reference: "C-1", refusal: kind))
    }

    @Test func `a charge that is asked for says why it was refused`() async throws {
        fixture.plugin.twist("payments/query") { said in
            said["payment", "status"] = "failed"
            said["payment", "reason"] = "mandate_ended"
            said["payment", "refusal"] = "hard"
        }
        let report = try await fixture.provider().query(fixture.reference())
        #expect(report.outcome == .failed(reason: "mandate_ended") && report.refusal == .hard)
    }

    @Test func `a signed refusal is what it says`() async throws {
        let provider = try fixture.provider()
        let charge = fixture.charge()
        let words = [
            (409, "rejected"), (501, "unsupported"), (503, "unavailable"), (504, "outcome_unknown"),
        ]
        for (status, word) in words {
            for call in ["setups/open", "mandates/charge", "mandates/verify", "mandates/charges", "mandates/revoke"] {
                fixture.plugin.twist(call) { said in
                    said.status = status
                    said.body = ["error": ["type": word, "reason": "no_more"]]
                }
            }
            let error: ProviderError =
                switch status {
                case 409: .rejected(reason: "no_more")
                case 501: .unsupported
                case 503: .unavailable
                default: .outcomeUnknown
                }
            #expect(
                await self.error { () async throws(ProviderError) in try await provider.setUp(fixture.setup()) }
                    == error)
            let charged = await ending { () async throws(ProviderError) in try await provider.charge(charge) }
            if status == 409 {
                // A final no to a charge is a report, like any refusal.
                #expect(
                    try charged.get()
                        == PaymentReport(
                            payment: charge.payment, outcome: .failed(reason: "no_more"), refusal: .soft))
            } else {
                #expect(charged.error == error)
            }
            let verified = await self.error { () async throws(ProviderError) in
                try await provider.verify(fixture.mandate())
            }
            #expect(verified == (status == 504 ? .unavailable : error))
            let listed = await ending { () async throws(ProviderError) in
                try await provider.charges(of: fixture.mandate(), since: Timestamp(0))
            }
            switch status {
            case 501: #expect(try listed.get() == nil)
            default: #expect(listed.error == .unavailable)
            }
        }
    }

    @Test func `a lost reply to a change leaves its effect unknown, and a request that was not sent had none`()
        async throws
    {
        for (fault, change) in [
            (HTTPTransportError.outcomeUnknown, ProviderError.outcomeUnknown), (.notSent, .unavailable),
        ] {
            let plugin = ScriptedPlugin(hasMandates: true)
            let now = fixture.clock.now.rawValue
            let lossy = RemoteFixture(plugin) { request throws(HTTPTransportError) in
                let reply = plugin.answer(request, now: now)
                if request.url.hasSuffix("/manifest") { return reply }
                throw fault
            }
            let provider = try lossy.provider()
            let attempt = lossy.setup()
            let mandate = lossy.mandate()
            #expect(await error { () async throws(ProviderError) in try await provider.setUp(attempt) } == change)
            #expect(
                await error { () async throws(ProviderError) in
                    try await provider.cancel(setup: lossy.reference(attempt))
                } == change)
            #expect(
                await error { () async throws(ProviderError) in try await provider.charge(lossy.charge()) } == change)
            #expect(await error { () async throws(ProviderError) in try await provider.revoke(mandate) } == change)
            #expect(
                await error { () async throws(ProviderError) in
                    try await provider.query(setup: lossy.reference(attempt))
                } == .unavailable)
            #expect(
                await error { () async throws(ProviderError) in try await provider.verify(mandate) } == .unavailable)
            #expect(
                await error { () async throws(ProviderError) in
                    try await provider.charges(of: mandate, since: Timestamp(0))
                } == .unavailable)
        }
    }
}

// Lists of charges.
extension RemoteMandateTests {
    private static func listed(
        _ index: Int, _ subscription: ID<Subscription>, payment: String? = nil, amount: Int64 = 3_990
    ) -> [String: Any] {
        let suffix = String(repeating: "0", count: 25) + "\(index)"
        return [
            "payment_id": payment ?? "pay_\(suffix)", "order_id": "ord_\(suffix)",
            "subscription_id": subscription.rawValue, "period_index": index,
            "amount": ["value": amount, "currency": "CNY"], "reference": "C-\(index)", "at": 100 - index,
        ]
    }

    @Test func `charges are listed page by page, oldest first, and others' ids are passed over`() async throws {
        let mandate = fixture.mandate()
        let pages = fixture.plugin
        fixture.plugin.twist("mandates/charges") { said in
            let isFirst = pages.asked.last.map { !String(decoding: $0.body, as: UTF8.self).contains("\"after\"") }
            if isFirst ?? true {
                said.body["charges"] = [
                    Self.listed(1, mandate.subscription), Self.listed(2, mandate.subscription, payment: "invoice-77"),
                ]
                said.body["next"] = "page-2"
            } else {
                said.body["charges"] = [Self.listed(3, mandate.subscription)]
            }
        }
        let found = try #require(try await fixture.provider().charges(of: mandate, since: Timestamp(5)))
        #expect(found.map(\.periodIndex) == [3, 1] && found.map(\.at) == [Timestamp(97), Timestamp(99)])
        #expect(found.map(\.reference) == ["C-3", "C-1"])
    }

    @Test func `a list that lies is no answer`() async throws {
        let provider = try fixture.provider()
        let (mandate, other): (MandateReference, ID<Subscription>) = (fixture.mandate(), fixture.ids.make())
        let lies: [ScriptedPlugin.Twist] = [
            { $0.body["charges"] = [Self.listed(1, other)] },
            { $0.body["charges"] = [Self.listed(1, mandate.subscription, amount: 0)] },
            { $0.body["charges"] = [Self.listed(1, mandate.subscription, amount: -1)] },
            { $0.body["charges"] = [Self.listed(-1, mandate.subscription)] },
            { $0.body["charges"] = "none" },
            // The same page for ever, an empty one that promises more, and a cursor that nobody can send.
            {
                $0.body["charges"] = [Self.listed(1, mandate.subscription)]
                $0.body["next"] = "again"
            },
            { $0.body["next"] = "more" },
            {
                $0.body["charges"] = [Self.listed(1, mandate.subscription)]
                $0.body["next"] = "a b"
            },
        ]
        for lie in lies {
            fixture.plugin.twist("mandates/charges", lie)
            let asked = fixture.plugin.asked.count
            #expect(
                await error { () async throws(ProviderError) in
                    try await provider.charges(of: mandate, since: Timestamp(0))
                } == .unavailable)
            #expect(fixture.plugin.asked.count - asked <= 3)
        }
        // Pages without an end are given up.
        let plugin = fixture.plugin
        fixture.plugin.twist("mandates/charges") {
            $0.body["charges"] = [Self.listed(1, mandate.subscription)]
            $0.body["next"] = "page-\(plugin.asked.count)"
        }
        let asked = fixture.plugin.asked.count
        #expect(
            await error { () async throws(ProviderError) in
                try await provider.charges(of: mandate, since: Timestamp(0))
            } == .unavailable)
        #expect(fixture.plugin.asked.count - asked == 100)
    }
}
