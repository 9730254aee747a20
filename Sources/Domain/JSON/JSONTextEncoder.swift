package import FoundationEssentials

/// Writes values as ``JSONText`` into one buffer.
///
/// Foundation's encoder builds a tree of dictionaries first, which is most of its time. The bytes are the same. Values
/// that the answers and events of Paydesk do not contain (floating-point numbers, `Data`, `Date`, `URL`, `Decimal`, nested
/// arrays) are left to Foundation.
package enum JSONTextEncoder {
    /// Writes a value.
    ///
    /// - Returns: nil for a value that is left to Foundation's encoder, as is one that cannot be encoded.
    package static func encoded(_ value: some Encodable) -> Data? {
        let buffer = JSONTextBuffer()
        do { try buffer.write(value) } catch { return nil }
        return buffer.isWhole ? Data(buffer.bytes) : nil
    }
}

/// The text of the values so far, and the values that are being written: an object in an array in an object, and so on.
///
/// Each member of an object and each element of an array begins with a comma. When the object or array ends, its first
/// comma becomes its bracket; until then members can be put in order as they are.
final class JSONTextBuffer {
    private struct Unsupported: Error {}

    /// A value between the begin of its `encode(to:)` and its end.
    private struct Open {
        enum Form { case none, single, object, array }

        var form = Form.none
        /// The number of this value among all that were begun, which tells it from another at its depth.
        let number: Int
        let start: Int
        let firstMember: Int
        /// True for an object of `nestedContainer(keyedBy:forKey:)`, which has no `encode(to:)` and ends when the value
        /// around it goes on.
        var isNested = false
        var isInOrder = true
    }

    /// The place of a value that is being written.
    struct Place {
        let depth: Int
        fileprivate let number: Int
    }

    private struct Member {
        let key: String
        let start: Int
    }

    // No access is under way while another begins; the checks of it would be a fifth of the time.
    @exclusivity(unchecked) private(set) var bytes: [UInt8] = []
    @exclusivity(unchecked) private var open: [Open] = []
    @exclusivity(unchecked) private var members: [Member] = []
    @exclusivity(unchecked) private var begun = 0

    /// False after a value that is left to Foundation, and after an error, which the value around it may have caught.
    private(set) var isWhole = true

    init() { bytes.reserveCapacity(1_024) }

    /// Writes a value through its `encode(to:)`.
    func write<Value: Encodable>(_ value: Value) throws {
        if Value.self == String.self, let text = value as? String { return write(text) }
        guard Value.self != Data.self, Value.self != Date.self, Value.self != URL.self, Value.self != Decimal.self
        else { throw unsupported() }
        let place = enter()
        do { try value.encode(to: JSONTextValueEncoder(buffer: self, place: place)) } catch {
            isWhole = false
            throw error
        }
        try leaveNested(above: place)
        guard isInnermost(place) else { throw unsupported() }
        try close(open.removeLast())
    }

    private func enter(asNested isNested: Bool = false) -> Place {
        let place = Place(depth: open.count, number: begun)
        begun += 1
        open.append(
            Open(number: place.number, start: bytes.count, firstMember: members.count, isNested: isNested))
        return place
    }

    private func isInnermost(_ place: Place) -> Bool {
        open.count == place.depth + 1 && open[place.depth].number == place.number
    }

    /// Ends the nested objects within a value that goes on.
    private func leaveNested(above place: Place) throws {
        while open.count > place.depth + 1, let last = open.last, last.isNested { try close(open.removeLast()) }
    }

    func unsupported() -> any Error {
        isWhole = false
        return Unsupported()
    }

    /// An encoder for what is left to Foundation where no error can be thrown; its text is dropped.
    func unsupportedEncoder() -> JSONTextValueEncoder {
        isWhole = false
        let dropped = JSONTextBuffer()
        return JSONTextValueEncoder(buffer: dropped, place: dropped.enter())
    }

    // MARK: Forms

    /// Makes a value an object, unless it is one already.
    func beginObject(at place: Place) { begin(.object, at: place) }

    /// Makes a value an array, unless it is one already.
    func beginArray(at place: Place) { begin(.array, at: place) }

    private func begin(_ form: Open.Form, at place: Place) {
        let depth = place.depth
        guard open.indices.contains(depth), open[depth].number == place.number else {
            isWhole = false
            return
        }
        if open[depth].form == .none { open[depth].form = form }
        if open[depth].form != form { isWhole = false }
    }

