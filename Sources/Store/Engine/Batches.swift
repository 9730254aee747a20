/// Splits keys into pieces of few different lengths, so that the engines reuse prepared statements.
enum ManyKeys {
    private static let sizes = [1, 10, 50, 250, 1_000]

    /// Returns pieces of at most a thousand keys, each padded with its last key.
    static func pieces<Key>(_ keys: [Key]) -> [[Key]] {
        stride(from: 0, to: keys.count, by: 1_000).map { start in
            let piece = Array(keys[start..<min(start + 1_000, keys.count)])
            let size = sizes.first { $0 >= piece.count } ?? piece.count
            return piece + Array(repeating: piece[piece.count - 1], count: size - piece.count)
        }
    }
}

extension Database {
    /// Reads the rows that belong to many keys and groups them by key.
    ///
    /// - Parameters:
    ///   - column: the column of the result that has the key.
    ///   - sql: makes the query from the placeholders of the keys.
    ///   - more: the arguments before the keys.
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

/// Splits many rows into ranges of few different lengths, so that the engines reuse prepared statements.
enum Chunks {
    private static let sizes = [100, 10, 1]

    static func of(_ count: Int) -> [Range<Int>] {
        var chunks: [Range<Int>] = []
        var start = 0
        for size in sizes {
            while count - start >= size {
                chunks.append(start..<start + size)
                start += size
            }
        }
        return chunks
    }
}
