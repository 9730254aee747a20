import Gateway
import Synchronization
import TestSupport
import Testing

@Suite("The progress of a check and of a replay")
struct ReadingProgressTests {
    /// The last count of each part.
    private final class Counts: Sendable {
        private let counts = Mutex<[String: Int]>([:])

        var progress: ReadingProgress {
            ReadingProgress { part, count in self.counts.withLock { $0[part] = count } }
        }

        subscript(part: String) -> Int? { counts.withLock { $0[part] } }
    }

    @Test(arguments: TestEngine.allCases)
    func `each part tells its rows`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            for user in ["alice", "bob"] { try await apple.attach(apple.sale(), user: user) }
            let checked = Counts()
            #expect(try await InvariantCheck(store: apple.store, progress: checked.progress).run() == [])
            #expect(checked["orders"] == 2 && checked["users"] == 2 && checked["subscriptions"] == 0)
            #expect(try #require(checked["rules"]) > 0)
            #expect(try #require(checked["audit entries"]) > 1)
            let replayed = Counts()
            try await withDatabase(on: .sqlite) { scratch in
                _ = try await ReplayInbox(
                    source: apple.store, scratch: scratch.store, gateway: apple.gateway, progress: replayed.progress
                ).run()
            }
            #expect(replayed["purchases compared"] == 2 && replayed["users copied"] == 2)
            #expect(try #require(replayed["facts and acts applied"]) > 1)
        }
    }
}
