import Store

/// Writes events that were committed and never dispatched, as many as a long halt of the dispatcher would leave.
enum EventSeeder {
    /// Takes the place of the random part in an id.
    private static let mark = "00000000"
    private static let chunk = 20_000
    private static let sequences = 5
    /// Subjects whose events alternate, so that several of one subject are due at the same time.
    private static let subjects = 8

    /// Copies the event `order.paid` of the installation's one attach while the server is down.
    static func fill(_ installation: Installation, with count: Int) async throws {
        let chunks = stride(from: 0, to: count, by: chunk).map { first in
            [statement(from: first, through: min(first + chunk, count) - 1)]
        }
        try await Seeder.write(chunks, to: try DatabaseURL(installation.databaseURL))
    }

    /// The number of the written event with an id; nil for the id of another event.
    static func number(of id: String) -> Int? {
        let parts = (id.dropFirst(14).prefix(8), id.dropFirst(22))
        return parts.0 == mark ? Int(parts.1) : nil
    }

    /// The statement that writes some of the events, on either engine.
    private static func statement(from first: Int, through last: Int) -> String {
        let group = subjects * sequences
        let subject = digits("n / \(group) * \(subjects) + n % \(subjects)")
        return """
            INSERT INTO events (id, subject, sequence, type, user_id, partner, at, data)
            WITH RECURSIVE s (n) AS (SELECT \(first) UNION ALL SELECT n + 1 FROM s WHERE n < \(last)),
                real AS (SELECT * FROM events WHERE type = 'order.paid' ORDER BY id LIMIT 1),
                made AS (
                    SELECT n, substr(id, 1, 14) || '\(mark)' || \(digits("n")) AS new_id,
                        substr(subject, 1, 14) || '\(mark)' || \(subject) AS new_subject, real.*
                    FROM s, real)
            SELECT new_id, new_subject, 1 + n % \(group) / \(subjects), type, user_id, partner, at,
                replace(data, subject, new_subject)
            FROM made
            """
    }

    /// SQL for a number in 8 digits.
    private static func digits(_ number: String) -> String { "substr(CAST(100000000 + \(number) AS text), 2)" }
}
