package import Domain
import FoundationEssentials
import Store
import Synchronization

/// The time for which a signed snapshot may be believed.
package struct SnapshotLife: Sendable, Equatable {
    /// The hours after which any snapshot ends.
    package var lifetimeHours: Int64
    /// The hours for which a snapshot outlives the next change by time alone, for apps that are offline then.
    package var graceHours: Int64

    package init(lifetimeHours: Int64 = 72, graceHours: Int64 = 24) {
        self.lifetimeHours = lifetimeHours
        self.graceHours = graceHours
    }
}

/// Signs what users own, for apps that are offline, and publishes the keys that verify it.
package struct SignedSnapshots: Sendable {
    /// The `typ` of the header, which no login accepts.
    package static let type = "paydesk-entitlements+jwt"
    /// The seconds of leeway that a verifier may give, for which an old key stays published longer.
    private static let leeway: Int64 = 120

    private let store: StoreAccess
    private let settlements: SettlementRunner
    private let entitlements: Entitlements
    private let keyRing: KeyRing
    private let time: BusinessTime
    private let random: RandomSource
    private let issuer: String
    private let life: SnapshotLife
    private let opened = OpenedKey()

    init(
        store: StoreAccess, settlements: SettlementRunner, entitlements: Entitlements, keyRing: KeyRing,
        time: BusinessTime, random: RandomSource, issuer: String, life: SnapshotLife
    ) {
        self.store = store
        self.settlements = settlements
        self.entitlements = entitlements
        self.keyRing = keyRing
        self.time = time
        self.random = random
        self.issuer = issuer
        self.life = life
    }

    /// Signs what a user owns now.
    ///
    /// - Returns: a JWS in its compact form.
    package func sign(for user: ExternalUserID) async throws(GatewayError) -> String {
        let snapshot = try await entitlements.find(user: user)
        let key = try await currentKey()
        let now = time.real.now
        let head = Head(exp: end(from: now, nextChange: snapshot.value.next_change_at), iat: now, iss: issuer)
        do {
            // The user's data goes in as it stands, with the same bytes as in the JSON answer.
            var claims = Data(#"{"data":"#.utf8)
            claims.append(snapshot.json)
            claims.append(contentsOf: ",".utf8)
            claims.append(contentsOf: try head.storedJSON().utf8.dropFirst().dropLast())
            claims.append(contentsOf: #","sub":\#(try user.rawValue.storedJSON())}"#.utf8)
            return try key.sign(claims, type: Self.type)
        } catch {
            throw .internalError
        }
    }

    private struct Head: Encodable {
        let exp: Timestamp
        let iat: Timestamp
        let iss: String
    }

    /// Returns the real time at which a snapshot ends.
    private func end(from now: Timestamp, nextChange: Timestamp?) -> Timestamp {
        let longest = now.adding(seconds: life.lifetimeHours * 3_600)
        guard let nextChange else { return longest }
        return min(longest, time.realTime(of: nextChange).adding(seconds: life.graceHours * 3_600))
    }

    // MARK: Keys

    /// Lists the public keys of snapshots that may be valid, the newest first.
    package func publishedKeys() async throws(GatewayError) -> [PublishedSnapshotKey] {
        let now = time.real.now
        var records = try await store.read { db in try db.snapshotKeys.listPublished(at: now) }
        if records.isEmpty {
            _ = try await currentKey()
            records = try await store.read { db in try db.snapshotKeys.listPublished(at: now) }
        }
        return records.map { PublishedSnapshotKey($0.publicKey) }
    }

    /// Makes a new key that signs from now on; what the old one signed stays valid.
    ///
    /// - Returns: the name of the key that signs now.
    package func rotate(context: CallContext) async throws(GatewayError) -> String {
        let key = try SnapshotKey(random: random)
        let (now, keyRing) = (time.real.now, keyRing)
        let end = now.adding(seconds: life.lifetimeHours * 3_600 + Self.leeway)
        return try await settlements.run(context.audit) { settlement in
            let keys = settlement.tx.snapshotKeys
            let before = try keys.listSigning().first?.kid ?? ""
            guard try keys.rotate(to: try key.sealed(by: keyRing), publishingOthersUntil: end, at: now) else {
                throw GatewayError.conflict(reason: "another rotation was made at the same time")
            }
            try settlement.log.audit(
                subject: "snapshot_keys", "snapshot_keys.rotated", before: before, after: key.kid)
            return key.kid
        }
    }

    /// Finds the newest key that this node can open, and makes one where there is none.
    ///
    /// Nodes that begin at once make one key. A node without the key of `secrets.keys` that sealed the others makes its
    /// own; the public keys of all are published.
    private func currentKey() async throws(GatewayError) -> SnapshotKey {
        for _ in 0..<3 {
            let records = try await store.read { db in try db.snapshotKeys.listSigning() }
            if let key = opened.first(of: records, with: keyRing) { return key }
            let key = try SnapshotKey(random: random)
            let (now, keyRing, newest) = (time.real.now, keyRing, records.first?.n ?? 0)
            _ = try await store.write { tx in
                try tx.snapshotKeys.insert(try key.sealed(by: keyRing), after: newest, at: now)
            }
        }
        throw .temporarilyUnavailable(retryAfter: 1)
    }
}

/// The opened key that signs, which is opened once.
private final class OpenedKey: Sendable {
    private let key = Mutex<SnapshotKey?>(nil)

    func first(of records: [SnapshotKeyRecord], with keyRing: KeyRing) -> SnapshotKey? {
        for record in records {
            if let known = key.withLock({ $0 }), known.kid == record.kid { return known }
            guard let opened = try? SnapshotKey(record, with: keyRing) else { continue }
            key.withLock { $0 = opened }
            return opened
        }
        return nil
    }
}
