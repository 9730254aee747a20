import Encodings

/// Reads typed fields of one JSON object.
///
/// Null counts as absent. A field of another form than Apple documents is read as nil and recorded in `unread`, so that
/// only that field is lost; `required(_:_:)` is for the few fields without which a payload is useless.
struct ClaimReader {
    /// The most bytes of one of Apple's ids, such as a transaction's.
    static let id = 64
    /// The most bytes of a product's or an app's name.
    static let name = 255
    /// Milliseconds since 1970-01-01 UTC: the years 1970 to 9999.
    static let times: ClosedRange<Int64> = 0...253_402_300_799_999

    let unread: UnreadFields
    private let json: JSONDocument
    private let members: [JSONMember]

    init(_ json: JSONDocument) { self.init(json, json.root, UnreadFields()) }

    private init(_ json: JSONDocument, _ members: [JSONMember], _ unread: UnreadFields) {
        self.json = json
        self.members = members
        self.unread = unread
    }

    /// Reads a field without which the payload is refused.
    ///
    /// - Throws: `malformed`, with the field's name.
    func required<Value>(
        _ name: String, _ read: (ClaimReader) -> (String) -> Value?
    ) throws(AppleRefusal) -> Value {
        guard let value = try checked(name, read) else { throw .malformed("\(name) is missing") }
        return value
    }

    /// Reads a field that may be absent, but not of another form.
    ///
    /// - Throws: `malformed`, with the field's name.
    func checked<Value>(
        _ name: String, _ read: (ClaimReader) -> (String) -> Value?
    ) throws(AppleRefusal) -> Value? {
        guard node(name) != nil else { return nil }
        guard let value = read(self)(name) else { throw .malformed("\(name) is not what Apple writes there") }
        return value
    }

    func has(_ name: String) -> Bool { node(name) != nil }

    /// Reads text; empty text counts as absent.
    func text(_ name: String) -> String? { text(name, atMost: .max) }

    /// Reads one of Apple's ids: text of at most 64 bytes.
    func id(_ name: String) -> String? { text(name, atMost: Self.id) }

    /// Reads the name of a product or an app: text of at most 255 bytes.
    func identifier(_ name: String) -> String? { text(name, atMost: Self.name) }

    /// Reads a time within the years 1970 to 9999, fractions of a millisecond floored.
    func date(_ name: String) -> Int64? {
        read(name) { json.flooredInteger($0).flatMap { Self.times.contains($0) ? $0 : nil } }
    }

    /// Reads a whole number, also written as `3.0`.
    func integer(_ name: String, in range: ClosedRange<Int64>) -> Int64? {
        read(name) { json.integer($0).flatMap { range.contains($0) ? $0 : nil } }
    }

    /// Reads an amount in milliunits of a currency.
    func milliunits(_ name: String) -> Int64? { integer(name, in: 0...Int64.max) }

    /// Reads an ISO 4217 code: three capital letters.
    func currency(_ name: String) -> String? {
        guard node(name) != nil else { return nil }
        guard let text = text(name), text.hasBytes(3...3, where: \.isCapital) else {
            unread.add(name)
            return nil
        }
        return text
    }

    func flag(_ name: String) -> Bool? {
        read(name) { if case .bool(let flag) = $0 { flag } else { nil } }
    }

    /// Reads one of Apple's words; an unknown one keeps its text and is recorded in `unread`.
    func code<Known: RawRepresentable<String>>(_ name: String) -> AppleCode<Known>? {
        noted(name, text(name, atMost: Self.name).map(AppleCode.init(rawValue:)))
    }

    /// Reads one of Apple's numbers; an unknown one is kept and recorded in `unread`.
    func code<Known: RawRepresentable<Int>>(_ name: String) -> AppleCode<Known>? {
        noted(name, integer(name, in: Self.int32).map { AppleCode(rawValue: Int($0)) })
    }

    /// Reads a UUID (RFC 9562 section 4) and returns it in lower case.
    ///
    /// Empty text is not recorded: Apple writes it as the `appAccountToken` of an app that gave none.
    func uuid(_ name: String) -> String? {
        guard let text = text(name, atMost: .max) else { return nil }
        let characters = Array(text.lowercased().utf8)
        let isUUID =
            characters.count == 36
            && characters.indices.allSatisfy { index in
                [8, 13, 18, 23].contains(index)
                    ? characters[index] == UInt8(ascii: "-")
                    : Hex.value(characters[index], .lower) != nil
            }
        guard isUUID else {
            unread.add(name)
            return nil
        }
        return String(decoding: characters, as: UTF8.self)
    }

    /// Reads a list of texts; empty where it is absent or holds anything else.
    func texts(_ name: String) -> [String] {
        let found: [String]? = read(name) { node in
            guard case .array(let nodes) = node else { return nil }
            let texts = nodes.compactMap(json.string)
            return texts.count == nodes.count ? texts : nil
        }
        return found ?? []
    }

    func object(_ name: String) -> ClaimReader? {
        read(name) { node in
            guard case .object(let members) = node else { return nil }
            return ClaimReader(json, members, unread)
        }
    }

    /// Finds the first object under another name than these that a predicate accepts.
    func object(besides names: [String], where accepts: (ClaimReader) -> Bool) -> ClaimReader? {
        for member in members where !names.contains(member.name) {
            guard case .object(let members) = member.value else { continue }
            let reader = ClaimReader(json, members, unread)
            if accepts(reader) { return reader }
        }
        return nil
    }

    static let int32 = Int64(Int32.min)...Int64(Int32.max)

    /// - Returns: nil for an absent field and for empty text; and, recorded in `unread`, for anything but text, for longer
    ///   text, and for a control character, which none of Apple's names has and no database column takes.
    private func text(_ name: String, atMost bytes: Int) -> String? {
        guard let node = node(name) else { return nil }
        guard let text = json.string(node), text.utf8.count <= bytes,
            !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else {
            unread.add(name)
            return nil
        }
        return text.isEmpty ? nil : text
    }

    private func read<Value>(_ name: String, _ value: (JSONNode) -> Value?) -> Value? {
        guard let node = node(name) else { return nil }
        guard let value = value(node) else {
            unread.add(name)
            return nil
        }
        return value
    }

    private func noted<Known>(_ name: String, _ code: AppleCode<Known>?) -> AppleCode<Known>? {
        if let code, code.known == nil { unread.add(name) }
        return code
    }

    private func node(_ name: String) -> JSONNode? {
        guard let node = members[name] else { return nil }
        if case .null = node { return nil }
        return node
    }
}

/// The names of a payload's fields that could not be read, each once, in the order of reading.
///
/// Only names that this program reads can be among them, so their number is bounded.
final class UnreadFields {
    private(set) var names: [String] = []

    func add(_ name: String) {
        if !names.contains(name) { names.append(name) }
    }
}
