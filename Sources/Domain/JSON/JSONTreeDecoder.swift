/// A type that a JSON value must have, in JSON Schema's words.
package enum JSONType: String, Sendable {
    case string, integer, number, boolean, array, object
}

/// A mismatch between a JSON value and the decoded type, with the value's path.
package struct JSONMisfit: Error, Sendable, Equatable {
    package enum Problem: Sendable, Equatable {
        case missing
        /// Another type, or null.
        case type(JSONType)
        /// The string is none of the allowed ones.
        case words([String])
    }

    /// The value's path, `prices[0].value`; empty for the whole text.
    package let place: String
    package let problem: Problem

    package init(place: String, problem: Problem) {
        self.place = place
        self.problem = problem
    }

    /// Writes a path of coding keys as `prices[0].value`.
    package static func place(_ path: [any CodingKey]) -> String {
        path.reduce("") { place, key in
            // A member may be named like a number, too; only an element's key has this text, as JSONDecoder's does.
            if let index = key.intValue, key.stringValue == "Index \(index)" { return "\(place)[\(index)]" }
            return place.isEmpty ? key.stringValue : "\(place).\(key.stringValue)"
        }
    }
}

extension Decoder {
    /// True while decoding only looks for unknown members, so that values do not matter.
    package var isSurvey: Bool { (self as? TreeDecoder)?.notes.isSurvey ?? false }
}

/// A member of an object that no coding key of its type names.
package struct UnknownMember: Sendable, Equatable {
    /// The member's path, `prices[0].vlaue`.
    package let place: String
    /// The known name that resembles it most; nil where the type asked for none.
    package let nearest: String?
}

extension JSONTree {
    /// Decodes a value.
    ///
    /// - Throws: ``JSONMisfit``, or what the type itself throws.
    package func decode<Value: Decodable>(_: Value.Type = Value.self) throws -> Value {
        try Value(from: TreeDecoder(node: self, path: [], notes: DecodingNotes()))
    }

    /// Finds the first member that no coding key of its type names.
    ///
    /// Missing values are made up, so that a misspelled member is found although the right one is missing.
    package func unknownMember<Value: Decodable>(of _: Value.Type) -> UnknownMember? {
        let notes = DecodingNotes(isSurvey: true)
        _ = try? Value(from: TreeDecoder(node: self, path: [], notes: notes))
        return notes.unknownMember
    }
}

/// The members that a decoding met, and those that a key named.
private final class DecodingNotes {
    /// True where missing values are made up.
    let isSurvey: Bool
    /// The members that no key has named, and the names that keys have asked for, by the object's path.
    private var unknown: [(place: String, names: [String])] = []
    private var known: [String: [String]] = [:]

    init(isSurvey: Bool = false) { self.isSurvey = isSurvey }

    /// Records an object and the keys that a type reads of it; where several types read it, a member is unknown only if
    /// none of them knows it.
    func read(_ place: String, _ members: [JSONTree.Member], isKnown: (String) -> Bool) {
        guard isSurvey else { return }
        let names = members.map(\.name).filter { !isKnown($0) }
        if let index = unknown.firstIndex(where: { $0.place == place }) {
            unknown[index].names.removeAll { !names.contains($0) }
        } else {
            unknown.append((place, names))
        }
    }

    func ask(_ place: String, _ name: String) {
        if isSurvey { known[place, default: []].append(name) }
    }

    var unknownMember: UnknownMember? {
        guard let found = unknown.first(where: { !$0.names.isEmpty }), let name = found.names.first else { return nil }
        return UnknownMember(
            place: found.place.isEmpty ? name : "\(found.place).\(name)",
            nearest: NearestName.of(name, among: known[found.place] ?? []))
    }
}

private struct TreeDecoder: Decoder {
    let node: JSONTree
    let path: [any CodingKey]
    let notes: DecodingNotes

