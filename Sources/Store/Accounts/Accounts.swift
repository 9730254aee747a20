package import Domain
package import FoundationEssentials

/// An admin's changes of an account, as stored.
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

/// Overrides of provider accounts and the key-value records that providers store.
///
/// `db.accounts` reads; `tx.accounts` also writes.
package struct AccountQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var accounts: AccountQueries<any Database> { AccountQueries(db: self, tx: self) }
}

extension Transaction {
    package var accounts: AccountQueries<any Transaction> { AccountQueries(db: self, tx: self) }
}

extension AccountQueries {
    package func listOverrides() throws(StoreError) -> DeferredResult<[StoredOverride]> {
        try db.deferredRows("SELECT account, enabled, routing FROM account_overrides").each { row throws(StoreError) in
            StoredOverride(
                account: try row.account("account"), enabled: try row.optionalInt("enabled").map { $0 != 0 },
                routing: try row.optionalText("routing"))
        }
    }

    package func findValue(_ key: String, account: AccountID) throws(StoreError) -> Data? {
        try db.row("SELECT value FROM account_book WHERE account = ? AND key = ?", account, key)?.blob("value")
    }
}

extension AccountQueries where Connection == any Transaction {
    package func setOverride(_ override: StoredOverride, at now: Timestamp) throws(StoreError) {
        try tx.execute(
            """
            INSERT INTO account_overrides (account, enabled, routing, updated_at) VALUES (?, ?, ?, ?)
            ON CONFLICT (account) DO UPDATE
            SET enabled = excluded.enabled, routing = excluded.routing, updated_at = excluded.updated_at
            """, override.account, override.enabled, override.routing, now)
    }

    package func deleteOverride(_ account: AccountID) throws(StoreError) {
        try tx.execute("DELETE FROM account_overrides WHERE account = ?", account)
    }

    /// Locks an account's values, its override and its audit until the commit.
    package func lock(_ account: AccountID) throws(StoreError) {
        let name = "account/" + account.rawValue
        try tx.execute("INSERT INTO counters (name, value) VALUES (?, 0) ON CONFLICT DO NOTHING", name)
        _ = try tx.rows("SELECT value FROM counters WHERE name = ?" + tx.dialect.forUpdate, [name])
    }

    /// Sets a value of an account and deletes the oldest ones beyond `capacity`; the caller holds the account's lock.
    package func setValue(
        _ value: Data, key: String, account: AccountID, capacity: Int64
    ) throws(StoreError) {
        let updated = try tx.execute(
            "UPDATE account_book SET value = ? WHERE account = ? AND key = ?", value, account, key)
        guard updated == 0 else { return }
        let name = "account/" + account.rawValue
        let counter = try tx.rows("UPDATE counters SET value = value + 1 WHERE name = ? RETURNING value", [name])
        guard let position = try counter.first?.int("value") else { throw .corrupt("an account's counter is gone") }
        try tx.execute(
            "INSERT INTO account_book (account, key, value, position) VALUES (?, ?, ?, ?)", account, key, value,
            position)
        try tx.execute("DELETE FROM account_book WHERE account = ? AND position <= ?", account, position - capacity)
    }
}
