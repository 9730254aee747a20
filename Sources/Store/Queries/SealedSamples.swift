package import Foundation

extension Database {
    /// The newest sealed secret of each kind that a node has to open.
    package func newestSealed() throws(StoreError) -> [Data] {
        var newest: [Data] = []
        for select in [
            "SELECT secret AS sealed FROM webhooks ORDER BY id DESC LIMIT 1",
            """
            SELECT instruction AS sealed FROM (SELECT id, instruction FROM payments ORDER BY id DESC LIMIT 100) AS newest
            WHERE instruction IS NOT NULL ORDER BY id DESC LIMIT 1
            """,
            "SELECT body AS sealed FROM notifications WHERE body IS NOT NULL ORDER BY received_at DESC LIMIT 1",
        ] {
            if let row = try row(select) { newest.append(try row.blob("sealed")) }
        }
        return newest
    }
}
