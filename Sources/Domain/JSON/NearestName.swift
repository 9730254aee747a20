/// Finds the known name that a mistyped one probably meant.
package enum NearestName {
    /// The name with the fewest edits between it and the given one; case, `_` and `-` count for nothing.
    ///
    /// - Returns: nil only where no name is known.
    package static func of(_ name: String, among known: [String]) -> String? {
        let plain = plain(name)
        return known.map { (name: $0, distance: distance(plain, Self.plain($0))) }
            .min { ($0.distance, $0.name) < ($1.distance, $1.name) }?.name
    }

    private static func plain(_ name: String) -> [Unicode.Scalar] {
        name.lowercased().unicodeScalars.prefix(64).filter { $0 != "_" && $0 != "-" }
    }

    /// Levenshtein's distance: how many letters must be inserted, removed or changed.
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var row = Array(0...right.count)
        for (index, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, other) in right.enumerated() {
                let substituted = diagonal + (letter == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(substituted, row[column] + 1, row[column + 1] + 1)
            }
        }
        return row[right.count]
    }
}
