import Domain
import Logging
import Store

/// Transactions and snapshots of the database, with the errors of use cases.
struct StoreAccess: Sendable {
    let database: Store
    private let logger: Logger
    private let outages: OutageLog

    init(_ database: Store, logger: Logger, time: TimeSource) {
        self.database = database
        self.logger = logger
        outages = OutageLog(logger: logger, time: time)
    }

    /// Runs a transaction; inside a job it is committed only while the job's lease is held.
    ///
    /// - Throws: `temporarilyUnavailable` where the database does not answer, `leaseLost`, and the errors of the body.
    func write<T: Sendable>(_ body: @escaping @Sendable (any Transaction) throws -> T) async throws(GatewayError) -> T {
        do {
            guard let lease = JobLease.current else { return try await database.write(body) }
            return try await database.write { tx in
                let isHeld = try tx.jobs.isCurrent(lease)
                let result = Result { try body(tx) }
                // Without the lease no other result of the body counts.
                guard try isHeld.value() else { throw GatewayError.leaseLost }
                return try result.get()
            }
        } catch {
            throw translate(error)
        }
    }

    /// Reads a snapshot.
    func read<T: Sendable>(_ body: @escaping @Sendable (any Database) throws -> T) async throws(GatewayError) -> T {
        do { return try await database.read(body) } catch { throw translate(error) }
    }

    /// Reads a snapshot on the threads for long reads, such as lists (``Store/report(_:)``).
    ///
    /// - Throws: `temporarilyUnavailable` where too many reads wait, or this one takes too long.
    func report<T: Sendable>(
        _ body: @escaping @Sendable (any Database) throws -> T
    ) async throws(GatewayError) -> T {
        do { return try await database.report(body) } catch { throw translate(error) }
    }

    /// Maps an outage to 503, which clients retry; logs any other error and returns it without details.
    private func translate(_ error: any Error) -> GatewayError {
        switch error {
        case let error as GatewayError: return error
        case StoreError.unavailable(let reason):
            outages.failed(because: reason)
            return .temporarilyUnavailable(retryAfter: 1)
        case StoreError.outcomeUnknown(let reason), StoreError.failed(let reason):
            logger.warning("the database did not answer", metadata: ["reason": "\(reason)"])
            return .temporarilyUnavailable(retryAfter: 1)
        default:
            logger.error("a use case failed", metadata: ["error": "\(error)"])
            return .internalError
        }
    }
}
