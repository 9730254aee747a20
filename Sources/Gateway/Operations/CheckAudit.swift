import Domain
import FoundationEssentials
import Store

extension InvariantCheck {
    /// Walks every audit chain; an entry that was changed, removed or added breaks it.
    func checkAudit() async throws -> [Violation] {
        var found: [Violation] = []
        var last = ""
        while let subject = try await nextAuditSubject(after: last) {
            last = subject
            let isWhole = try await store.read { db in
                var previous = Data()
                var expected: Int64 = 1
                for (position, entry, digest) in try db.auditChain(subject) {
                    guard position == expected, entry.digest(after: previous, position: position) == digest else {
                        return false
                    }
                    previous = digest
                    expected += 1
                }
                return true
            }
            if !isWhole { found.append(Violation(invariant: 9, subject: subject, detail: "the audit chain is broken")) }
            if found.count >= Int(Self.limit) { return found }
        }
        return found
    }

    private func nextAuditSubject(after last: String) async throws -> String? {
        try await store.read { db in
            try db.row("SELECT subject FROM audit WHERE subject > ? ORDER BY subject LIMIT 1", last)?.text("subject")
        }
    }

    /// Walks the seals: each is the hash of the one before it and of what it covers, which is all there.
    func checkSeals() async throws -> [Violation] {
        var found: [Violation] = []
        var (last, previous) = (0 as Int64, Data())
        while let seal = try await nextSeal(after: last) {
            let covered = try await store.read { db in try db.auditEntries(sealedBy: seal.position) }
            let digest = AuditSeal.digest(after: previous, position: seal.position, at: seal.at, covering: covered)
            if seal.position != last + 1 || digest != seal.digest || Int64(covered.count) != seal.entries {
                found.append(Violation(invariant: 9, subject: "seal/\(seal.position)", detail: Self.brokenSeal))
            }
            if found.count >= Int(Self.limit) { return found }
            (last, previous) = (seal.position, seal.digest)
        }
        let lost = try await store.read { db in try db.auditSubjectsWithoutSeal(limit: Self.limit) }
        return found + lost.map { Violation(invariant: 9, subject: $0, detail: "an audit entry's seal is not there") }
    }

    private static var brokenSeal: String {
        "a seal is not the hash of the one before it and of the audit that it covers"
    }

    private func nextSeal(after position: Int64) async throws -> AuditSeal? {
        try await store.read { db in try db.auditSeals(after: position, limit: 1).first }
    }
}
