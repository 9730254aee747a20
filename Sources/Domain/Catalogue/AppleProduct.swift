import Encodings

/// An entry of a SKU's `apple_product_ids`: a literal product id or a pattern, optionally bound to one app by
/// `bundle:product`.
package struct AppleProduct: Hashable, Sendable {
    /// The only app it counts for; nil means any configured app.
    package let bundle: String?
    /// The product id, or the pattern with `${days}`.
    package let product: String

    package static let placeholders = ["${days}", "${quantity}"]
    package static let dayRange: ClosedRange<Int64> = 1...3_660

    /// - Returns: nil for empty or overlong text, characters outside `[A-Za-z0-9._-]` and more than one placeholder.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let last = parts.last, text.utf8.count <= 255 else { return nil }
        bundle = parts.count == 2 ? parts[0] : nil
        product = last
        let pieces = Self.pieces(of: last)
        let literal = pieces.joined()
        guard pieces.count <= 2, !literal.isEmpty, bundle.map({ !$0.isEmpty && Self.isPlain($0) }) ?? true,
            Self.isPlain(literal)
        else { return nil }
    }

    package var text: String { bundle.map { "\($0):\(product)" } ?? product }

    /// The canonical text: both placeholders are written `${days}`, so that equal products have equal texts.
    package var canonical: String {
        let pattern = Self.pieces(of: product).joined(separator: "${days}")
        return bundle.map { "\($0):\(pattern)" } ?? pattern
    }
    package var isPattern: Bool { Self.pieces(of: product).count == 2 }

    /// The product id for this number of days; a literal is returned as it is.
    package func productID(days: Int64) -> String { Self.pieces(of: product).joined(separator: String(days)) }

    /// The beginning of every product id that this entry fits.
    package var prefix: String { Self.pieces(of: product).first ?? "" }

    /// The days that a product id stands for under this pattern: 1–3,660, no leading zero.
    ///
    /// - Returns: nil when this is no pattern or the id does not fit it.
    package func days(in productID: String) -> Int64? {
        let pieces = Self.pieces(of: product)
        guard pieces.count == 2, productID.hasPrefix(pieces[0]), productID.hasSuffix(pieces[1]),
            productID.utf8.count > pieces[0].utf8.count + pieces[1].utf8.count
        else { return nil }
        let digits = productID.dropFirst(pieces[0].count).dropLast(pieces[1].count)
        guard digits.first != "0", digits.utf8.allSatisfy(\.isDigit), let days = Int64(digits),
            Self.dayRange.contains(days)
        else { return nil }
        return days
    }

    private static func pieces(of product: String) -> [String] {
        // A fast path: most entries are literals, and every checkout and every attach parses them.
        guard product.utf8.contains(UInt8(ascii: "$")) else { return [product] }
        return placeholders.reduce([product]) { pieces, placeholder in
            pieces.flatMap { $0.split(separator: placeholder, omittingEmptySubsequences: false).map(String.init) }
        }
    }

    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0.isWord || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
    }
}
