/// The languages of an `Accept-Language` header, best first (RFC 9110 section 12.5.4).
enum AcceptLanguage {
    static func parse(_ header: String?) -> [String] {
        guard let header, header.utf8.count <= 1_000 else { return [] }
        return header.split(separator: ",").prefix(20).enumerated().compactMap {
            index, part -> (String, Double, Int)? in
            let pieces = part.split(separator: ";").map { $0.filter { $0 != " " } }
            guard let tag = pieces.first, !tag.isEmpty else { return nil }
            let quality = pieces.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            return quality > 0 ? (tag, quality, index) : nil
        }
        .sorted { ($1.1, $0.2) < ($0.1, $1.2) }
        .map(\.0)
    }
}
