import Domain

extension Shape {
    /// Returns the shape as JSON Schema.
    ///
    /// - Parameter components: takes the named shapes to which the schema refers.
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
            schema.bound(by: length, "Length")
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
        case .list(let element, let count, let isSet):
            var schema: [String: JSONValue] = ["type": .string("array"), "items": element.schema(&components)]
            schema.bound(by: count, "Items")
            if isSet { schema["uniqueItems"] = .bool(true) }
            return schema
        case .map(let value, let keys, let count):
            var schema: [String: JSONValue] = [
                "type": .string("object"), "additionalProperties": value.schema(&components),
            ]
            schema.bound(by: count, "Properties")
            if let keys { schema["propertyNames"] = keys.schema(&components) }
            return schema
        case .object(let members):
            var schema = Self.object(members, &components)
            if isClosed { schema["additionalProperties"] = .bool(false) }
            return schema
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

    /// Makes the Discriminator Object (OpenAPI Specification 3.1.1 section 4.8.25).
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

extension [String: JSONValue] {
    /// Adds `minItems` and `maxItems`, or their like; an end without a bound is left out.
    fileprivate mutating func bound(by range: ClosedRange<Int>?, _ what: String) {
        guard let range else { return }
        if range.lowerBound > 0 { self["min\(what)"] = .integer(Int64(range.lowerBound)) }
        if range.upperBound < .max { self["max\(what)"] = .integer(Int64(range.upperBound)) }
    }
}
