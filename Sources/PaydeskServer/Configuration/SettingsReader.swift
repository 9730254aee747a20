import ProviderKit

/// Reads an account's `settings` by the schema of its kind.
enum SettingsReader {
    static func read(_ value: ValueReader, _ schema: SettingsSchema) -> [String: SettingValue] {
        read(value.mapping(keys: schema.fields.map(\.name)), schema)
    }

    static func read(_ mapping: MappingReader, _ schema: SettingsSchema) -> [String: SettingValue] {
        var values: [String: SettingValue] = [:]
        for field in schema.fields { values[field.name] = value(of: field, in: mapping) }
        return values
    }

    private static func value(of field: SettingsSchema.Field, in mapping: MappingReader) -> SettingValue? {
        guard let reader = mapping[field.name] else { return missing(field, in: mapping) }
        let before = reader.reading.faults.count
        let value = read(reader, field.type, isSecret: Self.isSecret(field.name))
        guard reader.reading.faults.count == before else { return nil }
        checkMode(field, value, at: reader)
        guard isBlank(value) else { return value }
        if field.required { return missing(field, in: mapping) }
        // An empty text or list is a value of its own; an empty address, file, number or choice stands for the default.
        switch field.type {
        case .text, .secret, .list: return value ?? field.defaultValue
        default: return field.defaultValue
        }
    }

    private static func missing(_ field: SettingsSchema.Field, in mapping: MappingReader) -> SettingValue? {
        if field.required, field.defaultValue == nil {
            mapping.fault(field.name, "is missing", "add it: \(field.summary)")
        }
        if let value = field.defaultValue { return value }
        guard case .object(let schema) = field.type, !schema.fields.contains(where: \.required) else { return nil }
        return .object(read(mapping.section(field.name, keys: schema.fields.map(\.name)), schema))
    }

    private static func read(_ reader: ValueReader, _ type: SettingsSchema.FieldType, isSecret: Bool) -> SettingValue? {
        switch type {
        case .text: (isSecret ? reader.secret() : reader.text()).map { .text($0) }
        case .secret: reader.secret().map { .text($0) }
        case .integer(let range): reader.integer(in: range).map { .integer($0) }
        case .boolean: reader.boolean().map { .boolean($0) }
        case .choice(let choices): reader.isEmpty ? nil : reader.choice(choices).map { .text($0) }
        case .url: reader.webAddress(insecure: .anybody).map { .text($0) }
        case .path: reader.path().map { .text($0) }
        case .list(let element):
            .list(reader.elements().compactMap { read($0, element, isSecret: isSecret) })
        case .object(let schema): .object(read(reader, schema))
        case .map(let element): .object(map(reader, element))
        }
    }

    private static func map(
        _ reader: ValueReader, _ element: SettingsSchema.FieldType
    ) -> [String: SettingValue] {
        let members = reader.members()
        let mapping = reader.mapping(keys: members.map(\.key))
        var values: [String: SettingValue] = [:]
        for member in members {
            values[member.key] = mapping[member.key].flatMap { read($0, element, isSecret: false) }
        }
        return values
    }

    private static func checkMode(_ field: SettingsSchema.Field, _ value: SettingValue?, at reader: ValueReader) {
        guard !reader.reading.isDevelopment, let value else { return }
        if field.developmentOnly, !isEmpty(value) {
            reader.fault("is for development only", "empty it, or remove it")
        }
        let refused = Set(texts(value)).intersection(field.developmentOnlyChoices).sorted()
        if !refused.isEmpty {
            reader.fault("has \(refused.joined(separator: ", ")), which is for development only", "remove it")
        }
    }

    private static func texts(_ value: SettingValue) -> [String] {
        switch value {
        case .text(let text): [text]
        case .list(let elements): elements.flatMap(texts)
        default: []
        }
    }

    private static func isBlank(_ value: SettingValue?) -> Bool {
        switch value {
        case nil, .text(""), .list([]): true
        default: false
        }
    }

    /// Returns whether a value is empty, which a development-only field must be in production.
    private static func isEmpty(_ value: SettingValue) -> Bool {
        switch value {
        case .text(let text): text.isEmpty
        case .integer(let number): number == 0
        case .boolean(let value): !value
        case .list(let elements): elements.isEmpty
        case .object(let members): members.values.allSatisfy(isEmpty)
        }
    }

    /// Returns whether the values of a key may be `file:path`, whatever their type.
    private static func isSecret(_ key: String) -> Bool { key == "private_key" || key.contains("secret") }
}
