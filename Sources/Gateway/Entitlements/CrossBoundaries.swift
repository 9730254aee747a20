import Domain
import Logging
import Store

extension Gateway {
    private static let boundaryInterval: Int64 = 5
    private static let boundaryLimit: Int64 = 200
    /// Announces what time alone changed: each boundary of each user's entitlements once, in order.
    func crossBoundaries() async throws(GatewayError) -> JobOutcome {
        let now = time.now
        let users = try await read { db in try db.users.listDueChanges(until: now, limit: Self.boundaryLimit) }
        // Together, so that they share commits.
        let failed = await withTaskGroup(of: Bool.self) { group in
            for user in users {
                group.addTask { (try? await self.announce(user, until: now)) == nil }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        if failed > 0 {
            logger.warning("boundaries of entitlements could not be announced", metadata: ["users": "\(failed)"])
        }
        return .again(after: users.count == Int(Self.boundaryLimit) && failed == 0 ? 0 : Self.boundaryInterval)
    }

    private func announce(_ user: ID<User>, until now: Timestamp) async throws(GatewayError) {
        try await settle(AuditContext(actor: .system(JobKind.crossBoundaries.rawValue), requestID: "")) { settlement in
            try settlement.tx.users.lock(user)
            try settlement.entitlements.publishDueChanges(of: user)
        }
    }
}
