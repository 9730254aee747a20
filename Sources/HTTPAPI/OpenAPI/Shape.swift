import Domain
import FoundationEssentials

/// The shape of a JSON value: the part of JSON Schema (draft 2020-12) that the API needs.
struct Shape: Sendable {
    indirect enum Form: Sendable {
        case any
        case string(format: String?, length: ClosedRange<Int>?, pattern: String? = nil)
        case words([String])
        case integer(ClosedRange<Int64>?)
        case number
        case boolean
        case list(Shape)
        case map(Shape)
        case object([Member])
        /// One of several named objects; the member `by` has another single word in each of them.
        case oneOf([Shape], by: String? = nil)
        /// A shape of the document's `components`.
        case named(String, Shape)
    }

    /// One member of an object.
    struct Member: Sendable {
        let name: String
        let shape: Shape
        let isRequired: Bool
    }

    var form: Form
    var isNullable = false
    var note: String?
    /// A value as a client would see it; where there is none, ``exampleValue(_:)`` makes one from the form.
    var example: JSONValue?

    init(_ form: Form) { self.form = form }
}

extension Shape {
    static let any = Shape(.any)
    static let string = Shape(.string(format: nil, length: nil))
    static let number = Shape(.number)
    static let integer = Shape(.integer(nil))
    static let boolean = Shape(.boolean)
    /// Seconds since 1970-01-01 UTC.
    static let time = Shape(.integer(nil)).noted("Seconds since 1970-01-01 UTC.").shown("1736860000")
    /// A time of a query: seconds since 1970, or ISO 8601.
    static let moment = string.noted("Seconds since 1970-01-01 UTC, a date or an ISO 8601 time.").shown(
        #""2026-01-31""#)
    static let address = Shape(.string(format: "uri", length: nil)).shown(#""https://app.example/done""#)
    static let currency = Shape(.string(format: nil, length: 3...3)).noted("ISO 4217.").shown(#""CNY""#)
    /// An amount in integer minor units.
    static let money = named(
        "Money",
        .object(["value": Shape.integer.noted("Minor units, 3990 for 39.90.").shown("3990"), "currency": .currency]))

    /// - Parameter pattern: a regular expression that the whole text matches.
    static func string(_ length: ClosedRange<Int>, pattern: String? = nil) -> Shape {
        Shape(.string(format: nil, length: length, pattern: pattern))
    }
    static func integer(_ range: ClosedRange<Int64>) -> Shape { Shape(.integer(range)) }
    static func list(_ element: Shape) -> Shape { Shape(.list(element)) }
    static func map(_ value: Shape) -> Shape { Shape(.map(value)) }
    static func oneOf(_ shapes: [Shape], by member: String? = nil) -> Shape { Shape(.oneOf(shapes, by: member)) }
    static func named(_ name: String, _ shape: Shape) -> Shape { Shape(.named(name, shape)) }

    /// An id of ours with its prefix.
    static func id(_ prefix: String) -> Shape {
        string.noted("\(prefix)_…").shown("\"\(prefix)_01jdgk4zs8f4d9v3qkr6t2m7hx\"")
    }

    static func words(_ words: String...) -> Shape { Shape(.words(words)) }
    static func words(_ words: [String]) -> Shape { Shape(.words(words)) }

    /// The words of a closed list.
    static func words<Word: RawRepresentable<String> & CaseIterable>(_: Word.Type) -> Shape {
        Shape(.words(Word.allCases.map(\.rawValue)))
    }

    /// - Parameter optional: members that may be left out.
    static func object(
        _ members: KeyValuePairs<String, Shape>, optional: KeyValuePairs<String, Shape> = [:]
    ) -> Shape {
        Shape(
            .object(
                members.map { Member(name: $0.key, shape: $0.value, isRequired: true) }
                    + optional.map { Member(name: $0.key, shape: $0.value, isRequired: false) }))
    }

    var orNull: Shape {
        var shape = self
        shape.isNullable = true
        return shape
    }

    func noted(_ note: String) -> Shape {
        var shape = self
        shape.note = note
        return shape
    }

    /// The shape with an example, which is JSON text; a test compares every example with its shape.
    func shown(_ json: String) -> Shape {
        var shape = self
        shape.example = (try? JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))) ?? .null
        return shape
    }

    /// An object with further members.
    func adding(_ members: KeyValuePairs<String, Shape>, optional: KeyValuePairs<String, Shape> = [:]) -> Shape {
        guard case .object(let own) = form, case .object(let more) = Shape.object(members, optional: optional).form
        else { return self }
        var shape = self
        shape.form = .object(own + more)
        return shape
    }
}

extension Shape {
    /// The shape as JSON Schema.
    ///
    /// - Parameter components: takes the named shapes that it refers to.
    func schema(_ components: inout [String: JSONValue]) -> JSONValue {
        var schema = bare(&components)
        if isNullable { schema = Self.nullable(schema) }
        if let note { schema["description"] = .string(note) }
        return .object(schema)
    }

