/// A list of keys in one statement, of few different lengths, so that the engines can keep it prepared.
enum ManyKeys {
    private static let sizes = [1, 10, 50, 250, 1_000]

    /// Pieces of at most a thousand, each filled up with its last key.
    static func pieces<Key>(_ keys: [Key]) -> [[Key]] {
        stride(from: 0, to: keys.count, by: 1_000).map { start in
            let piece = Array(keys[start..<min(start + 1_000, keys.count)])
            let size = sizes.first { $0 >= piece.count } ?? piece.count
            return piece + Array(repeating: piece[piece.count - 1], count: size - piece.count)
        }
    }
}

extension Database {
    /// The rows that belong to many keys, by the key.
    ///
    /// - Parameters:
    ///   - column: has the key in each row.
    ///   - sql: makes the query of the placeholders of the keys.
    ///   - more: what it binds before the keys.
    func rowsByKey<Key: SQLBindable>(
        _ keys: [Key], _ column: String, binding more: [any SQLBindable] = [], _ sql: (String) -> String
    ) throws(StoreError) -> [String: [Row]] {
        var found: [String: [Row]] = [:]
        for piece in ManyKeys.pieces(keys) {
            let marks = Array(repeating: "?", count: piece.count).joined(separator: ", ")
            for row in try rows(sql(marks), more + piece.map { $0 as any SQLBindable }) {
                found[try row.text(column), default: []].append(row)
            }
        }
        return found
    }
}
