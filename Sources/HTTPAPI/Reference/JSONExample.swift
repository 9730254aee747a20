import Domain

/// JSON for people: short objects and lists in a line, others with a line for each member, names sorted.
enum JSONExample {
    private static let lineLength = 76

    static func text(_ value: JSONValue) -> String { text(value, indent: 0) }

    private static func text(_ value: JSONValue, indent: Int) -> String {
        let line = line(value)
        if indent + line.utf8.count <= lineLength { return line }
        let margin = String(repeating: " ", count: indent + 2)
        let end = String(repeating: " ", count: indent)
        switch value {
        case .array(let elements):
            let lines = elements.map { margin + text($0, indent: indent + 2) }
            return "[\n\(lines.joined(separator: ",\n"))\n\(end)]"
        case .object(let members):
            let lines = members.sorted { $0.key < $1.key }.map { name, value in
                "\(margin)\(quoted(name)): \(text(value, indent: indent + 2))"
            }
            return "{\n\(lines.joined(separator: ",\n"))\n\(end)}"
        default: return line
        }
    }

    /// Returns the value in a line.
    private static func line(_ value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let text): quoted(text)
        case .array(let elements): "[\(elements.map(line).joined(separator: ", "))]"
        case .object(let members):
            "{"
                + members.sorted { $0.key < $1.key }.map { "\(quoted($0)): \(line($1))" }.joined(separator: ", ")
                + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        (try? JSONText.line(text)) ?? "\"\""
    }
}
