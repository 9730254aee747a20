import AppleIAPProvider
import AppleTrust
import ProviderKit
import ProviderTesting
import Testing

struct AppStoreLimitsTests {
    private static let unknown = AppStoreFixture.Reply.apple(4_040_008)

    /// Each call of an endpoint with Apple's limit of calls in a second.
    static let rates: [(AppStoreCall, Int64)] = AppStoreCall.all.map { call in
        let rate: Int64 =
            switch call.name {
            case "refunds", "order": 10
            case "app account token", "extension": 20
            case "test notification", "status of a test notification", "mass extension", "status of a mass extension": 1
            default: 50
            }
        return (call, rate)
    }

    @Test(arguments: rates)
    func `every endpoint keeps apple's rate`(call: AppStoreCall, rate: Int64) async throws {
        let fixture = AppStoreFixture { _ in .json(call.reply, status: call.status) }
        let api = try fixture.api()
        let calls = Int(rate) * 20
        for _ in 0..<calls { _ = try await call.run(api) }
        let seconds = Double(fixture.now - AppStoreFixture.start) / 1_000
        #expect(fixture.requests.count == calls)
        // The burst is a tenth of a second's worth, and one call at least.
        let least = Double(calls - max(1, Int(rate) / 10)) / Double(rate)
        #expect(seconds >= least && seconds <= Double(calls) / Double(rate))
    }

    @Test func `sandbox is given a tenth of it, for itself`() async throws {
        let fixture = AppStoreFixture { _ in .json(#"{"signedTransactionInfo":"a.b.c"}"#) }
        let api = try fixture.api()
        for _ in 0..<105 { _ = try await api.transaction("1", in: .only(.sandbox)) }
        #expect(fixture.now - AppStoreFixture.start == 20_000)
        _ = try await api.transaction("1", in: .only(.production))
        #expect(fixture.now - AppStoreFixture.start == 20_000)
    }

    @Test func `a queue that is too long is told when to come back`() async throws {
        let fixture = AppStoreFixture { _ in .json(#"{"testNotificationToken":"t"}"#) }
        // No call waits in truth, so the turns that were taken lie ahead of the clock.
        let api = AppStoreServerAPI(
            bundleID: "com.example.app", key: try AppStoreFixture.key(),
            addresses: AppStoreFixture.hosts,
            http: fixture.transport, time: fixture.time, pause: { _ in })
        for _ in 0..<4 { _ = try await api.requestTestNotification(in: .sandbox) }
        let end = await failure { () throws(AppStoreServerError) in
            try await api.requestTestNotification(in: .sandbox)
        }
        #expect(end == .retryable(.ownLimit, after: AppStoreFixture.start + 40_000))
        #expect(fixture.requests.count == 4)
        // The turn that was refused was not taken.
        fixture.advance(milliseconds: 40_000)
        _ = try await api.requestTestNotification(in: .sandbox)
    }

    @Test func `a clock that is turned back holds nobody up`() async throws {
        let fixture = AppStoreFixture { _ in .json(#"{"testNotificationToken":"t"}"#) }
        let api = try fixture.api()
        _ = try await api.requestTestNotification(in: .production)
        fixture.advance(milliseconds: -86_400_000)
        _ = try await api.requestTestNotification(in: .production)
        #expect(fixture.pauses == [1_000])
    }

    @Test func `apple's 429 holds the others back too`() async throws {
        let fixture = AppStoreFixture(
            [.apple(4_290_000, retryAfter: AppStoreFixture.start + 60_000)],
            otherwise: { _ in .json(#"{"signedTransactionInfo":"a.b.c"}"#) })
        let api = try fixture.api()
        let first = await failure { () throws(AppStoreServerError) in try await api.transaction("1") }
        #expect(first == .retryable(.rateLimited, after: AppStoreFixture.start + 60_000))
        let second = await failure { () throws(AppStoreServerError) in try await api.transaction("2") }
        #expect(second == .retryable(.ownLimit, after: AppStoreFixture.start + 60_000))
        #expect(fixture.requests.count == 1)
        fixture.advance(milliseconds: 59_000)
        _ = try await api.transaction("1")
        #expect(fixture.pauses == [1_000] && fixture.requests.count == 2)
    }

    @Test func `ten thousand subscriptions are read within apple's limit`() async throws {
        let body =
            #"{"data":[{"subscriptionGroupIdentifier":"g","lastTransactions":[{"status":1,"#
            + #""originalTransactionId":"1","signedTransactionInfo":"a.b.c"}]}]}"#
        let fixture = AppStoreFixture { _ in .json(body) }
        let api = try fixture.api()
        var active = 0
        for id in 0..<10_000 {
            active += try await api.subscriptions(of: "\(id)").value.count { $0.status == .active }
        }
        #expect(active == 10_000)
        // 50 a second: 200 seconds, less the burst of five.
        #expect(fixture.now - AppStoreFixture.start == 199_900)
    }
}
