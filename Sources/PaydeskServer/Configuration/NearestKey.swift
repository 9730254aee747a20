/// Finds the known key that a mistyped one probably means.
enum NearestKey {
    /// - Returns: nil where no known key is within two edits, or within half its length.
    static func suggestion(for key: String, among known: [String]) -> String? {
        let ranked = known.map { (key: $0, distance: distance(key.lowercased(), $0)) }
        guard let best = ranked.min(by: { ($0.distance, $0.key) < ($1.distance, $1.key) }),
            best.distance <= max(1, min(2, best.key.count / 2))
        else { return known.first { $0.hasPrefix(key) && key.count >= 3 } }
        return best.key
    }

    /// Levenshtein's distance: the number of letters that must be inserted, removed or changed.
    private static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.prefix(64))
        let right = Array(right.prefix(64))
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
