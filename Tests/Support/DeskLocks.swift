import Dispatch
package import Store

// Locks in this desk's PostgreSQL database.
extension GatewayFixture {
    /// Holds a lock in a transaction of its own until the body has ended; tasks that the body adds may wait for the
    /// lock.
    package func holding(
        _ lock: @escaping @Sendable (any Transaction) throws -> Void,
        while body: (inout ThrowingTaskGroup<Void, any Error>) async throws -> Void
    ) async throws {
        let holder = try database.openAnother(retries: 0)
        let (isHeld, release) = (Gate(), DispatchSemaphore(value: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { release.signal() }
            group.addTask {
                defer { isHeld.open() }
                // The holder's connection has a thread of its own, so that it may block; the server must not end the
                // idle session meanwhile.
                try await holder.write { tx in
                    try tx.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
                    try lock(tx)
                    isHeld.open()
                    release.wait()
                }
            }
            await isHeld.pass()
            try await body(&group)
            release.signal()
            try await group.waitForAll()
        }
        await holder.engine.close()
    }

    /// Waits until a number of connections wait for a lock.
    ///
    /// The loop yields between two looks: if it kept the processor, the tasks that it waits for would not run.
    package func untilWaiting(_ count: Int64) async throws {
        let sql = """
            SELECT COUNT(DISTINCT pid) AS n FROM pg_locks WHERE NOT granted AND pid IN (
                SELECT pid FROM pg_locks WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()))
            """
        while try await store.read({ db in try db.rows(sql).first?.int("n") ?? 0 }) < count {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
