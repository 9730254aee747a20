import Domain
import FoundationEssentials
import Store

extension InvariantCheck {
    private static let auditPage: Int64 = 1_000

    /// Checks every audit chain; an entry that was changed, removed or added breaks it.
    func checkAudit() async throws -> [Violation] {
        var found: [Violation] = []
        var entries = progress.begin("audit entries")
        var (subject, last, previous, isWhole) = ("", 0 as Int64, Data(), true)
        while true {
            let (from, position) = (subject, last)
            let page = try await store.report { db in
                try db.audit.listChains(after: from, position, limit: Self.auditPage)
            }
            if page.isEmpty { return found }
            entries.add(page.count)
            for (position, entry, digest) in page {
                if entry.subject != subject { (subject, last, previous, isWhole) = (entry.subject, 0, Data(), true) }
                if isWhole, position != last + 1 || entry.digest(after: previous, position: position) != digest {
                    isWhole = false
                    found.append(Violation(invariant: 9, subject: subject, detail: "the audit chain is broken"))
                    if found.count >= Int(Self.limit) { return found }
                }
                (last, previous) = (position, digest)
            }
        }
    }

    /// Checks the seals: each is the hash of the seal before it and of the entries that it covers, none of which is
    /// missing.
    func checkSeals() async throws -> [Violation] {
        var found: [Violation] = []
        var seals = progress.begin("audit seals")
        var (last, previous) = (0 as Int64, Data())
        while let seal = try await nextSeal(after: last) {
            let covered = try await store.report { db in try db.audit.listEntries(sealedBy: seal.position) }
            let digest = AuditSeal.digest(after: previous, position: seal.position, at: seal.at, covering: covered)
            if seal.position != last + 1 || digest != seal.digest || Int64(covered.count) != seal.entries {
                found.append(Violation(invariant: 9, subject: "seal/\(seal.position)", detail: Self.brokenSeal))
            }
            if found.count >= Int(Self.limit) { return found }
            (last, previous) = (seal.position, seal.digest)
            seals.add(1)
        }
        let lost = try await store.report { db in try db.audit.listSubjectsWithoutSeal(limit: Self.limit) }
        return found + lost.map { Violation(invariant: 9, subject: $0, detail: "an audit entry's seal is not there") }
    }

    private static var brokenSeal: String {
        "a seal is not the hash of the one before it and of the audit that it covers"
    }

    private func nextSeal(after position: Int64) async throws -> AuditSeal? {
        try await store.report { db in try db.audit.listSeals(after: position, limit: 1).first }
    }
}
