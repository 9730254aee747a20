extension BoxQueries {
    /// Lists the accepted reports of external purchases as JSON, in the order in which they came.
    package func listExternalReports() throws(StoreError) -> [String] {
        try db.rows("SELECT data FROM box_external_reports ORDER BY number").map { row throws(StoreError) in
            try row.text("data")
        }
    }

    package func findExternalReport(_ requestIdentifier: String) throws(StoreError) -> String? {
        try db.row("SELECT data FROM box_external_reports WHERE request_identifier = ?", requestIdentifier)?.text(
            "data")
    }
}

extension BoxQueries where Connection == any Transaction {
    /// Keeps an accepted report; the caller holds the box's lock.
    package func insertExternalReport(_ requestIdentifier: String, data: String) throws(StoreError) {
        try tx.execute(
            """
            INSERT INTO box_external_reports (request_identifier, number, data)
            SELECT ?, COALESCE(MAX(number), 0) + 1, ? FROM box_external_reports
            """, requestIdentifier, data)
    }
}
