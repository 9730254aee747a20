/// A statement as PostgreSQL's log has it.
struct RecordedStatement: Equatable {
    let sql: String
    /// The bound values as texts, `$1` first; nil is NULL.
    var parameters: [String?] = []

    /// Reads the values that follow `parameters: ` in the log, as in `$1 = 'it''s', $2 = NULL`.
    ///
    /// - Returns: nil where the text is not understood.
    static func parameters(_ text: Substring) -> [String?]? {
        var rest = Array(text.utf8)[...]
        var values: [String?] = []
        while !rest.isEmpty {
            if !values.isEmpty { guard rest.take(", ") else { return nil } }
            guard rest.take("$\(values.count + 1) = ") else { return nil }
            if rest.take("NULL") {
                values.append(nil)
            } else {
                guard let value = rest.takeQuoted() else { return nil }
                values.append(value)
            }
        }
        return values
    }
}

extension ArraySlice<UInt8> {
    fileprivate mutating func take(_ text: String) -> Bool {
        guard starts(with: text.utf8) else { return false }
        removeFirst(text.utf8.count)
        return true
    }

    /// Takes a text in single quotes, in which each single quote is doubled.
    fileprivate mutating func takeQuoted() -> String? {
        let quote = UInt8(ascii: "'")
        guard popFirst() == quote else { return nil }
        var bytes: [UInt8] = []
        while let byte = popFirst() {
            if byte == quote {
                guard first == quote else { return String(decoding: bytes, as: UTF8.self) }
                removeFirst()
            }
            bytes.append(byte)
        }
        return nil
    }
}
