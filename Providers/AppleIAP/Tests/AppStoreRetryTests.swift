import AppleIAPProvider
import AppleTrust
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import Testing

struct AppStoreRetryTests {
    private static let good = AppStoreFixture.Reply.json(#"{"signedTransactionInfo":"a.b.c"}"#)

    /// Returns the result of a transaction call that always gets the same answer, and the number of its requests.
    private func outcome(
        _ reply: AppStoreFixture.Reply
    ) async throws -> (AppStoreServerError?, AppStoreFixture) {
        let fixture = AppStoreFixture { _ in reply }
        let api = try fixture.api([.production])
        return (await failure { () throws(AppStoreServerError) in try await api.transaction("1") }, fixture)
    }

    @Test(
        arguments: [
            (.apple(4_040_002), .apple(code: 4_040_002)), (.apple(4_040_004), .apple(code: 4_040_004)),
            (.apple(4_040_006), .apple(code: 4_040_006)), (.apple(5_000_000), .apple(code: 5_000_000)),
            (.apple(5_000_001), .apple(code: 5_000_001)), (.apple(4_290_000), .rateLimited),
            (.status(500), .status(500)), (.status(503), .status(503)), (.status(599), .status(599)),
            (.status(429), .rateLimited), (.status(408), .status(408)), (.failure(.notSent), .unreachable),
            (.failure(.outcomeUnknown), .noAnswer), (.json(""), .damaged("it is empty")),
            (.json("{"), .damaged("it is no JSON")),
            (.json("{}"), .damaged("signedTransactionInfo is missing")),
        ] as [(AppStoreFixture.Reply, AppStoreFailure)])
    func `what may pass is tried four times`(
        reply: AppStoreFixture.Reply, trouble: AppStoreFailure
    ) async throws {
        let (end, fixture) = try await outcome(reply)
        #expect(end == .retryable(trouble, after: nil))
        #expect(fixture.requests.count == 4)
        #expect(fixture.pauses == [500, 1_000, 2_000])
    }

    @Test(
        arguments: [
            (.status(401), .unauthorized(.production)), (.apple(4_010_000), .unauthorized(.production)),
            (.apple(4_000_006), .permanent(code: 4_000_006, message: "Words of Apple's.")),
            (.apple(4_000_002), .permanent(code: 4_000_002, message: "Words of Apple's.")),
            (.apple(4_030_005), .permanent(code: 4_030_005, message: "Words of Apple's.")),
            (.apple(4_040_003), .permanent(code: 4_040_003, message: "Words of Apple's.")),
            (.apple(4_040_010), .unknownTransactionYet), (.apple(4_040_005), .unknownTransactionYet),
            (.apple(4_040_001), .notFound(code: 4_040_001)), (.apple(4_040_019), .notFound(code: 4_040_019)),
            (.apple(4_049_999), .notFound(code: 4_049_999)),
            (.apple(4_000_005), .pagingExpired(code: 4_000_005)), (.apple(4_000_014), .pagingExpired(code: 4_000_014)),
            (.apple(4_000_017), .pagingExpired(code: 4_000_017)),
            (.apple(4_990_001), .permanent(code: 4_990_001, message: "Words of Apple's.")),
            (.status(404), .unexpectedReply(status: 404)), (.status(403), .unexpectedReply(status: 403)),
            (.status(301), .unexpectedReply(status: 301)),
            (.status(302, [(name: "location", value: "https://evil.example")]), .unexpectedReply(status: 302)),
            (.status(100), .unexpectedReply(status: 100)), (.status(0), .unexpectedReply(status: 0)),
            (.status(600), .unexpectedReply(status: 600)),
            (.json(#"{"errorCode":"4040010"}"#, status: 404), .unexpectedReply(status: 404)),
            (.json(#"{"errorCode":4040010}"#, status: 404), .unknownTransactionYet),
        ] as [(AppStoreFixture.Reply, AppStoreServerError)])
    func `what cannot pass is asked once`(
        reply: AppStoreFixture.Reply, expected: AppStoreServerError
    ) async throws {
        let (end, fixture) = try await outcome(reply)
        #expect(end == expected)
        #expect(fixture.requests.count == 1 && fixture.pauses.isEmpty)
    }

    /// Each header, the pause after it, and where it is too long, the time that the caller gets.
    @Test(
        arguments: [
            ("\(AppStoreFixture.start + 300)", 300, nil),
            ("\(AppStoreFixture.start + 30_000)", 30_000, nil),
            ("\(AppStoreFixture.start + 30_001)", nil, 30_001),
            ("\(AppStoreFixture.start + 3_600_000)", nil, 3_600_000),
            ("\(AppStoreFixture.start + 90_000_000)", nil, 3_600_000), ("\(Int64.max)", nil, 3_600_000),
            ("\(AppStoreFixture.start - 5_000)", 0, nil), ("2", 2_000, nil), ("0", 0, nil),
            ("86400", nil, 3_600_000),
            ("86401", 500, nil), ("1790000000", 500, nil), ("-1", 500, nil), ("soon", 500, nil), ("", 500, nil),
            ("99999999999999999999", 500, nil), ("1e3", 500, nil),
        ] as [(String, Int64?, Int64?)])
    func `apple's own time wins within thirty seconds`(header: String, pause: Int64?, after: Int64?) async throws {
        for reply in [429, 503] {
            let fixture = AppStoreFixture([
                .json("", status: reply, headers: [(name: "Retry-After", value: header)]), Self.good,
            ])
            let api = try fixture.api()
            let end = await failure { () throws(AppStoreServerError) in try await api.transaction("1") }
            if let after {
                let trouble: AppStoreFailure = reply == 429 ? .rateLimited : .status(503)
                #expect(end == .retryable(trouble, after: AppStoreFixture.start + after))
            } else {
                #expect(end == nil)
            }
            #expect(fixture.pauses == (pause.map { [$0] } ?? []))
        }
    }

    @Test func `a call recovers from trouble of every sort`() async throws {
        let fixture = AppStoreFixture([
            .apple(5_000_000), .apple(4_290_000, retryAfter: AppStoreFixture.start + 800),
            .failure(.outcomeUnknown),
            Self.good,
        ])
        _ = try await fixture.api().transaction("1")
        #expect(fixture.pauses == [500, 300, 2_000] && fixture.hosts == Array(repeating: "prod.example", count: 4))
    }

    @Test(arguments: AppStoreCall.all)
    func `every call tries again, and what must not be made twice says so`(call: AppStoreCall) async throws {
        for reply in [AppStoreFixture.Reply.failure(.outcomeUnknown), .apple(5_000_000), .status(502)] {
            let fixture = AppStoreFixture([reply, .json(call.reply, status: call.status)])
            let api = try fixture.api()
            let end = await failure { () throws(AppStoreServerError) in try await call.run(api) }
            #expect(end == (call.isRepeatable ? nil : .outcomeUnknown))
            #expect(fixture.requests.count == (call.isRepeatable ? 2 : 1))
        }
        // A call that certainly had no effect is repeated nevertheless.
        let certain: [AppStoreFixture.Reply] = [
            .failure(.notSent), .apple(4_290_000), .apple(5_000_001), .apple(4_040_002),
        ]
        for reply in certain {
            let fixture = AppStoreFixture([reply, .json(call.reply, status: call.status)])
            #expect(try await call.run(fixture.api()) == call.result)
        }
    }

    @Test func `an extension whose answer is damaged may have been made`() async throws {
        let call = AppStoreCall.named("extension")
        for body in ["", "{", "{}", #"{"originalTransactionId":"100"}"#] {
            let fixture = AppStoreFixture([.json(body)])
            let api = try fixture.api()
            #expect(await failure { () throws(AppStoreServerError) in try await call.run(api) } == .outcomeUnknown)
            #expect(fixture.requests.count == 1)
        }
    }

    @Test func `a cancelled call does not go on`() async throws {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await outcome(.apple(5_000_000))
        }
        let (stopped, fixture) = try await task.value
        #expect(stopped == .retryable(.apple(code: 5_000_000), after: nil))
        #expect(fixture.requests.count == 1 && fixture.pauses.isEmpty)
    }

    @Test func `apple's words are bounded and printable`() async throws {
        let words = String(repeating: "é\\n\\u001b", count: 500)
        let (end, _) = try await outcome(.json(#"{"errorCode":4000001,"errorMessage":"\#(words)"}"#, status: 400))
        guard case .permanent(4_000_001, let message)? = end else {
            Issue.record("\(String(describing: end))")
            return
        }
        #expect(message.utf8.count == 200 && message.allSatisfy { $0 == "?" })
    }

    @Test(
        arguments: [
            (4_030_004, "billing retry"), (4_030_005, "twice in 365 days"), (4_030_007, "family sharing"),
            (4_000_187, "original"), (4_000_185, "family member"), (4_000_035, "consented"), (4_000_012, "180 days"),
        ] as [(Int, String)])
    func `apple's limits are told in words`(code: Int, words: String) async throws {
        let fixture = AppStoreFixture([.apple(code)])
        let call = AppStoreCall.named("extension")
        let api = try fixture.api([.production])
        let end = try #require(await failure { () throws(AppStoreServerError) in try await call.run(api) })
        #expect("\(end)".contains(words) && "\(end)".contains("\(code)"), "\(end)")
    }
}
