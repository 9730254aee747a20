import Domain
import Yams

extension YAMLNode {
    func member(_ key: String) -> YAMLNode? {
        guard case .mapping(let members) = content else { return nil }
        return members.first { $0.key == key }?.value
    }

    func element(_ index: Int) -> YAMLNode? {
        guard case .sequence(let elements) = content, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// This value as JSON: a plain scalar that JSON spells the same way is a number or a boolean, any other is text.
    var json: JSONValue {
        switch content {
        case .null: .null
        case .scalar(let text, let isPlain): isPlain ? Self.plain(text) : .string(text)
        case .sequence(let elements): .array(elements.map(\.json))
        case .mapping(let members):
            .object(Dictionary(members.map { ($0.key, $0.value.json) }) { first, _ in first })
        }
    }

    private static func plain(_ text: String) -> JSONValue {
        switch text {
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        default: break
        }
        guard text.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+\-]?[0-9]+)?/) != nil else {
            return .string(text)
        }
        if let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else { return .string(text) }
        return .number(number)
    }
}

extension JSONValue {
    /// This value as YAML that is read back as the same value; ambiguous text is quoted.
    var yaml: Node {
        switch self {
        case .null: Node("null", Tag(.null), .plain)
        case .bool(let value): Node(value ? "true" : "false", Tag(.bool), .plain)
        case .integer(let value): Node(String(value), Tag(.int), .plain)
        case .number(let value): Node(String(value), Tag(.float), .plain)
        case .string(let text): Self.text(text)
        case .array(let elements): Node(elements.map(\.yaml), Tag(.seq), elements.isEmpty ? .flow : .any)
        case .object(let members):
            Node(
                members.sorted { $0.key < $1.key }.map { (Self.text($0.key), $0.value.yaml) }, Tag(.map),
                members.isEmpty ? .flow : .any)
        }
    }

    private static func text(_ text: String) -> Node {
        let isWord = text.wholeMatch(of: /[\p{L}_][\p{L}\p{N}_.\- ]*/) != nil && text.last != " "
        // Yams quotes text that a reader would take for a number, a boolean or null.
        let isText = isWord && text.represented().style == .any
        return Node(text, isText ? .implicit : Tag(.str), isText ? .plain : .doubleQuoted)
    }
}
