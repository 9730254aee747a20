import SwiftASN1

/// Parses trees of BER (X.690), of which DER is a part, within limits.
enum BERReader {
    /// Parses these bytes as exactly one tree.
    ///
    /// - Throws: `malformed` for anything else, before memory is spent on more than `limits` allows.
    static func read(_ bytes: ArraySlice<UInt8>, within limits: BERLimits) throws(AppleRefusal) -> ASN1Node {
        var outline = BEROutline(bytes, limits)
        try outline.check()
        do {
            return try BER.parse(bytes)
        } catch {
            throw .malformed("no BER")
        }
    }
}

/// The nesting of BER elements, checked in a loop, so that deep nesting costs no stack.
struct BEROutline {
    /// A constructed element whose end has not been reached.
    private struct Open {
        /// The end of the element; for an indefinite length, the end of the element around it.
        let end: Int
        let isIndefinite: Bool
    }

    private let bytes: ArraySlice<UInt8>
    private let limits: BERLimits
    private var position: Int
    private var open: [Open] = []
    private var elements = 0

    init(_ bytes: ArraySlice<UInt8>, _ limits: BERLimits) {
        self.bytes = bytes
        self.limits = limits
        position = bytes.startIndex
    }

    /// Refuses bytes that are not exactly one element, or that exceed the limits.
    mutating func check() throws(AppleRefusal) {
        guard bytes.count <= limits.bytes else { throw .malformed("BER of \(bytes.count) bytes") }
        repeat { try step() } while !open.isEmpty
        guard position == bytes.endIndex else { throw .malformed("bytes after the end of the BER") }
    }

    private mutating func step() throws(AppleRefusal) {
        guard !closes() else { return }
        elements += 1
        guard elements <= limits.elements else { throw .malformed("BER of more than \(limits.elements) elements") }
        let isConstructed = try readTag()
        let end = open.last?.end ?? bytes.endIndex
        guard let length = try readLength() else {
            guard isConstructed else { throw .malformed("a primitive element of indefinite length") }
            return try enter(Open(end: end, isIndefinite: true))
        }
        guard length <= end - position else { throw .malformed("an element that ends outside of its holder") }
        if isConstructed {
            try enter(Open(end: position + length, isIndefinite: false))
        } else {
            position += length
        }
    }

    /// Closes the innermost open element where it ends here; returns whether it did.
    private mutating func closes() -> Bool {
        guard let last = open.last else { return false }
        if last.isIndefinite {
            guard last.end - position >= 2, bytes[position] == 0, bytes[position + 1] == 0 else { return false }
            position += 2
        } else if position != last.end {
            return false
        }
        open.removeLast()
        return true
    }

    private mutating func enter(_ element: Open) throws(AppleRefusal) {
        guard open.count < limits.depth else { throw .malformed("BER nested deeper than \(limits.depth)") }
        open.append(element)
    }

    private mutating func next() throws(AppleRefusal) -> UInt8 {
        guard position < (open.last?.end ?? bytes.endIndex) else { throw .malformed("BER that is cut off") }
        defer { position += 1 }
        return bytes[position]
    }

    /// - Returns: whether the element is constructed (X.690 section 8.1.2).
    private mutating func readTag() throws(AppleRefusal) -> Bool {
        let first = try next()
        guard first & 0x1F == 0x1F else { return first & 0x20 != 0 }
        for _ in 0..<4 where try next() & 0x80 == 0 { return first & 0x20 != 0 }
        throw .malformed("a tag of more than five octets")
    }

    /// - Returns: nil for the indefinite form (X.690 section 8.1.3).
    private mutating func readLength() throws(AppleRefusal) -> Int? {
        let first = try next()
        guard first & 0x80 != 0 else { return Int(first) }
        guard first != 0x80 else { return nil }
        let octets = Int(first & 0x7F)
        guard octets <= 8 else { throw .malformed("a length of \(octets) octets") }
        var length: UInt64 = 0
        for _ in 0..<octets { length = length << 8 | UInt64(try next()) }
        return Int(clamping: length)
    }
}

/// The limits on the size of a BER tree; Apple's messages stay far below them.
struct BERLimits: Sendable {
    let bytes: Int
    let depth: Int
    /// Elements; end-of-contents octets are not counted.
    let elements: Int

    /// A whole receipt: the body of a request holds no more bytes, and a segmented content has many elements.
    static let message = BERLimits(bytes: 2 << 20, depth: 24, elements: 32_768)
    /// A receipt's attributes: thousands of purchases.
    static let attributes = BERLimits(bytes: 2 << 20, depth: 8, elements: 32_768)
    /// A purchase, or the value of one attribute.
    static let value = BERLimits(bytes: 65_536, depth: 8, elements: 1_024)
}
