import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Testing

@testable import RemoteProvider

struct RemoteManifestTests {
    @Test func `what an account can do is its plugin's to say`() async throws {
        let fixture = RemoteFixture()
        let provider = try fixture.provider()
        #expect(provider.contractTypes.isEmpty && provider.manifest == RemoteProvider.manifest)
        #expect(await provider.fetchManifest(keeps: true) == .pinned)
        #expect(provider.contractTypes == [.url, .qr])
        let manifest = provider.manifest
        #expect(manifest.displayName == "Scripted" && manifest.currencies.map(\.code) == ["CNY", "USD"])
        #expect(manifest.cancel == .definite && manifest.refunds == .partial && manifest.kind == "remote")
        #expect(manifest.notifications == [.post] && !manifest.recurring && !manifest.mandates)
        #expect(await fixture.book.writes == 1)
    }

    @Test(
        arguments: [
            ("protocol", "2"), ("protocol", #""1""#), ("display_name", #""""#), ("display_name", #""a\u0007""#),
            ("display_name", "\"\(String(repeating: "n", count: 65))\""), ("contract_types", "[]"),
            ("contract_types", #"["url","url"]"#), ("contract_types", #"["stripe"]"#),
            ("contract_types", #"["hologram"]"#), ("currencies", #"["XXX"]"#), ("currencies", #"["CNY","CNY"]"#),
            ("cancel", #""perhaps""#), ("refunds", "null"), ("notifications", #""yes""#), ("mandates", #""yes""#),
            ("mandates", "1"),
        ])
    func `a manifest that is none opens nothing`(member: String, json: String) async throws {
        let fixture = RemoteFixture()
        let provider = try fixture.provider()
        fixture.plugin.twist("manifest", Self.saying(member, json))
        guard case .awaited = await provider.fetchManifest(keeps: true) else {
            Issue.record("\(member) was taken: \(provider.manifest)")
            return
        }
        #expect(provider.contractTypes.isEmpty)
        let end = await ending { () async throws(ProviderError) in try await provider.open(fixture.attempt()) }
        #expect(end.error == .unavailable)
        #expect(!fixture.plugin.asked.contains { $0.path == "payments/open" })
        #expect(await provider.diagnose().map(\.level) == [.fault])
    }

    private static func saying(_ member: String, _ json: String) -> ScriptedPlugin.Twist {
        { said in
            said.body[member] = (try? JSONSerialization.jsonObject(with: Data("[\(json)]".utf8)) as? [Any])?.first
        }
    }

    @Test(
        arguments: [
            ("display_name", #""Renamed""#), ("currencies", #"["CNY"]"#), ("contract_types", #"["url"]"#),
            ("cancel", #""none""#), ("refunds", #""full""#), ("notifications", "false"), ("mandates", "true"),
        ])
    func `a manifest that changes opens no new payment, and what was begun goes on`(
        member: String, json: String
    ) async throws {
        let fixture = RemoteFixture()
        let provider = try fixture.provider()
        _ = await provider.fetchManifest(keeps: true)
        let before = provider.manifest
        let attempt = fixture.attempt()
        let payment = ProviderReference(
            payment: attempt.payment, reference: try await provider.open(attempt).reference, amount: attempt.amount)
        fixture.plugin.twist("manifest", Self.saying(member, json))
        #expect(await provider.fetchManifest(keeps: true) == .changed(what: member))
        #expect(provider.contractTypes.isEmpty && provider.manifest == before)
        #expect(fixture.logged.contains { $0.hasPrefix("error") && $0.contains("what=\(member)") })
        let asked = fixture.plugin.asked.count
        let end = await ending { () async throws(ProviderError) in try await provider.open(fixture.attempt()) }
        #expect(end.error == .unavailable && fixture.plugin.asked.count == asked)
        #expect(try await provider.query(payment).outcome == .accepted)
        #expect(try await provider.cancel(payment).outcome == .accepted)
        #expect(try await provider.refund(fixture.refund(payment, cny(1_000))).outcome == .succeeded)
        let text = #"{"type":"payment","payment":{"payment_id":"\#(payment.payment)","status":"waiting"}}"#
        let received = try await provider.receive(ScriptedPlugin.notice(text, time: fixture.clock.now.rawValue))
        #expect(received.facts.count == 1)
        // The doctor, another process, sees it; a plugin that goes back to the first has its account back.
        #expect(try await fixture.provider().diagnose().map(\.level) == [.good, .fault])
        fixture.plugin.twist("manifest", nil)
        #expect(await provider.fetchManifest(keeps: true) == .pinned)
        #expect(!provider.contractTypes.isEmpty)
        #expect(try await fixture.provider().diagnose().map(\.level) == [.good])
        // A restart takes what is said then.
        fixture.plugin.twist("manifest", Self.saying(member, json))
        #expect(await (try fixture.provider()).fetchManifest(keeps: true) == .pinned)
        #expect(try await fixture.provider().diagnose().map(\.level) == [.good])
    }

    @Test func `mandates are the plugin's to say, and need a cancel`() async throws {
        let fixture = RemoteFixture(ScriptedPlugin(hasMandates: true))
        let provider = try fixture.provider()
        #expect(!provider.chargesMandates)
        #expect(await provider.fetchManifest(keeps: true) == .pinned)
        #expect(provider.chargesMandates && provider.manifest.mandates)
        #expect(provider.pin.manifest?.words.hasSuffix("notifies, charges mandates") == true)
        fixture.plugin.twist("manifest") { $0.body["mandates"] = nil }
        #expect(await provider.fetchManifest(keeps: true) == .changed(what: "mandates"))
        fixture.plugin.twist("manifest") { $0.body["cancel"] = "none" }
        guard case .awaited(let why) = await (try fixture.provider()).fetchManifest(keeps: true) else {
            Issue.record("charges whose answers are lost could not be withdrawn")
            return
        }
        #expect(why.contains("it has mandates, and its cancel is none"))
    }

    @Test func `a manifest that an older release wrote down is the same as one without mandates`() async throws {
        let fixture = RemoteFixture()
        _ = await (try fixture.provider()).fetchManifest(keeps: true)
        // Older releases had no such member.
        let kept = try await fixture.book.value("manifest").map { String(decoding: $0, as: UTF8.self) }
        #expect(kept?.contains("mandates") == false)
        fixture.plugin.twist("manifest") { $0.body["mandates"] = false }
        #expect(try await fixture.provider().diagnose().map(\.level) == [.good])
    }

    @Test func `what a call pinned first is written down by the next look`() async throws {
        let fixture = RemoteFixture()
        let provider = try fixture.provider()
        _ = try await provider.cancel(fixture.reference())
        #expect(provider.manifestState == .pinned)
        #expect(try await fixture.book.value("manifest") == nil)
        #expect(await provider.fetchManifest(keeps: true) == .pinned)
        #expect(try await fixture.book.value("manifest") != nil)
    }

    @Test func `a plugin that is down at the start is taken once it is up`() async throws {
        let fixture = RemoteFixture()
        let provider = try fixture.provider()
        fixture.plugin.twist("manifest") { $0.raw = IncomingReply(status: 502) }
        guard case .awaited(let why) = await provider.fetchManifest(keeps: true) else {
            Issue.record("there is no manifest")
            return
        }
        #expect(why.contains("does not answer"))
        #expect(
            await ending { () async throws(ProviderError) in try await provider.open(fixture.attempt()) }.error
                == .unavailable)
        fixture.plugin.twist("manifest", nil)
        // The first call asks again by itself.
        #expect(try await provider.open(fixture.attempt()).reference == "P-1")
        #expect(provider.manifestState == .pinned && provider.contractTypes == [.url, .qr])
    }

    @Test func `the rules of the manifest hold whatever is asked`() async throws {
        let fixture = RemoteFixture()
        fixture.plugin.twist("manifest") { said in
            said.body["cancel"] = "none"
            said.body["refunds"] = "full"
            said.body["notifications"] = false
            said.body["contract_types"] = ["qr"]
            said.body["currencies"] = ["CNY"]
        }
        let provider = try fixture.provider()
        let payment = fixture.reference()
        func error<Value: Sendable>(_ call: () async throws(ProviderError) -> Value) async -> ProviderError? {
            await ending(call).error
        }
        _ = await provider.fetchManifest(keeps: false)
        let asked = fixture.plugin.asked.count
        #expect(await error { () async throws(ProviderError) in try await provider.cancel(payment) } == .unsupported)
        #expect(
            await error { () async throws(ProviderError) in try await provider.refund(fixture.refund(payment, cny(1))) }
                == .rejected(reason: "refund_in_full_only"))
        let usd = Money(value: 100, currency: Currency("USD")!)
        #expect(
            await error { () async throws(ProviderError) in try await provider.open(fixture.attempt(usd)) }
                == .unfit(reason: "currency_unsupported"))
        #expect(
            await error { () async throws(ProviderError) in
                try await provider.open(fixture.attempt(accepts: [.url]))
            } == .unfit(reason: "contract_not_accepted"))
        let notice = ScriptedPlugin.notice("{}", time: fixture.clock.now.rawValue)
        #expect(await error { () async throws(ProviderError) in try await provider.receive(notice) } == .unsupported)
        #expect(fixture.plugin.asked.count == asked)
    }

    @Test func `the server writes down what it goes by, and a question of another process does not`() async throws {
        let fixture = RemoteFixture()
        _ = await (try fixture.provider()).fetchManifest(keeps: false)
        #expect(await fixture.book.writes == 0)
    }
}
