package import Domain
import FoundationEssentials

/// A report about an external purchase's token; its row's id is part of its request identifier.
package enum ExternalReport: Identified {
    package static let idPrefix = "rep"

    /// The state of a report.
    package enum State: String, Sendable, CaseIterable {
        /// Stored; it may have been sent by a run that ended without a result.
        case created
        /// Sent, without a usable answer.
        case unknown
        case accepted
        /// Apple received nothing of it, because of faults in its line items.
        case refused
    }
}

/// A stored report with its line items.
package struct ExternalReportRecord: Sendable, Equatable {
    package let id: ID<ExternalReport>
    package let token: ID<ExternalToken>
    package let requestIdentifier: String
    package let status: ExternalReportStatus
    /// The digest of its first content.
    package let digest: String
    /// The JSON that is sent, byte for byte.
    package let body: String
    package let state: ExternalReport.State
    /// Apple's faults, or the last trouble; nil where there is none.
    package let answer: String?
    package let items: [ExternalReportedItem]
    package let createdAt: Timestamp

    package init(
        id: ID<ExternalReport>, token: ID<ExternalToken>, requestIdentifier: String, status: ExternalReportStatus,
        digest: String, body: String, state: ExternalReport.State = .created, answer: String? = nil,
        items: [ExternalReportedItem], createdAt: Timestamp
    ) {
        self.id = id
        self.token = token
        self.requestIdentifier = requestIdentifier
        self.status = status
        self.digest = digest
        self.body = body
        self.state = state
        self.answer = answer
        self.items = items
        self.createdAt = createdAt
    }
}

extension ExternalPurchaseQueries {
    /// Lists the reports of tokens with their line items, oldest first.
    package func reports(
        of tokens: [ID<ExternalToken>]
    ) throws(StoreError) -> [ID<ExternalToken>: [ExternalReportRecord]] {
        let found = try db.rowsByKey(tokens, "token_id") {
            "SELECT * FROM external_reports WHERE token_id IN (\($0)) ORDER BY token_id, id"
        }
        let ids = try found.values.flatMap { $0 }.map { row throws(StoreError) in
            try row.id("id", ExternalReport.self)
        }
        let items = try db.rowsByKey(ids, "report_id") {
            "SELECT * FROM external_line_items WHERE report_id IN (\($0)) ORDER BY report_id, line_item_id"
        }
        var reports: [ID<ExternalToken>: [ExternalReportRecord]] = [:]
        for token in tokens {
            reports[token] = try (found[token.rawValue] ?? []).map { row throws(StoreError) in
                try ExternalReportRecord(row: row, items: items[try row.text("id")] ?? [])
            }
        }
        return reports
    }

    package func reports(of token: ID<ExternalToken>) throws(StoreError) -> [ExternalReportRecord] {
        try reports(of: [token])[token] ?? []
    }
}

extension ExternalPurchaseQueries where Connection == any Transaction {
    /// Stores a report with its line items.
    ///
    /// - Returns: false where the token has a report of this content.
    package func insert(_ report: ExternalReportRecord) throws(StoreError) -> Bool {
        let inserted = try tx.execute(
            """
            INSERT INTO external_reports (id, token_id, request_identifier, status, digest, body, state, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (token_id, digest) DO NOTHING
            """, report.id, report.token, report.requestIdentifier, report.status.rawValue, report.digest, report.body,
            report.state.rawValue, report.createdAt)
        guard inserted == 1 else { return false }
        try insert(report.items, of: report.id)
        return true
    }

    /// Records how a report stands.
    package func move(
        _ report: ID<ExternalReport>, to state: ExternalReport.State, answer: String?
    ) throws(StoreError) {
        try tx.enqueue(
            "UPDATE external_reports SET state = ?, answer = ? WHERE id = ? AND state <> 'accepted'", state.rawValue,
            answer, report)
    }

    /// Gives a refused report a mended content, to be sent again under its request identifier.
    package func replace(
        _ report: ID<ExternalReport>, body: String, items: [ExternalReportedItem]
    ) throws(StoreError) {
        try tx.execute("DELETE FROM external_line_items WHERE report_id = ?", report)
        try tx.execute(
            "UPDATE external_reports SET body = ?, state = 'created', answer = NULL WHERE id = ? AND state = 'refused'",
            body, report)
        try insert(items, of: report)
    }

    /// Deletes a refused report of which nothing holds any more: Apple received nothing of it.
    package func delete(_ report: ID<ExternalReport>) throws(StoreError) {
        try tx.execute("DELETE FROM external_line_items WHERE report_id = ?", report)
        try tx.execute("DELETE FROM external_reports WHERE id = ?", report)
    }

    private func insert(_ items: [ExternalReportedItem], of report: ID<ExternalReport>) throws(StoreError) {
        for item in items {
            try tx.execute(
                """
                INSERT INTO external_line_items (report_id, line_item_id, fact_kind, fact_id, turn, erroneous)
                VALUES (?, ?, ?, ?, ?, ?)
                """, report, item.item.lineItemId, item.kind.rawValue, item.factID, item.turn, item.isErroneous)
        }
    }
}

extension ExternalReportRecord {
    fileprivate init(row: Row, items rows: [Row]) throws(StoreError) {
        let text = try row.text("body")
        guard let body = try? JSONDecoder().decode(ExternalReportBody.self, from: Data(text.utf8)) else {
            throw .corrupt("a report's body is not one")
        }
        let contents = Dictionary((body.lineItems ?? []).map { ($0.lineItemId, $0) }) { first, _ in first }
        let items = try rows.map { row throws(StoreError) in
            guard let item = contents[try row.text("line_item_id")] else {
                throw .corrupt("a line item is not in its report")
            }
            return ExternalReportedItem(
                kind: try row.choice("fact_kind"), factID: try row.text("fact_id"), turn: try row.int("turn"),
                isErroneous: try row.bool("erroneous"), item: item)
        }
        let order = (body.lineItems ?? []).map(\.lineItemId)
        self.init(
            id: try row.id("id"), token: try row.id("token_id"),
            requestIdentifier: try row.text("request_identifier"), status: try row.choice("status"),
            digest: try row.text("digest"), body: text, state: try row.choice("state"),
            answer: try row.optionalText("answer"),
            items: items.sorted {
                (order.firstIndex(of: $0.item.lineItemId) ?? 0) < (order.firstIndex(of: $1.item.lineItemId) ?? 0)
            }, createdAt: try row.time("created_at"))
    }
}
