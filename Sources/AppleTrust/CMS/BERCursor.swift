/// Reads elements of BER (X.690) one after another, without a tree, for messages of a known shape.
///
/// The contents of an element are examined only when a cursor reads them. The end of an element is found without
/// recursion.
struct BERCursor {
    /// An element: all its bytes, and its contents.
    struct Element {
        let whole: ArraySlice<UInt8>
        let contents: ArraySlice<UInt8>
    }

    private let name: String
    private var rest: ArraySlice<UInt8>
    /// The deepest nesting of indefinite lengths while the end of an element is sought.
    private static let depth = 16

    init(_ bytes: ArraySlice<UInt8>, _ name: String) {
        rest = bytes
        self.name = name
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Reads the next element, which must have this tag (of one octet, number at most 30).
    mutating func next(_ tag: UInt8, _ part: String) throws(AppleRefusal) -> Element {
        guard rest.first == tag else { throw .malformed("\(name) has no \(part)") }
        return try next(part)
    }

    /// Reads an optional part; nil where the next element has another tag.
    mutating func next(if tag: UInt8, _ part: String) throws(AppleRefusal) -> Element? {
        rest.first == tag ? try next(part) : nil
    }

    /// Reads these bytes as exactly one element.
    static func only(
        _ tag: UInt8, of bytes: ArraySlice<UInt8>, _ part: String, in name: String
    ) throws(AppleRefusal) -> Element {
        var cursor = BERCursor(bytes, name)
        let element = try cursor.next(tag, part)
        try cursor.end()
        return element
    }

    func end() throws(AppleRefusal) {
        guard rest.isEmpty else { throw .malformed("\(name) has too many parts") }
    }

    private mutating func next(_ part: String) throws(AppleRefusal) -> Element {
        let start = rest.startIndex
        guard let header = Self.header(of: rest) else { throw .malformed("\(part) is cut off") }
        let contents: ArraySlice<UInt8>
        let end: Int
        if let length = header.length {
            contents = rest[header.end..<(header.end + length)]
            end = contents.endIndex
        } else {
            guard rest[start] & 0x20 != 0, let found = Self.endOfContents(rest[header.end...]) else {
                throw .malformed("\(part) does not end")
            }
            contents = rest[header.end..<found]
            end = found + 2
        }
        let element = Element(whole: rest[start..<end], contents: contents)
        rest = rest[end...]
        return element
    }

    /// Returns the offset and the length of the contents; the length is nil for the indefinite form.
    ///
    /// - Returns: nil where they do not fit, and for tags of several octets.
    private static func header(of bytes: ArraySlice<UInt8>) -> (end: Int, length: Int?)? {
        let start = bytes.startIndex
        guard bytes.count >= 2, bytes[start] & 0x1F != 0x1F else { return nil }
        let first = bytes[start + 1]
        var end = start + 2
        guard first != 0x80 else { return (end, nil) }
        var length = Int(first)
        if first > 0x80 {
            let octets = Int(first & 0x7F)
            guard octets <= 4, bytes.endIndex - end >= octets else { return nil }
            length = bytes[end..<(end + octets)].reduce(0) { $0 << 8 | Int($1) }
            end += octets
        }
        return length <= bytes.endIndex - end ? (end, length) : nil
    }

    /// Returns the offset of the two zeros that end these contents of indefinite length (X.690 section 8.1.5).
    private static func endOfContents(_ bytes: ArraySlice<UInt8>) -> Int? {
        var rest = bytes
        var open = 1
        while let tag = rest.first {
            guard let header = header(of: rest) else { return nil }
            if tag == 0 {
                guard header.length == 0, header.end == rest.startIndex + 2 else { return nil }
                open -= 1
                if open == 0 { return rest.startIndex }
                rest = rest[header.end...]
            } else if let length = header.length {
                rest = rest[(header.end + length)...]
            } else {
                open += 1
                guard tag & 0x20 != 0, open <= depth else { return nil }
                rest = rest[header.end...]
            }
        }
        return nil
    }
}
