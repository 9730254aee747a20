package import FoundationEssentials

/// The one row of the App Store in a box: its sealed keys, and its counters and settings as JSON.
package struct BoxMetaRow: Sendable, Equatable {
    /// The sealed certificates and keys; they never change.
    package let authority: Data
    package let data: String

    package init(authority: Data, data: String) {
        self.authority = authority
        self.data = data
    }
}

/// The state of the App Store in a box.
///
/// `db.box` reads; `tx.box` also writes.
package struct BoxQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var box: BoxQueries<any Database> { BoxQueries(db: self, tx: self) }
}

extension Transaction {
    package var box: BoxQueries<any Transaction> { BoxQueries(db: self, tx: self) }
}

extension BoxQueries {
    /// - Returns: nil before the first start.
    package func findMeta() throws(StoreError) -> BoxMetaRow? {
        try db.row("SELECT authority, data FROM box_meta WHERE name = 'box'").map(BoxMetaRow.init(row:))
    }
}

extension BoxQueries where Connection == any Transaction {
    /// Locks the box until the commit, so that its acts follow each other on every node.
    ///
    /// - Returns: nil before the first start.
    package func lock() throws(StoreError) -> BoxMetaRow? {
        try tx.rows("SELECT authority, data FROM box_meta WHERE name = 'box'" + tx.dialect.forUpdate, []).first.map(
            BoxMetaRow.init(row:))
    }

    /// Inserts the row of a new box, unless another node has done so.
    package func insert(_ meta: BoxMetaRow) throws(StoreError) {
        try tx.execute(
            "INSERT INTO box_meta (name, authority, data) VALUES ('box', ?, ?) ON CONFLICT (name) DO NOTHING",
            meta.authority, meta.data)
    }

    /// Updates the counters and settings of the locked box.
    package func updateMeta(data: String) throws(StoreError) {
        tx.markDueTimes()
        try tx.execute("UPDATE box_meta SET data = ? WHERE name = 'box'", data)
    }

    /// Deletes everything that the box has sold and sent; its keys and counters stay.
    package func deleteSales() throws(StoreError) {
        for table in ["box_transactions", "box_subscriptions", "box_notifications", "box_external_reports"] {
            try tx.execute("DELETE FROM \(table)")
        }
    }
}

extension BoxMetaRow {
    init(row: Row) throws(StoreError) {
        self.init(authority: try row.blob("authority"), data: try row.text("data"))
    }
}
