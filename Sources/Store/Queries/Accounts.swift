package import Domain
package import FoundationEssentials

/// What an admin changed about an account, as stored.
package struct StoredOverride: Sendable, Equatable {
    package let account: AccountID
    package let enabled: Bool?
    /// The whole routing as JSON text.
    package let routing: String?

    package init(account: AccountID, enabled: Bool?, routing: String?) {
        self.account = account
        self.enabled = enabled
        self.routing = routing
    }
}

extension Database {
    package func accountOverrides() throws(StoreError) -> [StoredOverride] { try askAccountOverrides().value() }

    package func askAccountOverrides() throws(StoreError) -> Pending<[StoredOverride]> {
        try ask("SELECT account, enabled, routing FROM account_overrides").each { row throws(StoreError) in
            StoredOverride(
                account: try row.account("account"), enabled: try row.optionalInt("enabled").map { $0 != 0 },
                routing: try row.optionalText("routing"))
        }
    }

    package func bookValue(_ key: String, account: AccountID) throws(StoreError) -> Data? {
        try row("SELECT value FROM account_book WHERE account = ? AND key = ?", account, key)?.blob("value")
    }
}

extension Transaction {
    package func setOverride(_ override: StoredOverride, at now: Timestamp) throws(StoreError) {
        try run(
            """
            INSERT INTO account_overrides (account, enabled, routing, updated_at) VALUES (?, ?, ?, ?)
            ON CONFLICT (account) DO UPDATE
            SET enabled = excluded.enabled, routing = excluded.routing, updated_at = excluded.updated_at
            """, override.account, override.enabled, override.routing, now)
    }

    package func removeOverride(_ account: AccountID) throws(StoreError) {
        try run("DELETE FROM account_overrides WHERE account = ?", account)
    }

    /// Serializes an account's book and its audit until the commit.
    package func lockAccount(_ account: AccountID) throws(StoreError) {
        let name = "account/" + account.rawValue
        try run("INSERT INTO counters (name, value) VALUES (?, 0) ON CONFLICT DO NOTHING", name)
        _ = try rows("SELECT value FROM counters WHERE name = ?" + dialect.forUpdate, [name])
    }

    /// Writes an entry of an account's book and drops the oldest beyond `capacity`; the caller holds the account's lock.
    package func setBookValue(
        _ value: Data, key: String, account: AccountID, capacity: Int64
    ) throws(StoreError) {
        let updated = try run("UPDATE account_book SET value = ? WHERE account = ? AND key = ?", value, account, key)
        guard updated == 0 else { return }
        let name = "account/" + account.rawValue
        let counter = try rows("UPDATE counters SET value = value + 1 WHERE name = ? RETURNING value", [name])
        guard let position = try counter.first?.int("value") else { throw .corrupt("an account's counter is gone") }
        try run(
            "INSERT INTO account_book (account, key, value, position) VALUES (?, ?, ?, ?)", account, key, value,
            position)
        try run("DELETE FROM account_book WHERE account = ? AND position <= ?", account, position - capacity)
    }
}
