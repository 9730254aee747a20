import Domain
import Store

/// Whether this node can serve: each check by its name, `ok` or what is wrong.
package struct Readiness: Encodable, Sendable {
    package let status: String
    package let checks: [String: String]

    package var isReady: Bool { status == "ready" }
}

extension Gateway {
    /// A node whose clock is further from the database's serves nobody.
    private static let clockTolerance: Int64 = 60

    /// The database answers, its migrations are this binary's, and its clock agrees with ours.
    package func readiness() async -> Readiness {
        var checks = ["database": "ok", "migrations": "ok", "clock": "ok"]
        do {
            let pending = try await pendingMigrations()
            if pending > 0 { checks["migrations"] = "\(pending) pending: run `paydesk migrate`" }
            let difference = abs(try await store.engine.databaseTime() - time.now.rawValue)
            if difference > Self.clockTolerance { checks["clock"] = "differs from the database's by \(difference) s" }
        } catch let error as MigrationError {
            checks["migrations"] = "\(error)"
        } catch {
            checks["database"] = "does not answer"
        }
        return Readiness(status: checks.values.allSatisfy { $0 == "ok" } ? "ready" : "not ready", checks: checks)
    }

    private func pendingMigrations() async throws -> Int {
        do { return try await Migrator.pending(Migrations.all, in: store).count } catch MigrationError.unknown {
            // A newer Paydesk has migrated while this node serves. A migration leaves what the release before it needs,
            // so that nodes are replaced one by one; at its next start this node would be refused.
            return 0
        }
    }

    /// Whether what has begun waits so long for the database that nothing more had better begin.
    package var isCongested: Bool { store.engine.isCongested }
}
