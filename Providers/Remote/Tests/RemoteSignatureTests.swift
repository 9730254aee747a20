import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Testing

@testable import RemoteProvider

struct RemoteSignatureTests {
    private let fixture = RemoteFixture()
    private var now: Int64 { fixture.clock.now.rawValue }
    private let text = #"{"type":"payment","payment":{"payment_id":"invoice-77","status":"waiting"}}"#

    @Test func `one secret replaces another without a call that is refused`() async throws {
        let (old, new) = (ScriptedPlugin.secret, ScriptedPlugin.nextSecret)
        // Each side changes from the old secret over both to the new one, in any order.
        let steps: [([String], [String])] = [
            ([old], [old]), ([old, new], [old]), ([old, new], [old, new]), ([new, old], [old, new]),
            ([old, new], [new, old]), ([new, old], [new, old]), ([new], [new, old]), ([new], [new]),
        ]
        for (ours, theirs) in steps {
            fixture.plugin.use(secrets: theirs)
            let provider = try fixture.provider(secrets: ours)
            #expect(await provider.fetchManifest(keeps: false) == .pinned, "\(ours.count) \(theirs.count)")
            #expect(try await provider.open(fixture.attempt()).reference == "P-1")
            let notice = ScriptedPlugin.notice(text, time: now, secrets: [theirs[0]])
            #expect(try await provider.receive(notice).eventID == "evt_1")
        }
        // A plugin that goes on signing with the secret that was taken away is nobody.
        fixture.plugin.use(secrets: [old, new])
        let provider = try fixture.provider(secrets: [new])
        guard case .awaited(let why) = await provider.fetchManifest(keeps: false) else {
            Issue.record("an old secret was believed")
            return
        }
        #expect(why.contains("does not sign with a secret"))
        let stale = ScriptedPlugin.notice(text, time: now, secrets: [old])
        #expect(
            await ending { () async throws(ProviderError) in try await provider.receive(stale) }.error
                == .unproven(.signature))
    }

    @Test func `a message signed with two secrets is good for whoever has one of them`() async throws {
        let both = [ScriptedPlugin.foreignSecret, ScriptedPlugin.secret]
        let notice = ScriptedPlugin.notice(text, time: now, secrets: both)
        #expect(try await fixture.provider().receive(notice).eventID == "evt_1")
    }

    @Test(
        arguments: [
            "", "v1,", "v1", "v2,AAAA", "v1,====", "AAAA", "v1a,AAAA", " ", String(repeating: "v1,AAAA ", count: 400),
        ])
    func `no other text is a signature`(signature: String) async throws {
        let provider = try fixture.provider()
        let genuine = ScriptedPlugin.notice(text, time: now)
        let headers = genuine.headers.map { $0.name == "webhook-signature" ? (name: $0.name, value: signature) : $0 }
        let notice = RawNotification(method: .post, headers: headers, body: genuine.body)
        #expect(
            await ending { () async throws(ProviderError) in try await provider.receive(notice) }.error
                == .unproven(.signature))
    }

    @Test(
        arguments: [
            ("webhook-timestamp", "-1"), ("webhook-timestamp", "1e9"), ("webhook-timestamp", ""),
            ("webhook-timestamp", "１７３６８６００００"), ("webhook-timestamp", "9999999999999999999999"),
            ("webhook-id", ""), ("webhook-id", "a.b"), ("webhook-id", "evt 1"),
            ("webhook-id", String(repeating: "e", count: 129)),
        ])
    func `a header of another form is none, however it is signed`(name: String, value: String) async throws {
        let provider = try fixture.provider()
        let body = Data(text.utf8)
        let id = name == "webhook-id" ? value : "evt_1"
        let time = name == "webhook-timestamp" ? value : "\(now)"
        let notice = RawNotification(
            method: .post,
            headers: [
                (name: "webhook-id", value: id), (name: "webhook-timestamp", value: time),
                (
                    name: "webhook-signature",
                    value: ScriptedPlugin.signature(id, time, body, secret: ScriptedPlugin.secret)
                ),
            ], body: body)
        #expect(
            await ending { () async throws(ProviderError) in try await provider.receive(notice) }.error
                == .unproven(.signature))
    }

    @Test func `a notification that was kept is judged by the time of its arrival`() async throws {
        let genuine = ScriptedPlugin.notice(text, time: now)
        fixture.clock.advance(seconds: 90_000)
        let provider = try fixture.provider()
        let kept = RawNotification(
            method: .post, headers: genuine.headers, body: genuine.body,
            receivedAt: fixture.clock.now.adding(seconds: -89_800))
        #expect(try await provider.receive(kept).eventID == "evt_1")
        #expect(
            await ending { () async throws(ProviderError) in try await provider.receive(genuine) }.error
                == .unproven(.time))
    }

    @Test func `every call is signed, and says which it is`() async throws {
        let provider = try fixture.provider()
        let payment = fixture.reference()
        _ = try await provider.open(fixture.attempt())
        _ = try await provider.query(payment)
        _ = try await provider.cancel(payment)
        _ = try await provider.refund(fixture.refund(payment))
        _ = try await provider.query(refund: fixture.refund(payment))
        let asked = fixture.plugin.asked
        #expect(
            asked.map(\.path) == [
                "manifest", "payments/open", "payments/query", "payments/cancel", "refunds/make", "refunds/query",
            ])
        for call in asked {
            let body = try #require(JSONSerialization.jsonObject(with: call.body) as? [String: Any])
            #expect(call.isGenuine && body["call"] as? String == call.path)
        }
        let ids = fixture.transport.requests.map { $0.headers.first { $0.name == "webhook-id" }?.value }
        #expect(Set(ids).count == 6)
        for request in fixture.transport.requests {
            #expect(request.timeoutMilliseconds == 10_000 && request.maxReplyBytes == 65_536)
        }
    }

    @Test(
        arguments: [
            ("[1, 2", "malformed_body"), ("{}", "malformed_body"), (#"{"type":"payment"}"#, "malformed_body"),
            (#"{"type":"a b","payment":{}}"#, "malformed_body"),
            (
                #"{"type":"refund","refund":{"payment_id":"pay_0000000000000000000000000a","status":"failed"}}"#,
                "bad_refund_id"
            ),
            (
                #"{"type":"refund","refund":{"payment_id":"pay_0000000000000000000000000a","refund_id":"x","status":"failed"}}"#,
                "bad_refund_id"
            ),
        ])
    func `what is signed and cannot be read is rejected`(text: String, reason: String) async throws {
        let provider = try fixture.provider()
        let notice = ScriptedPlugin.notice(text, time: now)
        #expect(
            await ending { () async throws(ProviderError) in try await provider.receive(notice) }.error
                == .rejected(reason: reason))
    }

    @Test func `a type that is not known and a body that is too large state nothing`() async throws {
        let provider = try fixture.provider()
        let new = try await provider.receive(ScriptedPlugin.notice(#"{"type":"weather"}"#, time: now))
        #expect(new.facts.isEmpty && new.type == "weather" && new.acknowledgement.body == "ok")
        let huge = ScriptedPlugin.notice(#"{"type":"\#(String(repeating: "x", count: 70_000))"}"#, time: now)
        #expect(
            await ending { () async throws(ProviderError) in try await provider.receive(huge) }.error
                == .unproven(.signature))
    }
}
