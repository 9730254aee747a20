import Domain

/// Where a list goes on: behind the last item that the caller has seen, as `next_cursor` named it.
struct Cursor<Position: Sendable>: Sendable {
    /// nil: from the list's beginning.
    let position: Position?

    /// - Parameter parse: reads what this list's pages wrote; nil for anything else.
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
    /// The cursor of a list whose items go by numbers: 1 to 18 digits, without a sign or a leading zero.
    init(number text: String?) throws(GatewayError) {
        try self.init(text) { text in
            let isPlain = (1...18).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
            return isPlain && text.first != "0" ? Int64(text) : nil
        }
    }
}

extension Cursor where Position == String {
    /// The cursor of a list whose items go by their ids.
    init<Subject: Identified>(_ text: String?, of: Subject.Type) throws(GatewayError) {
        try self.init(text) { ID<Subject>($0)?.rawValue }
    }
}
