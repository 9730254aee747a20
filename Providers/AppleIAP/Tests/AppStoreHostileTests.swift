import AppleIAPProvider
import AppleTrust
import Foundation
import ProviderKit
import ProviderTesting
import Testing

struct AppStoreHostileTests {
    private static let deep = String(repeating: "[", count: 100_000)
    private static let bodies: [Data] = [
        Data(), Data("null".utf8), Data("0".utf8), Data("\"\"".utf8), Data("[]".utf8), Data("{}".utf8), Data("{".utf8),
        Data("<html>".utf8), Data([0xff, 0xfe, 0x00]), Data(repeating: 0, count: 1_000), Data(deep.utf8),
        Data((#"{"errorCode":"# + deep).utf8), Data(#"{"errorCode":1e400}"#.utf8),
        Data(#"{"errorCode":99999999999999999999}"#.utf8), Data(#"{"errorCode":-9223372036854775808}"#.utf8),
        Data(#"{"errorCode":null,"errorMessage":[]}"#.utf8), Data(#"{"data":[{"lastTransactions":[{}]}]}"#.utf8),
        Data(#"{"status":"0","complete":1,"success":2,"hasMore":[],"requestIdentifier":{}}"#.utf8),
    ]

    @Test(arguments: AppStoreCall.all)
    func `no answer does harm`(call: AppStoreCall) async throws {
        for status in [200, 202, 204, 299, 301, 400, 401, 404, 418, 429, 500, 503, -1, Int.max] {
            for body in Self.bodies {
                let fixture = AppStoreFixture { _ in .success(IncomingReply(status: status, body: body)) }
                let api = try fixture.api([.production])
                let end = await failure { () throws(AppStoreServerError) in try await call.run(api) }
                let isEnough = call.reply.isEmpty && (200...299).contains(status) && body.count <= 64 << 10
                #expect((end == nil) == isEnough, "\(status) \(body.prefix(40).count): \(String(describing: end))")
                #expect(fixture.requests.count <= 4)
            }
        }
    }

    @Test(arguments: AppStoreCall.all)
    func `every cut of a good answer is refused or read whole`(call: AppStoreCall) async throws {
        let whole = Data(call.reply.utf8)
        for length in 0..<whole.count {
            let fixture = AppStoreFixture { _ in
                .success(IncomingReply(status: call.status, body: whole.prefix(length)))
            }
            let api = try fixture.api([.production])
            let end = await failure { () throws(AppStoreServerError) in try await call.run(api) }
            if call.isRepeatable {
                guard case .retryable(.damaged, nil)? = end else {
                    Issue.record("\(length): \(String(describing: end))")
                    return
                }
            } else {
                #expect(end == .outcomeUnknown)
            }
        }
    }

    @Test(arguments: AppStoreCall.all)
    func `an answer that is too large is not read`(call: AppStoreCall) async throws {
        let padded = Data((call.reply.dropLast() + String(repeating: " ", count: 5 << 20) + "}").utf8)
        let fixture = AppStoreFixture { _ in .success(IncomingReply(status: call.status, body: padded)) }
        let api = try fixture.api([.production])
        let end = await failure { () throws(AppStoreServerError) in try await call.run(api) }
        #expect(
            end == (call.isRepeatable ? .retryable(.damaged("it is too large"), after: nil) : .outcomeUnknown))
        let request = try #require(fixture.requests.first)
        #expect(request.maxReplyBytes < padded.count)
    }

    @Test func `a redirect is never followed`() async throws {
        for status in [301, 302, 303, 307, 308] {
            let fixture = AppStoreFixture { _ in
                .status(status, [(name: "location", value: "https://evil.example/")])
            }
            let api = try fixture.api()
            let end = await failure { () throws(AppStoreServerError) in try await api.transaction("1") }
            #expect(end == .unexpectedReply(status: status) && fixture.urls.allSatisfy { $0.contains("prod.example") })
        }
    }
}