    func beginSingleValue(at place: Place) throws {
        guard isInnermost(place), open[place.depth].form == .none else { throw unsupported() }
        open[place.depth].form = .single
    }

    func beginMember(_ key: String, at place: Place) throws {
        try leaveNested(above: place)
        let depth = place.depth
        guard isInnermost(place), open[depth].form == .object else { throw unsupported() }
        if members.count > open[depth].firstMember, let last = members.last,
            !last.key.utf8.lexicographicallyPrecedes(key.utf8)
        {
            open[depth].isInOrder = false
        }
        members.append(Member(key: key, start: bytes.count))
        bytes.append(UInt8(ascii: ","))
        write(key)
        bytes.append(UInt8(ascii: ":"))
    }

    /// Begins a member that is an object, such as the associated values of an enum's case.
    ///
    /// - Returns: its place; nil where it is left to Foundation.
    func beginNestedObject(_ key: String, at place: Place) -> Place? {
        do { try beginMember(key, at: place) } catch { return nil }
        // Foundation goes on with an object that the member has already.
        if members[open[place.depth].firstMember...].dropLast().contains(where: { $0.key == key }) { isWhole = false }
        let nested = enter(asNested: true)
        beginObject(at: nested)
        return nested
    }

    func beginElement(at place: Place) throws {
        try leaveNested(above: place)
        guard isInnermost(place), open[place.depth].form == .array else { throw unsupported() }
        bytes.append(UInt8(ascii: ","))
    }

    private func close(_ value: Open) throws {
        switch value.form {
        case .single: break
        // Foundation refuses a document of no value, and writes an empty object for one within.
        case .none: throw unsupported()
        case .array: bracket(value, "[", "]")
        case .object:
            if !value.isInOrder { sort(value) }
            members.removeSubrange(value.firstMember...)
            bracket(value, "{", "}")
        }
    }

    private func bracket(_ value: Open, _ first: Unicode.Scalar, _ last: Unicode.Scalar) {
        if bytes.count == value.start {
            bytes.append(UInt8(ascii: first))
        } else {
            bytes[value.start] = UInt8(ascii: first)
        }
        bytes.append(UInt8(ascii: last))
    }

    /// Puts the members of an object in the order of their names; of two with one name the later counts.
    private func sort(_ value: Open) {
        let parts = members[value.firstMember...]
        let order = parts.indices.sorted { first, second in
            let (key, other) = (parts[first].key, parts[second].key)
            return key == other ? first < second : key.utf8.lexicographicallyPrecedes(other.utf8)
        }
        var sorted: [UInt8] = []
        sorted.reserveCapacity(bytes.count - value.start)
        for (place, index) in order.enumerated() {
            let isReplaced = place + 1 < order.count && parts[order[place + 1]].key == parts[index].key
            guard !isReplaced else { continue }
            let end = index + 1 < parts.endIndex ? parts[index + 1].start : bytes.count
            sorted.append(contentsOf: bytes[parts[index].start..<end])
        }
        bytes.replaceSubrange(value.start..., with: sorted)
    }

    // MARK: Values

    func writeNull() { bytes.append(contentsOf: "null".utf8) }

    func write(_ value: Bool) { bytes.append(contentsOf: value ? "true".utf8 : "false".utf8) }

    func write(integer value: some FixedWidthInteger) { bytes.append(contentsOf: String(value).utf8) }

    func write(_ text: String) {
        bytes.append(Self.quote)
        var text = text
        text.withUTF8 { utf8 in
            var begin = 0
            for index in utf8.indices {
                let byte = utf8[index]
                guard byte < 0x20 || byte == Self.quote || byte == Self.backslash else { continue }
                bytes.append(contentsOf: utf8[begin..<index])
                writeEscaped(byte)
                begin = index + 1
            }
            bytes.append(contentsOf: utf8[begin...])
        }
        bytes.append(Self.quote)
    }

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")
    private static let digits = Array("0123456789abcdef".utf8)

    private func writeEscaped(_ byte: UInt8) {
        bytes.append(Self.backslash)
        switch byte {
        case Self.quote, Self.backslash: bytes.append(byte)
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        default:
            bytes.append(contentsOf: "u00".utf8)
            bytes.append(Self.digits[Int(byte >> 4)])
            bytes.append(Self.digits[Int(byte & 15)])
        }
    }
}
