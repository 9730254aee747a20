/// The settings that an account of a kind may have; others are refused at the start.
public struct SettingsSchema: Sendable, Equatable {
    public indirect enum FieldType: Sendable, Equatable {
        case text
        /// A value that is never shown; usually given as `file:path` or `${NAME}`.
        case secret
        case integer(ClosedRange<Int64>)
        case boolean
        case choice([String])
        /// An absolute https address; http only in development.
        case url
        /// A file, relative to the configuration folder; the provider gets its absolute path.
        case path
        case list(FieldType)
        case object(SettingsSchema)
        /// An object with any keys, each with a value of this type.
        case map(FieldType)
    }

    public struct Field: Sendable, Equatable {
        public var name: String
        public var type: FieldType
        public var required: Bool
        /// The value of an absent key; nil leaves it absent.
        public var defaultValue: SettingValue?
        /// True for a setting that production mode refuses unless it is empty.
        public var developmentOnly: Bool
        /// Choices that production mode refuses.
        public var developmentOnlyChoices: [String]
        /// A sentence for the admin.
        public var summary: String

        public init(
            _ name: String, _ type: FieldType, required: Bool = false, default defaultValue: SettingValue? = nil,
            developmentOnly: Bool = false, developmentOnlyChoices: [String] = [], summary: String
        ) {
            self.name = name
            self.type = type
            self.required = required
            self.defaultValue = defaultValue
            self.developmentOnly = developmentOnly
            self.developmentOnlyChoices = developmentOnlyChoices
            self.summary = summary
        }
    }

    public var fields: [Field]

    public init(_ fields: [Field]) { self.fields = fields }
}

/// The value of a setting after substitution, converted to its schema's type, or the default.
public enum SettingValue: Sendable, Equatable {
    case text(String)
    case integer(Int64)
    case boolean(Bool)
    case list([SettingValue])
    case object([String: SettingValue])
}

extension SettingsSchema {
    /// The schema as JSON Schema (draft 2020-12), for `GET /v1/admin/providers`.
    package var jsonSchema: JSONSchema {
        JSONSchema(
            type: "object", description: nil,
            properties: Dictionary(
                uniqueKeysWithValues: fields.map { ($0.name, $0.type.jsonSchema(description: $0.summary)) }),
            required: fields.filter(\.required).map(\.name), additionalProperties: false)
    }
}

/// The part of JSON Schema that ``SettingsSchema`` needs.
package final class JSONSchema: Encodable, Sendable {
    private let type: String
    private let description: String?
    private let format: String?
    private let minimum: Int64?
    private let maximum: Int64?
    private let choices: [String]?
    private let writeOnly: Bool?
    private let items: JSONSchema?
    private let properties: [String: JSONSchema]?
    private let required: [String]?
    private let additionalProperties: Bool?

    private enum CodingKeys: String, CodingKey {
        case type, description, format, minimum, maximum, writeOnly, items, properties, required, additionalProperties
        case choices = "enum"
    }

    package init(
        type: String, description: String?, format: String? = nil, minimum: Int64? = nil, maximum: Int64? = nil,
        choices: [String]? = nil, writeOnly: Bool? = nil, items: JSONSchema? = nil,
        properties: [String: JSONSchema]? = nil,
        required: [String]? = nil, additionalProperties: Bool? = nil
    ) {
        self.type = type
        self.description = description
        self.format = format
        self.minimum = minimum
        self.maximum = maximum
        self.choices = choices
        self.writeOnly = writeOnly
        self.items = items
        self.properties = properties
        self.required = required
        self.additionalProperties = additionalProperties
    }
}

extension SettingsSchema.FieldType {
    fileprivate func jsonSchema(description: String?) -> JSONSchema {
        switch self {
        case .text: JSONSchema(type: "string", description: description)
        case .secret: JSONSchema(type: "string", description: description, writeOnly: true)
        case .path: JSONSchema(type: "string", description: description, format: "path")
        case .url: JSONSchema(type: "string", description: description, format: "uri")
        case .boolean: JSONSchema(type: "boolean", description: description)
        case .choice(let choices): JSONSchema(type: "string", description: description, choices: choices)
        case .integer(let range):
            JSONSchema(type: "integer", description: description, minimum: range.lowerBound, maximum: range.upperBound)
        case .list(let element):
            JSONSchema(type: "array", description: description, items: element.jsonSchema(description: nil))
        case .object(let schema):
            JSONSchema(
                type: "object", description: description,
                properties: Dictionary(
                    uniqueKeysWithValues: schema.fields.map { ($0.name, $0.type.jsonSchema(description: $0.summary)) }),
                required: schema.fields.filter(\.required).map(\.name), additionalProperties: false)
        case .map: JSONSchema(type: "object", description: description, additionalProperties: true)
        }
    }
}
