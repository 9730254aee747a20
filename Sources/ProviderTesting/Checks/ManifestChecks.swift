import Domain
import ProviderKit

extension Check {
    static let manifest = [
        Check("the manifest is complete") { stage in
            let manifest = stage.manifest
            try stage.expect(isName(manifest.kind), "the kind is not [a-z][a-z0-9_]*: \(manifest.kind)")
            try stage.expect(!manifest.displayName.isEmpty, "the display name is empty")
            try stage.expect(!manifest.contractTypes.isEmpty, "there is no contract type")
            try stage.expect(isDistinct(manifest.contractTypes), "a contract type is listed twice")
            try stage.expect(isDistinct(manifest.currencies), "a currency is listed twice")
            try stage.expect(isDistinct(manifest.notifications), "a notification method is listed twice")
        },
        Check("the settings schema is sound") { stage in
            try check(stage.manifest.settings, "settings", stage)
        },
        Check("an account's contract types are the manifest's") { stage in
            let types = try stage.provider().contractTypes
            try stage.expect(!types.isEmpty, "this account makes no contract")
            try stage.expect(types.isSubset(of: stage.manifest.contractTypes), "\(types) are not all in the manifest")
        },
    ]

    private static func check(_ schema: SettingsSchema, _ path: String, _ stage: ConformanceFixture) throws {
        try stage.expect(isDistinct(schema.fields.map(\.name)), "\(path): a field is listed twice")
        for field in schema.fields {
            let path = "\(path).\(field.name)"
            try stage.expect(isName(field.name), "\(path): the name is not [a-z][a-z0-9_]*")
            try stage.expect(!field.summary.isEmpty, "\(path): the summary is empty")
            try stage.expect(!(field.required && field.defaultValue != nil), "\(path): required, and yet has a default")
            if let value = field.defaultValue {
                try stage.expect(fits(value, field.type), "\(path): the default is not of its type")
            }
            try check(field.type, field.developmentOnlyChoices, path, stage)
        }
    }

    private static func check(
        _ type: SettingsSchema.FieldType, _ developmentOnly: [String], _ path: String, _ stage: ConformanceFixture
    ) throws {
        switch type {
        case .choice(let words):
            try stage.expect(!words.isEmpty && isDistinct(words), "\(path): the choices are empty or repeat")
            try stage.expect(
                Set(developmentOnly).isSubset(of: words), "\(path): a development-only choice is not a choice")
        case .list(let element): try check(element, developmentOnly, path, stage)
        case .object(let schema): try check(schema, path, stage)
        case .map(let element): try check(element, developmentOnly, path, stage)
        case .text, .secret, .integer, .boolean, .url, .path:
            try stage.expect(developmentOnly.isEmpty, "\(path): it has no choices that could be development-only")
        }
    }

    private static func fits(_ value: SettingValue, _ type: SettingsSchema.FieldType) -> Bool {
        switch (type, value) {
        case (.text, .text), (.url, .text), (.path, .text), (.boolean, .boolean): true
        // A secret with a default would ship with the binary and be none.
        case (.secret, .text(let text)): text.isEmpty
        case (.integer(let range), .integer(let number)): range.contains(number)
        case (.choice(let words), .text(let word)): words.contains(word)
        case (.list(let element), .list(let values)): values.allSatisfy { fits($0, element) }
        case (.object(let schema), .object(let members)):
            members.allSatisfy { name, member in
                schema.fields.first { $0.name == name }.map { fits(member, $0.type) } ?? false
            }
        case (.map(let element), .object(let members)): members.values.allSatisfy { fits($0, element) }
        default: false
        }
    }

    /// Returns whether the text is `[a-z][a-z0-9_]*`.
    private static func isName(_ text: String) -> Bool {
        return text.utf8.first?.isSmallLetter ?? false
            && text.utf8.allSatisfy { $0.isSmallLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
    }

    private static func isDistinct(_ values: [some Hashable]) -> Bool { Set(values).count == values.count }
}