    var codingPath: [any CodingKey] { path }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy _: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = node else { throw misfit(.type(.object)) }
        notes.read(place, members) { Key(stringValue: $0) != nil }
        return KeyedDecodingContainer(KeyedTree(members: members, decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = node else { throw misfit(.type(.array)) }
        return ListedTree(elements: elements, decoder: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { SingleTree(decoder: self) }

    func below(_ key: any CodingKey, _ node: JSONTree) -> TreeDecoder {
        TreeDecoder(node: node, path: path + [key], notes: notes)
    }

    // MARK: Values

    func value<Value: Decodable>(_: Value.Type) throws -> Value {
        if let words = Self.words(of: Value.self), case .string(let word) = node, !words.contains(word) {
            throw misfit(.words(words))
        }
        return try Value(from: self)
    }

    func string() throws -> String {
        guard case .string(let text) = node else { throw misfit(.type(.string)) }
        return text
    }

    func bool() throws -> Bool {
        guard case .bool(let value) = node else { throw misfit(.type(.boolean)) }
        return value
    }

    func integer<Integer: FixedWidthInteger>() throws -> Integer {
        guard case .number(let text) = node else { throw misfit(.type(.integer)) }
        if let value = Integer(text) { return value }
        // 3.0 and 3e2 are integers too (JSON Schema, section 4.2.3), as far as a Double is exact.
        guard let value = Double(text), value.magnitude < 9_007_199_254_740_992, let exact = Integer(exactly: value)
        else { throw misfit(.type(.integer)) }
        return exact
    }

    func number() throws -> Double {
        guard case .number(let text) = node, let value = Double(text), value.isFinite else {
            throw misfit(.type(.number))
        }
        return value
    }

    // MARK: Faults

    var place: String { JSONMisfit.place(path) }

    func misfit(_ problem: JSONMisfit.Problem) -> JSONMisfit { JSONMisfit(place: place, problem: problem) }

    /// The raw values of an enum that is written as a string; nil for any other type.
    private static func words<Value>(of _: Value.Type) -> [String]? {
        guard let type = Value.self as? any (RawRepresentable<String> & CaseIterable).Type else { return nil }
        return words(type)
    }

    private static func words<Word: RawRepresentable<String> & CaseIterable>(_: Word.Type) -> [String] {
        Word.allCases.map(\.rawValue)
    }
}

private struct KeyedTree<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: [JSONTree.Member]
    let decoder: TreeDecoder

    var codingPath: [any CodingKey] { decoder.path }
    var allKeys: [Key] { members.compactMap { Key(stringValue: $0.name) } }

    private func find(_ key: any CodingKey) -> JSONTree? {
        decoder.notes.ask(decoder.place, key.stringValue)
        return members.first { $0.name == key.stringValue }?.value
    }

    private func below(_ key: any CodingKey, else made: JSONTree) throws -> TreeDecoder {
        if let node = find(key), !(decoder.notes.isSurvey && node == .null) { return decoder.below(key, node) }
        guard decoder.notes.isSurvey else { throw decoder.below(key, .null).misfit(.missing) }
        return decoder.below(key, made)
    }

    /// A value of a survey does not matter, so one that does not fit is made up too.
    private func survey<Value>(_ made: Value, _ read: () throws -> Value) throws -> Value {
        guard decoder.notes.isSurvey else { return try read() }
        return (try? read()) ?? made
    }

    func contains(_ key: Key) -> Bool { find(key) != nil }
    func decodeNil(forKey key: Key) -> Bool { find(key) == .null }
    func decode(_: Bool.Type, forKey key: Key) throws -> Bool {
        try survey(false) { try below(key, else: .bool(false)).bool() }
    }
    func decode(_: String.Type, forKey key: Key) throws -> String {
        try survey("") { try below(key, else: .string("")).string() }
    }
    func decode(_: Double.Type, forKey key: Key) throws -> Double {
        try survey(0) { try below(key, else: .number("0")).number() }
    }
    func decode(_: Float.Type, forKey key: Key) throws -> Float { Float(try decode(Double.self, forKey: key)) }
    func decode(_: Int.Type, forKey key: Key) throws -> Int { try integer(key) }
    func decode(_: Int8.Type, forKey key: Key) throws -> Int8 { try integer(key) }
    func decode(_: Int16.Type, forKey key: Key) throws -> Int16 { try integer(key) }
    func decode(_: Int32.Type, forKey key: Key) throws -> Int32 { try integer(key) }
    func decode(_: Int64.Type, forKey key: Key) throws -> Int64 { try integer(key) }
    func decode(_: UInt.Type, forKey key: Key) throws -> UInt { try integer(key) }
    func decode(_: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(key) }
    func decode(_: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(key) }
    func decode(_: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(key) }
    func decode(_: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(key) }

    private func integer<Integer: FixedWidthInteger>(_ key: Key) throws -> Integer {
        try survey(0) { try below(key, else: .number("0")).integer() }
    }

    func decode<Value: Decodable>(_: Value.Type, forKey key: Key) throws -> Value {
        guard decoder.notes.isSurvey else { return try below(key, else: .null).value(Value.self) }
        let nodes: [JSONTree] = find(key).map { [$0] } ?? [.object([]), .array([])]
        for node in nodes {
            if let value = try? decoder.below(key, node).value(Value.self) { return value }
        }
        if let words = Value.self as? any CaseIterable.Type, let first = Self.firstCase(words) as? Value {
            return first
        }
        throw decoder.below(key, .null).misfit(.missing)
    }

    private static func firstCase<Word: CaseIterable>(_: Word.Type) -> Any? { Word.allCases.first }

    func nestedContainer<Nested: CodingKey>(
        keyedBy _: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try below(key, else: .object([])).container(keyedBy: Nested.self)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try below(key, else: .array([])).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { decoder }
    func superDecoder(forKey key: Key) throws -> any Decoder { try below(key, else: .object([])) }
}

private struct ElementKey: CodingKey {
    let index: Int
    var intValue: Int? { index }
    var stringValue: String { "Index \(index)" }

    init(index: Int) { self.index = index }
    init?(intValue: Int) { index = intValue }
    init?(stringValue _: String) { nil }
}

private struct ListedTree: UnkeyedDecodingContainer {
    let elements: [JSONTree]
    let decoder: TreeDecoder
    var currentIndex = 0

    init(elements: [JSONTree], decoder: TreeDecoder) {
        self.elements = elements
        self.decoder = decoder
    }

    var codingPath: [any CodingKey] { decoder.path }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    private mutating func next() throws -> TreeDecoder {
        let key = ElementKey(index: currentIndex)
        guard !isAtEnd else { throw decoder.below(key, .null).misfit(.missing) }
        defer { currentIndex += 1 }
        return decoder.below(key, elements[currentIndex])
    }

    mutating func decodeNil() -> Bool {
        guard !isAtEnd, elements[currentIndex] == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode(_: Bool.Type) throws -> Bool { try next().bool() }
    mutating func decode(_: String.Type) throws -> String { try next().string() }
    mutating func decode(_: Double.Type) throws -> Double { try next().number() }
    mutating func decode(_: Float.Type) throws -> Float { Float(try next().number()) }
    mutating func decode(_: Int.Type) throws -> Int { try next().integer() }
    mutating func decode(_: Int8.Type) throws -> Int8 { try next().integer() }
    mutating func decode(_: Int16.Type) throws -> Int16 { try next().integer() }
    mutating func decode(_: Int32.Type) throws -> Int32 { try next().integer() }
    mutating func decode(_: Int64.Type) throws -> Int64 { try next().integer() }
    mutating func decode(_: UInt.Type) throws -> UInt { try next().integer() }
    mutating func decode(_: UInt8.Type) throws -> UInt8 { try next().integer() }
    mutating func decode(_: UInt16.Type) throws -> UInt16 { try next().integer() }
    mutating func decode(_: UInt32.Type) throws -> UInt32 { try next().integer() }
    mutating func decode(_: UInt64.Type) throws -> UInt64 { try next().integer() }
    mutating func decode<Value: Decodable>(_: Value.Type) throws -> Value { try next().value(Value.self) }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy _: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try next().container(keyedBy: Nested.self)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try next() }
}

private struct SingleTree: SingleValueDecodingContainer {
    let decoder: TreeDecoder

    var codingPath: [any CodingKey] { decoder.path }

    func decodeNil() -> Bool { decoder.node == .null }
    func decode(_: Bool.Type) throws -> Bool { try decoder.bool() }
    func decode(_: String.Type) throws -> String { try decoder.string() }
    func decode(_: Double.Type) throws -> Double { try decoder.number() }
    func decode(_: Float.Type) throws -> Float { Float(try decoder.number()) }
    func decode(_: Int.Type) throws -> Int { try decoder.integer() }
    func decode(_: Int8.Type) throws -> Int8 { try decoder.integer() }
    func decode(_: Int16.Type) throws -> Int16 { try decoder.integer() }
    func decode(_: Int32.Type) throws -> Int32 { try decoder.integer() }
    func decode(_: Int64.Type) throws -> Int64 { try decoder.integer() }
    func decode(_: UInt.Type) throws -> UInt { try decoder.integer() }
    func decode(_: UInt8.Type) throws -> UInt8 { try decoder.integer() }
    func decode(_: UInt16.Type) throws -> UInt16 { try decoder.integer() }
    func decode(_: UInt32.Type) throws -> UInt32 { try decoder.integer() }
    func decode(_: UInt64.Type) throws -> UInt64 { try decoder.integer() }
    func decode<Value: Decodable>(_: Value.Type) throws -> Value { try decoder.value(Value.self) }
}
