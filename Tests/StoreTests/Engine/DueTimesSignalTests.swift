import Domain
import Synchronization
import TestSupport
import Testing

@testable import Store

@Suite struct DueTimesSignalTests {
    private static let job = ID<Job>("job_01jdgk4zs8f4d9v3qkr6t2m7hx")
    private static let now = Timestamp(1_000)

    @Test(arguments: TestEngine.allCases)
    func `commits tell where they change when a job is due, if nobody else writes`(_ engine: TestEngine) async throws {
        try await withStore(on: engine) { store in
            let job = try #require(Self.job)
            let calls = Mutex(0)
            let counted = store.engine.afterChangesOfDueTimes { calls.withLock { $0 += 1 } }
            #expect(counted == (engine == .sqlite))
            /// Writes, and returns the number of calls after the commit.
            func write(_ body: @escaping @Sendable (any Transaction) throws -> Void) async throws -> Int {
                try? await store.write(body)
                // The writer calls after it has answered, and before it commits what comes next.
                try await store.write { tx in _ = try tx.rows("SELECT 1 AS one", []) }
                return calls.withLock { calls in
                    defer { calls = 0 }
                    return calls
                }
            }
            let told = counted ? 1 : 0
            let lease = JobLease(job: job, epoch: 1)
            #expect(
                try await write { try $0.jobs.enqueue(job, kind: "k", subject: "s", delay: 5, at: Self.now) } == told)
            #expect(
                try await write { _ = try $0.jobs.claim(kind: "k", subject: "s", lease: 60, at: Self.now) } == 0)
            #expect(try await write { _ = try $0.jobs.extend(lease, by: 60, at: Self.now) } == 0)
            #expect(
                try await write {
                    try $0.jobs.ensure(job, kind: "k", subject: "t", at: Self.now)
                    throw StoreError.corrupt("a write that fails tells nothing")
                } == 0)
            #expect(
                try await write { _ = try $0.jobs.postpone(lease, requests: 1, delay: 9, at: Self.now) } == told)
            #expect(try await write { try $0.jobs.delete(kind: "k", subject: "s") } == 0)
        }
    }
}

extension DueTimesSignalTests {
    @Test func `the next change by time is a due time, the end of a lease, or the end of a move's`() async throws {
        try await withStore(on: .sqlite) { store in
            let (job, other) = (try #require(Self.job), try #require(ID<Job>("job_01jdgk4zs8f4d9v3qkr6t2m7hy")))
            func wait(at second: Int64) async throws -> Int64? {
                let now = ClockReading(real: Timestamp(second), business: Timestamp(second + 500))
                return try await store.read { db in try db.dueTimes.secondsUntilDue(of: ["k"], at: now) }
            }
            #expect(try await wait(at: 1_000) == nil)
            try await store.write { tx in
                try tx.jobs.enqueue(job, kind: "k", subject: "s", delay: 9, at: Timestamp(1_500))
                try tx.jobs.enqueue(other, kind: "other", subject: "s", delay: 2, at: Timestamp(1_500))
            }
            #expect(try await wait(at: 1_000) == 9)
            #expect(try await wait(at: 1_008) == 1)
            #expect(try await wait(at: 1_009) == nil)
            try await store.write { tx in
                _ = try tx.jobs.claim(kind: "k", subject: "s", lease: 60, at: Timestamp(1_009))
            }
            #expect(try await wait(at: 1_009) == 60)
            try await store.write { tx in
                _ = try tx.clock.begin(
                    lease: 20, at: ClockReading(real: Timestamp(1_010), business: Timestamp(1_510)))
            }
            #expect(try await wait(at: 1_011) == 19)
        }
    }
}