    private func bare(_ components: inout [String: JSONValue]) -> [String: JSONValue] {
        switch form {
        case .any: return [:]
        case .string(let format, let length, let pattern):
            var schema: [String: JSONValue] = ["type": .string("string")]
            if let format { schema["format"] = .string(format) }
            if let pattern { schema["pattern"] = .string("^\(pattern)$") }
            if let length {
                schema["minLength"] = .integer(Int64(length.lowerBound))
                schema["maxLength"] = .integer(Int64(length.upperBound))
            }
            return schema
        case .words(let words):
            return ["type": .string("string"), "enum": .array(words.map(JSONValue.string))]
        case .integer(let range):
            var schema: [String: JSONValue] = ["type": .string("integer"), "format": .string("int64")]
            if let range {
                schema["minimum"] = .integer(range.lowerBound)
                schema["maximum"] = .integer(range.upperBound)
            }
            return schema
        case .number: return ["type": .string("number")]
        case .boolean: return ["type": .string("boolean")]
        case .list(let element): return ["type": .string("array"), "items": element.schema(&components)]
        case .map(let value): return ["type": .string("object"), "additionalProperties": value.schema(&components)]
        case .object(let members): return Self.object(members, &components)
        case .oneOf(let shapes, let member):
            var schema: [String: JSONValue] = ["oneOf": .array(shapes.map { $0.schema(&components) })]
            if let member { schema["discriminator"] = Self.discriminator(member, shapes) }
            return schema
        case .named(let name, let shape):
            if components[name] == nil { components[name] = shape.schema(&components) }
            return ["$ref": .string("#/components/schemas/\(name)")]
        }
    }

    private static func object(
        _ members: [Member], _ components: inout [String: JSONValue]
    ) -> [String: JSONValue] {
        var properties: [String: JSONValue] = [:]
        for member in members { properties[member.name] = member.shape.schema(&components) }
        var schema: [String: JSONValue] = ["type": .string("object"), "properties": .object(properties)]
        let required = members.filter(\.isRequired).map { JSONValue.string($0.name) }
        if !required.isEmpty { schema["required"] = .array(required) }
        return schema
    }

    /// The Discriminator Object (OpenAPI Specification 3.1.1 section 4.8.25).
    private static func discriminator(_ member: String, _ shapes: [Shape]) -> JSONValue {
        var mapping: [String: JSONValue] = [:]
        for case .named(let name, let shape) in shapes.map(\.form) {
            guard case .object(let members) = shape.form,
                case .words(let words)? = members.first(where: { $0.name == member })?.shape.form
            else { continue }
            for word in words { mapping[word] = .string("#/components/schemas/\(name)") }
        }
        return .object(["propertyName": .string(member), "mapping": .object(mapping)])
    }

    private static func nullable(_ schema: [String: JSONValue]) -> [String: JSONValue] {
        if case .array(let words)? = schema["enum"] {
            var schema = schema
            schema["type"] = .array([.string("string"), .string("null")])
            schema["enum"] = .array(words + [.null])
            return schema
        }
        guard let type = schema["type"] else {
            return ["anyOf": .array([.object(schema), .object(["type": .string("null")])])]
        }
        var schema = schema
        schema["type"] = .array([type, .string("null")])
        return schema
    }
}
