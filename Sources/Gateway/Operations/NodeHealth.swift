import Domain
import Store

/// The checks of a node by name, each `ok` or the reason of its failure.
package struct Readiness: Encodable, Sendable {
    package let status: String
    package let checks: [String: String]

    package var isReady: Bool { status == "ready" }
}

/// The state of this node, for load balancers and operators.
package struct NodeHealth: Sendable {
    let database: Store
    let time: TimeSource

    /// The seconds by which the node's clock may differ from the database's.
    private static let clockTolerance: Int64 = 60

    /// Checks that the database answers, has this binary's migrations, and agrees with this node's clock.
    package func readiness() async -> Readiness {
        var checks = ["database": "ok", "migrations": "ok", "clock": "ok"]
        do {
            let pending = try await pendingMigrations()
            if pending > 0 { checks["migrations"] = "\(pending) pending: run `paydesk migrate`" }
            let difference = abs(try await database.engine.databaseTime() - time.now.rawValue)
            if difference > Self.clockTolerance { checks["clock"] = "differs from the database's by \(difference) s" }
        } catch let error as MigrationError {
            checks["migrations"] = "\(error)"
        } catch {
            checks["database"] = "does not answer"
        }
        return Readiness(status: checks.values.allSatisfy { $0 == "ok" } ? "ready" : "not ready", checks: checks)
    }

    private func pendingMigrations() async throws -> Int {
        do { return try await Migrator.pending(Migrations.all, in: database).count } catch MigrationError.unknown {
            // A newer release has migrated the database while this node serves. A migration keeps what the release
            // before it needs, so that nodes can be replaced one by one; at its next start this node would be refused.
            return 0
        }
    }

    /// True where requests wait for the database for so long that new ones should be refused.
    package var isCongested: Bool { database.engine.isCongested }
}
