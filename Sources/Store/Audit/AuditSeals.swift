import Crypto
package import Domain
package import FoundationEssentials

/// A link of the chain over all subjects: the entries that it covers cannot be changed, moved or removed unnoticed.
package struct AuditSeal: Sendable {
    /// An entry that a seal covers, by its position and its hash.
    package struct Entry: Sendable {
        package let subject: String
        package let position: Int64
        package let digest: Data
    }

    package let position: Int64
    package let at: Timestamp
    /// The number of entries that it covers.
    package let entries: Int64
    package let digest: Data

    /// The hash that chains a seal to the one before it; the order of `entries` does not matter.
    package static func digest(
        after previous: Data, position: Int64, at: Timestamp, covering entries: [Entry]
    ) -> Data {
        var hash = SHA256()
        func add(_ field: Data) {
            hash.update(data: Data("\(field.count):".utf8))
            hash.update(data: field)
        }
        func add(_ field: String) { add(Data(field.utf8)) }
        add(previous)
        add(String(position))
        add(String(at.rawValue))
        add(String(entries.count))
        let sorted = entries.sorted {
            $0.subject == $1.subject
                ? $0.position < $1.position : $0.subject.utf8.lexicographicallyPrecedes($1.subject.utf8)
        }
        for entry in sorted {
            add(entry.subject)
            add(String(entry.position))
            add(entry.digest)
        }
        return Data(hash.finalize())
    }
}

extension AuditQueries {
    /// Lists seals in their order, after a position.
    package func listSeals(after position: Int64, limit: Int64) throws(StoreError) -> [AuditSeal] {
        try db.rows("SELECT * FROM audit_seals WHERE position > ? ORDER BY position LIMIT ?", [position, limit]).map {
            row throws(StoreError) in
            AuditSeal(
                position: try row.int("position"), at: try row.time("at"), entries: try row.int("entries"),
                digest: try row.blob("digest"))
        }
    }

    /// Lists the entries of a seal as they are stored now.
    package func listEntries(sealedBy seal: Int64) throws(StoreError) -> [AuditSeal.Entry] {
        try db.rows("SELECT subject, position, digest FROM audit WHERE seal = ?", [seal])
            .map(AuditSeal.Entry.init(row:))
    }

    /// Lists the subjects of entries whose seal is missing.
    package func listSubjectsWithoutSeal(limit: Int64) throws(StoreError) -> [String] {
        try db.rows(
            """
            SELECT DISTINCT subject FROM audit
            WHERE seal IS NOT NULL AND NOT EXISTS (SELECT 1 FROM audit_seals s WHERE s.position = audit.seal)
            ORDER BY subject LIMIT ?
            """, [limit]
        ).map { row throws(StoreError) in try row.text("subject") }
    }
}

extension AuditQueries where Connection == any Transaction {
    /// Seals entries that have no seal yet, whenever they were committed, and chains the seal to the one before it.
    ///
    /// - Returns: nil when everything is sealed.
    package func seal(limit: Int64, at now: Timestamp) throws(StoreError) -> AuditSeal? {
        let last = try tx.row("SELECT position, digest FROM audit_seals ORDER BY position DESC LIMIT 1")
        let position = (try last?.int("position") ?? 0) + 1
        let covered = try tx.rows(
            """
            WITH unsealed AS (
                SELECT subject, position FROM audit WHERE seal IS NULL
                ORDER BY subject, position LIMIT ?\(tx.dialect.forUpdate))
            UPDATE audit SET seal = ? WHERE (subject, position) IN (SELECT subject, position FROM unsealed)
            RETURNING subject, position, digest
            """, [limit, position]
        ).map(AuditSeal.Entry.init(row:))
        guard !covered.isEmpty else { return nil }
        let digest = AuditSeal.digest(
            after: try last?.blob("digest") ?? Data(), position: position, at: now, covering: covered)
        let made = try tx.rows(
            """
            INSERT INTO audit_seals (position, at, entries, digest) VALUES (?, ?, ?, ?)
            ON CONFLICT DO NOTHING RETURNING position
            """, [position, now, Int64(covered.count), digest])
        guard !made.isEmpty else { throw .unavailable("the audit is being sealed") }
        return AuditSeal(position: position, at: now, entries: Int64(covered.count), digest: digest)
    }
}

extension AuditSeal.Entry {
    init(row: Row) throws(StoreError) {
        self.init(
            subject: try row.text("subject"), position: try row.int("position"), digest: try row.blob("digest"))
    }
}
