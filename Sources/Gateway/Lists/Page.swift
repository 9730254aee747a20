import Domain

/// A page of a list, newest first.
package struct Page<Item: Sendable>: Sendable {
    package let items: [Item]
    /// The cursor of the next page; nil at the end.
    package let nextCursor: String?
    /// For each item, the cursor of a page that begins after it.
    package let cursors: [String]

    /// Makes a page and its cursor from one item more than the page has.
    init(_ items: [Item], limit: Int64, cursor: (Item) -> String) {
        let shown = items.prefix(Int(limit))
        let cursors = shown.map(cursor)
        self.init(
            items: Array(shown), cursors: cursors, nextCursor: items.count > Int(limit) ? cursors.last : nil)
    }

    /// Returns this page with other items in the same places.
    package func map<Other: Sendable>(_ transform: (Item) -> Other) -> Page<Other> {
        Page<Other>(items: items.map(transform), cursors: cursors, nextCursor: nextCursor)
    }

    /// - Parameter cursors: one for each item.
    init(items: [Item], cursors: [String], nextCursor: String?) {
        self.items = items
        self.cursors = cursors
        self.nextCursor = nextCursor
    }
}

/// The limit of a page in bytes, whatever its number of items: an answer stays within 1 MiB.
package enum PageSize {
    package static let bytes = (1 << 20) - (8 << 10)
}

/// The position after the last item that the caller has, from `next_cursor`.
struct Cursor<Position: Sendable>: Sendable {
    /// The last item's position; nil at the list's beginning.
    let position: Position?

    /// - Parameter parse: reads a cursor of this list; returns nil for any other text.
    /// - Throws: `invalidRequest`.
    init(_ text: String?, _ parse: (String) -> Position?) throws(GatewayError) {
        guard let text else {
            position = nil
            return
        }
        guard let parsed = parse(text) else {
            throw .invalidRequest(field: "cursor", reason: "this is not a cursor of this list")
        }
        position = parsed
    }
}

extension Cursor where Position == Int64 {
    /// The cursor of a list whose items are sorted by numbers: 1 to 18 digits, without a sign or a leading zero.
    init(number text: String?) throws(GatewayError) {
        try self.init(text) { text in
            let isPlain = text.isDigits(1...18)
            return isPlain && text.first != "0" ? Int64(text) : nil
        }
    }
}

extension Cursor where Position == String {
    /// The cursor of a list that is sorted by its items' ids.
    init<Subject: Identified>(_ text: String?, of: Subject.Type) throws(GatewayError) {
        try self.init(text) { ID<Subject>($0)?.rawValue }
    }
}

extension Cursor {
    /// The cursor of a list that is sorted by three columns, joined by "~"; the last one may contain that sign.
    ///
    /// It is split between bytes: a combining mark at the beginning of the last part would join the sign before it in
    /// one `Character`.
    ///
    /// - Parameter parse: reads the parts; returns nil where one of them is no value of its column.
    init(
        threeParts text: String?, _ parse: (_ first: String, _ second: String, _ rest: String) -> Position?
    ) throws(GatewayError) {
        try self.init(text) { text in
            let parts = text.utf8.split(separator: UInt8(ascii: "~"), maxSplits: 2).map {
                String(decoding: $0, as: UTF8.self)
            }
            return parts.count == 3 ? parse(parts[0], parts[1], parts[2]) : nil
        }
    }
}
