import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import Testing

struct ProviderCacheTests {
    private let clock = ManualClock()

    private final class Makings: Sendable { let count = Mutex(0) }

    private func cache(_ entries: Int = 3, _ bytes: Int = 100) -> ProviderCache {
        ProviderCache(time: clock.time, entryLimit: entries, byteLimit: bytes)
    }

    private func entry(_ text: String, _ seconds: Int64 = 60) -> ProviderCache.Entry {
        ProviderCache.Entry(Data(text.utf8), until: clock.now.adding(seconds: seconds))
    }

    @Test func `a value is there until its time is over`() {
        let cache = cache()
        cache.keep("a", entry("1"))
        clock.advance(seconds: 59)
        #expect(cache.value("a") == Data("1".utf8))
        clock.advance(seconds: 1)
        #expect(cache.value("a") == nil)
        cache.keep("a", entry("2", 0))
        #expect(cache.value("a") == nil)
    }

    @Test func `the least recently used goes first, and the ended before it`() {
        let cache = cache()
        for name in ["a", "b", "c"] { cache.keep(name, entry(name)) }
        _ = cache.value("a")
        cache.keep("d", entry("d"))
        #expect(["a", "b", "c", "d"].map { cache.value($0) != nil } == [true, false, true, true])
        cache.keep("a", entry("a", 5))
        clock.advance(seconds: 5)
        cache.keep("e", entry("e"))
        #expect(["a", "c", "d", "e"].map { cache.value($0) != nil } == [false, true, true, true])
    }

    @Test func `bytes are bounded, keys included`() {
        let cache = cache(10, 20)
        cache.keep("a", entry(String(repeating: "x", count: 15)))
        cache.keep("b", entry(String(repeating: "y", count: 5)))
        #expect(cache.value("a") == nil && cache.value("b") != nil)
        cache.keep("b", entry(String(repeating: "z", count: 20)))
        #expect(cache.value("b") == nil, "what alone is too large is not kept, and its forerunner is not either")
        for round in 0..<1_000 { cache.keep("key \(round)", entry("1234567890")) }
        #expect((0..<1_000).count { cache.value("key \($0)") != nil } == 1)
    }

    @Test func `forgetting a bad value leaves its successor`() {
        let cache = cache()
        cache.keep("token", entry("old"))
        cache.keep("token", entry("new"))
        cache.forget("token", where: Data("old".utf8))
        #expect(cache.value("token") == Data("new".utf8))
        cache.forget("token", where: Data("new".utf8))
        #expect(cache.value("token") == nil)
        cache.keep("token", entry("newer"))
        cache.forget("token")
        #expect(cache.value("token") == nil)
    }

    @Test func `many who ask at once wait for one making`() async throws {
        let (cache, entry) = (cache(), entry("1"))
        let makings = Makings()
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Data.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await cache.value("a") { () async throws(ProviderError) in
                        makings.count.withLock { $0 += 1 }
                        for await _ in gate { break }
                        return entry
                    }
                }
            }
            open.yield()
            for try await value in group { #expect(value == Data("1".utf8)) }
        }
        #expect(makings.count.withLock { $0 } == 1)
    }

    @Test func `a making that fails is made again, and a bad value stays until then`() async throws {
        let cache = cache()
        cache.keep("a", entry("bad"))
        await #expect(throws: ProviderError.unavailable) {
            _ = try await cache.value("a", where: { $0 != Data("bad".utf8) }) {
                () async throws(ProviderError) in throw .unavailable
            }
        }
        #expect(cache.value("a") == Data("bad".utf8))
        let good = entry("good")
        let value = try await cache.value("a", where: { $0 != Data("bad".utf8) }) { good }
        #expect(value == Data("good".utf8))
        let kept = try await cache.value("a") { () async throws(ProviderError) in throw .outcomeUnknown }
        #expect(kept == Data("good".utf8))
    }

    @Test func `a caller that is cancelled does not end the making of the others`() async throws {
        let (cache, entry) = (cache(), entry("1"))
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let first = Task {
            try await cache.value("a") { () async throws(ProviderError) in
                begin.yield()
                for await _ in gate { break }
                return entry
            }
        }
        for await _ in begun { break }
        let second = Task { try await cache.value("a") { () async throws(ProviderError) in throw .unavailable } }
        first.cancel()
        open.yield()
        #expect(try await second.value == Data("1".utf8))
    }

    @Test func `it shows no value`() {
        let cache = cache()
        cache.keep("a", entry("swordfish"))
        var dumped = ""
        dump(cache, to: &dumped)
        for text in [dumped, "\(cache)", String(reflecting: cache)] {
            #expect(!text.contains("swordfish") && !text.contains("\(Array("swordfish".utf8))"))
        }
    }

    @Test func `no two contexts share a cache`() {
        func context() -> ProviderContext {
            ProviderContext(
                http: RecordingTransport { _ throws(HTTPTransportError) in throw .notSent }, time: clock.time,
                random: SeededRandom().source, book: InMemoryBook(), notifyURL: "", publicURL: "")
        }
        let (one, other) = (context(), context())
        one.cache.keep("a", entry("1"))
        #expect(one.cache.value("a") != nil && other.cache.value("a") == nil)
    }
}
