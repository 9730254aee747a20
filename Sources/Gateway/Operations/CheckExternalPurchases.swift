import Domain
import Store

extension InvariantCheck {
    /// The seconds after which a report that is due must have been accepted.
    private static let reportPatience: Int64 = 86_400

    /// Checks that every fact about money stands in exactly one accepted line item that holds, and that every token
    /// that is due has an accepted report.
    ///
    /// The subjects are Apple's ids of the tokens.
    func checkExternalPurchases() async throws -> [Violation] {
        guard let time else { return [] }
        let real = time.now
        return try await store.report { db in
            let before = try db.clock.find().businessTime(at: real).adding(seconds: -Self.reportPatience)
            func violations(_ subjects: [String], _ detail: String) -> [Violation] {
                subjects.map { Violation(invariant: 21, subject: $0, detail: detail) }
            }
            return violations(
                try db.consistency.listUnreportedFacts(before: before, limit: Self.limit),
                "money of an order with this token stands in no accepted line item")
                + violations(
                    try db.consistency.listReportedFactsThatAreGone(before: before, limit: Self.limit),
                    "a line item was accepted, and what it reports holds no more")
                + violations(
                    try db.consistency.listUnreportedTokens(dueBefore: before, limit: Self.limit),
                    "the token is due for more than a day and has no accepted report")
        }
    }
}
