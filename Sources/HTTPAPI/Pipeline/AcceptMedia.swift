/// Reads an `Accept` header (RFC 9110 section 12.5.1) of a route with two forms: JSON and a signed snapshot.
enum AcceptMedia {
    static let snapshot = "application/jwt"
    private static let json = "application/json"

    /// Returns whether the snapshot has a higher quality than JSON.
    static func prefersSnapshot(_ header: String?) -> Bool {
        guard let header, header.utf8.count <= 1_000, header.lowercased().contains("jwt") else { return false }
        let ranges = header.lowercased().split(separator: ",").prefix(20).map(range)
        return quality(of: snapshot, in: ranges) > quality(of: json, in: ranges)
    }

    private static func range(_ part: Substring) -> (type: String, quality: Double) {
        let pieces = part.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
        let given = pieces.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 }
        return (pieces.first ?? "", min(1, max(0, given ?? 1)))
    }

    /// Returns the quality of the most specific range that has this type; 0 for none.
    private static func quality(of type: String, in ranges: [(type: String, quality: Double)]) -> Double {
        for form in [type, "application/*", "*/*"] {
            if let range = ranges.first(where: { $0.type == form }) { return range.quality }
        }
        return 0
    }
}
