package import Domain
import Store

/// Meters, which limit the use of something in each period.
package struct UsageMeters: Sendable {
    let store: StoreAccess
    let meters: ConfiguredMeters
    let ids: IDSource
    let time: BusinessTime

    /// Returns a user's use of a meter in the current period.
    ///
    /// - Throws: `notFound` for an unknown meter.
    package func usage(of meter: String, user: ExternalUserID) async throws(GatewayError) -> Usage {
        let meter = try find(meter)
        let (now, window) = (time.now, meter.window(at: time.now))
        return try await store.read { db in
            let id = try db.users.findID(user)
            let used = try id.map { try db.meters.used(meter.id, user: $0, period: window.start) } ?? 0
            let limit = meter.limit(tier: try id.map { try Self.tier(of: $0, in: db, now: now) } ?? "")
            return Usage(meter: meter.id, limit: limit, used: used, resetsAt: window.end)
        }
    }

    /// Consumes an amount of a meter, all or nothing.
    ///
    /// - Throws: `notFound`, `invalidRequest`, `usageLimitReached` (then nothing is consumed).
    package func consume(
        _ meter: String, amount: Int64, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> Usage {
        let meter = try find(meter)
        guard (1...1_000_000).contains(amount) else {
            throw .invalidRequest(field: "amount", reason: "must be 1 to 1,000,000")
        }
        // An earlier run under the same key has consumed it.
        if context.resumed != nil { return try await usage(of: meter.id, user: user) }
        let (ids, now, window) = (ids, time.now, meter.window(at: time.now))
        return try await store.write { tx in
            try tx.bind(context, to: "usage/\(meter.id)")
            let id = try tx.users.ensure(user, candidate: ids.make(), at: now)
            let limit = meter.limit(tier: try Self.tier(of: id, in: tx, now: now))
            let used = try tx.meters.consume(amount, of: meter.id, user: id, period: window.start, limit: limit)
            guard let used else {
                throw GatewayError.usageLimitReached(retryAfter: max(1, window.end.rawValue - now.rawValue))
            }
            return Usage(meter: meter.id, limit: limit, used: used, resetsAt: window.end)
        }
    }

    private func find(_ meter: String) throws(GatewayError) -> Meter {
        guard let known = meters.all.first(where: { $0.id == meter }) else { throw .unknown(.meter, meter) }
        return known
    }

    private static func tier(of user: ID<User>, in db: any Database, now: Timestamp) throws -> String {
        EntitlementRules.fold(try db.grants.list(of: user).value(), now: now).membership?.tier ?? ""
    }
}
