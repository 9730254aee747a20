package import Domain
import Logging
import Store

/// The current entitlements of users, and the announcement of changes that time alone makes.
///
/// A class, because status reads are short, and copying a structure with as many references takes a part of their time.
package final class Entitlements: Sendable {
    private static let boundaryInterval: Int64 = 5
    private static let boundaryLimit: Int64 = 200

    let store: StoreAccess
    let settlements: SettlementRunner
    let random: RandomSource
    let logger: Logger
    let snapshots = EntitlementCache<EntitlementSnapshot>(meter: CacheMeter("entitlements"))
    let statuses = EntitlementCache<PurchaseStatus>(meter: CacheMeter("status"))

    init(store: StoreAccess, settlements: SettlementRunner, random: RandomSource, logger: Logger) {
        self.store = store
        self.settlements = settlements
        self.random = random
        self.logger = logger
    }

    private var now: Timestamp { settlements.time.now }

    /// Reads a user's current entitlements; an unknown user has none.
    package func find(user: ExternalUserID) async throws(GatewayError) -> Answered<EntitlementSnapshot> {
        let answer = try await snapshots.answer(to: user, from: store, at: now) { db, state, now in
            let snapshot = EntitlementSnapshot(
                name: user.rawValue, version: state.version,
                fold: EntitlementRules.fold(try db.grants.list(of: state.id).value(), now: now),
                balances: try db.wallets.balances(of: state.id).value())
            return (snapshot, snapshot.next_change_at)
        }
        if let answer { return answer }
        let nothing = EntitlementSnapshot(
            name: user.rawValue, version: 0, fold: EntitlementRules.fold([], now: now), balances: [:])
        do { return try Answered(nothing) } catch { throw .internalError }
    }

    /// Reads a user's membership, with the token that the user's StoreKit purchases should carry.
    package func purchaseStatus(user: ExternalUserID) async throws(GatewayError) -> Answered<PurchaseStatus> {
        let answer = try await statuses.answer(to: user, from: store, at: now) { db, state, now in
            guard let token = state.appAccountToken else { return nil }
            let fold = EntitlementRules.fold(try db.grants.list(of: state.id).value(), now: now)
            return (PurchaseStatus(fold, token: token), fold.nextChangeAt)
        }
        if let answer { return answer }
        // The token is made at the first request.
        let (ids, now, candidate) = (settlements.ids, now, random.uuid4())
        return try await store.write { tx in
            let id = try tx.users.ensure(user, candidate: ids.make(), at: now)
            let token = try tx.users.appAccountToken(of: id, candidate: candidate)
            return try Answered(
                PurchaseStatus(EntitlementRules.fold(try tx.grants.list(of: id).value(), now: now), token: token))
        }
    }

    /// Finds the user whose StoreKit purchases carry a token; nil for an unknown or erased user.
    package func findUser(appAccountToken token: String) async throws(GatewayError) -> ExternalUserID? {
        let name = try await store.read { db in
            try db.users.findID(appAccountToken: token).value().flatMap { try db.users.findExternalID($0) }
        }
        return name.flatMap(ExternalUserID.init)
    }

    /// Announces the changes by time alone: each boundary of each user's entitlements once, in order.
    func announceBoundaries() async throws(GatewayError) -> JobOutcome {
        let now = now
        let users = try await store.read { db in try db.users.listDueChanges(until: now, limit: Self.boundaryLimit) }
        // Concurrently, so that several users share a commit.
        let failed = await withTaskGroup(of: Bool.self) { group in
            for user in users {
                group.addTask { [self] in (try? await announceBoundaries(of: user)) == nil }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        if failed > 0 {
            logger.warning("boundaries of entitlements could not be announced", metadata: ["users": "\(failed)"])
        }
        return .again(after: users.count == Int(Self.boundaryLimit) && failed == 0 ? 0 : Self.boundaryInterval)
    }

    func announceBoundaries(of user: ID<User>) async throws(GatewayError) {
        let audit = AuditContext(actor: .system(JobKind.crossBoundaries.rawValue), requestID: "")
        try await settlements.run(audit) { settlement in
            try settlement.tx.users.lock(user)
            try settlement.entitlements.publishDueChanges(of: user)
        }
    }
}

extension EntitlementSnapshot {
    /// Makes the answer of a user; the balances of Sandbox and Xcode are added up, apart from those of production.
    init(name: String, version: Int64, fold: EntitlementFold, balances: [Environment: [String: Int64]]) {
        self.init(
            userID: name, version: version, fold: fold, balances: balances[.production] ?? [:],
            sandboxBalances: (balances[.sandbox] ?? [:]).merging(balances[.xcode] ?? [:], uniquingKeysWith: +))
    }
}
