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
