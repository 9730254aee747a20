import AppleIAPProvider
import AppleTrust
import Foundation
import ProviderKit
import ProviderTesting
import Testing

struct AppStorePagesTests {
    private static func page(_ texts: [String], _ revision: String?, _ hasMore: Bool) -> AppStoreFixture.Reply {
        let signed = texts.map { "\"\($0)\"" }.joined(separator: ",")
        let cursor = revision.map { "\"revision\":\"\($0)\"," } ?? ""
        return .json("{\(cursor)\"hasMore\":\(hasMore),\"signedTransactions\":[\(signed)]}")
    }

    private static func revision(_ request: OutgoingRequest) -> String? {
        URLComponents(string: request.url)?.queryItems?.first { $0.name == "revision" }?.value
    }

    @Test func `pages follow each other in one environment`() async throws {
        let fixture = AppStoreFixture([
            .apple(4_040_010), Self.page(["a.a.a"], "1", true), Self.page(["b.b.b", "c.c.c"], "2", true),
            Self.page([], "3", true), Self.page(["d.d.d"], "4", false),
        ])
        var cursors: [String?] = []
        var items: [SignedText] = []
        for try await page in try fixture.api().history(of: "1") {
            #expect(page.environment == .sandbox)
            cursors.append(page.cursor)
            items += page.items
        }
        #expect(items == ["a.a.a", "b.b.b", "c.c.c", "d.d.d"].compactMap(SignedText.init))
        #expect(cursors == ["1", "2", "3", "4"])
        #expect(fixture.requests.map(Self.revision) == [nil, nil, "1", "2", "3"])
        #expect(fixture.hosts == ["prod.example"] + Array(repeating: "sand.example", count: 4))
    }

    @Test func `a page is fetched when it is asked for`() async throws {
        let fixture = AppStoreFixture([Self.page(["a.a.a"], "1", true), Self.page(["b.b.b"], "2", false)])
        var pages = try fixture.api().history(of: "1").makeAsyncIterator()
        #expect(fixture.requests.isEmpty)
        #expect(try await pages.next()?.items.count == 1 && fixture.requests.count == 1)
        #expect(try await pages.next()?.cursor == "2" && fixture.requests.count == 2)
        #expect(try await pages.next() == nil && fixture.requests.count == 2)
    }

    @Test(
        arguments: [
            (nil, ["1", "1"], 2), ("1", ["1"], 1), (nil, ["1", "2", "1", "2", "1", "2"], 4),
            (nil, ["1", "2", "3", "1", "2", "3", "1"], 7), ("0", ["1", "0", "1", "0"], 4),
        ] as [(String?, [String], Int)])
    func `a loop of pages is left`(start: String?, revisions: [String], calls: Int) async throws {
        let fixture = AppStoreFixture(revisions.map { Self.page(["a.a.a"], $0, true) })
        let (_, end) = await readAll(try fixture.api([.production]).history(of: "1", after: start))
        #expect(end == .pagingLoop && fixture.requests.count == calls)
    }

    @Test func `pages without an end end`() async throws {
        let fixture = AppStoreFixture { request in
            Self.page(["a.a.a"], "\((Self.revision(request).flatMap(Int.init) ?? 0) + 1)", true)
        }
        let (items, end) = await readAll(try fixture.api([.production]).refunds(of: "1"))
        #expect(end == .tooManyPages && items.count == 1_000 && fixture.requests.count == 1_000)
    }

    @Test func `a list that failed stays at its end`() async throws {
        let fixture = AppStoreFixture([Self.page([], "1", true), .apple(4_000_005), Self.page([], "2", false)])
        var pages = try fixture.api([.production]).history(of: "1").makeAsyncIterator()
        _ = try await pages.next()
        await #expect(throws: AppStoreServerError.pagingExpired(code: 4_000_005)) { try await pages.next() }
        #expect(try await pages.next() == nil && fixture.requests.count == 2)
    }

    @Test(
        arguments: [
            (#"{"revision":"1","hasMore":true}"#, "signedTransactions is missing"),
            (#"{"revision":"1","signedTransactions":[]}"#, "hasMore is missing"),
            (#"{"hasMore":true,"signedTransactions":[]}"#, "revision is missing although there is more"),
            (#"{"revision":"","hasMore":true,"signedTransactions":[]}"#, "revision is missing although there is more"),
            (#"{"revision":"1","hasMore":"yes","signedTransactions":[]}"#, "hasMore is of another type"),
            (#"{"revision":"1","hasMore":false,"signedTransactions":["a.b"]}"#, "signedTransactions.0 is malformed"),
            (#"{"revision":"1","hasMore":false,"signedTransactions":[null]}"#, "signedTransactions.0 is null"),
            (#"{"revision":"1","hasMore":false,"signedTransactions":["a.b.c""#, "it is no JSON"),
            (#"[]"#, "the whole is of another type"),
        ])
    func `half a page is none`(body: String, damage: String) async throws {
        let fixture = AppStoreFixture { _ in .json(body) }
        let (items, end) = await readAll(try fixture.api([.production]).history(of: "1"))
        #expect(items.isEmpty && end == .retryable(.damaged(damage), after: nil))
        let healed = AppStoreFixture([.json(body), Self.page(["a.a.a"], "1", false)])
        let (all, none) = await readAll(try healed.api([.production]).history(of: "1"))
        #expect(all.count == 1 && none == nil)
    }

    @Test func `notifications are paged by their token with the same question`() async throws {
        let fixture = AppStoreFixture([
            .json(#"{"hasMore":true,"paginationToken":"t1","notificationHistory":[{"signedPayload":"a.b.c"}]}"#),
            .json(#"{"hasMore":false,"notificationHistory":[{"signedPayload":"d.e.f"}]}"#),
        ])
        let (items, end) = await readAll(try fixture.api().notifications(from: 1, until: 2, in: .sandbox))
        #expect(end == nil && items.map(\.signed) == ["a.b.c", "d.e.f"].compactMap(SignedText.init))
        let base = "https://sand.example/inApps/v1/notifications/history"
        #expect(fixture.urls == [base, "\(base)?paginationToken=t1"])
        #expect(Set(fixture.requests.map(\.body)) == [Data(#"{"endDate":2,"startDate":1}"#.utf8)])
    }
}
