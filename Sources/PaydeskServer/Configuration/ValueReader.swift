import Domain

/// Reads one value as the type of its key; a fault is recorded, and the result is nil.
struct ValueReader {
    let node: YAMLNode
    let place: ConfigPath
    let reading: ConfigurationReading

    private struct Scalar {
        let text: String
        /// True where the text came from a variable, so that an empty one means "not set".
        let isSubstituted: Bool
    }

    var isNull: Bool { if case .null = node.content { true } else { false } }

    func fault(_ problem: String, _ remedy: String) { reading.fault(place, problem, remedy) }

    /// Any text, also an empty one; nil after a fault and where there is no value.
    func text() -> String? { isNull ? nil : scalar(expecting: "a text, in quotes where it holds a colon")?.text }

    func integer(in range: ClosedRange<Int64>) -> Int64? {
        let words = "a whole number" + Self.words(range)
        guard let text = filled(expecting: words) else { return nil }
        guard let number = Int64(text) else {
            fault("is not a whole number", "write \(words)")
            return nil
        }
        guard range.contains(number) else {
            fault("is out of range", "write \(words)")
            return nil
        }
        return number
    }

    /// A whole number; nil after a fault, and for `null`, which means none.
    func optionalInteger(in range: ClosedRange<Int64>) -> Int64? { isNull ? nil : integer(in: range) }

    func boolean() -> Bool? {
        switch filled(expecting: "true or false")?.lowercased() {
        case nil: return nil
        case "true": return true
        case "false": return false
        default:
            fault("is neither true nor false", "write true or false")
            return nil
        }
    }

    func choice(_ choices: [String]) -> String? {
        let words = "one of \(choices.joined(separator: ", "))"
        guard let text = filled(expecting: words) else { return nil }
        guard choices.contains(text) else {
            fault("is not a known choice", "write \(words)")
            return nil
        }
        return text
    }

    /// Reads a secret; `file:path` stands for the file's content without its trailing newlines.
    func secret() -> String? {
        guard let text = text() else { return nil }
        guard text.hasPrefix("file:") else { return text }
        let path = reading.absolute(String(text.dropFirst("file:".count)))
        guard var content = reading.text(ofFile: path, at: place) else { return nil }
        while content.last?.isNewline == true { content.removeLast() }
        if content.isEmpty { fault("names an empty file", "put the secret into it") }
        return content.isEmpty ? nil : content
    }

    /// The absolute path of a readable file; nil after a fault, and where the value is empty.
    func path() -> String? {
        guard let text = text(), !text.isEmpty else { return nil }
        let path = reading.absolute(text)
        guard reading.isReadableFile(path) else {
            fault("names a file that cannot be read, \(path)", "check that it exists and that Paydesk may read it")
            return nil
        }
        return path
    }

    /// The peers that may be reached without https, in development only.
    enum InsecurePeers {
        case loopback, anybody
    }

    /// An absolute https address, in development also http; nil after a fault, and where the value is empty.
    func webAddress(insecure peers: InsecurePeers) -> String? {
        guard let text = text(), !text.isEmpty else { return nil }
        guard let address = WebAddress(text), address.isWeb else {
            fault("is not an absolute address", "write one such as https://api.example.com")
            return nil
        }
        guard address.scheme == "http" else { return text }
        guard reading.isDevelopment else {
            fault("is http, which production refuses", "write the https:// address")
            return nil
        }
        guard peers == .anybody || address.isLoopback else {
            fault("is http to another machine", "write the https:// address; http is for loopback only")
            return nil
        }
        return text
    }

    /// Reads a list; null and an empty scalar are an empty list, and empty elements are left out.
    func elements() -> [ValueReader] {
        switch node.content {
        case .null: return []
        case .sequence(let nodes):
            return nodes.enumerated().compactMap { index, node in
                let element = ValueReader(node: node, place: place.element(index, line: node.line), reading: reading)
                return element.isEmpty ? nil : element
            }
        case .scalar, .mapping:
            if !isEmpty { fault("is not a list", "write it as [first, second]") }
            return []
        }
    }

    /// Reads a mapping that may have only these keys; null is an empty mapping.
    func mapping(keys: [String]) -> MappingReader {
        MappingReader(members: members(), keys: keys, place: place, reading: reading)
    }

    /// Reads a mapping with any keys.
    func members() -> [YAMLNode.Member] {
        switch node.content {
        case .null: return []
        case .mapping(let members): return members
        case .scalar, .sequence:
            fault("is not a mapping", "write its keys below it, or as {key: value}")
            return []
        }
    }

    /// True for null, and for a scalar that is empty after substitution.
    var isEmpty: Bool {
        switch node.content {
        case .null: true
        case .scalar(let text, _): (try? Substitution.apply(text, environment: reading.environment))?.text == ""
        case .sequence, .mapping: false
        }
    }

    /// Reads a scalar that must not be empty; an empty one from a variable stands for the default (nil).
    private func filled(expecting words: String) -> String? {
        guard !isNull else {
            fault("has no value", "write \(words), or remove the key")
            return nil
        }
        guard let scalar = scalar(expecting: words) else { return nil }
        guard scalar.text.isEmpty else { return scalar.text }
        if !scalar.isSubstituted { fault("has no value", "write \(words), or remove the key") }
        return nil
    }

    private func scalar(expecting words: String) -> Scalar? {
        guard case .scalar(let raw, _) = node.content else {
            fault("is a list or a mapping", "write \(words)")
            return nil
        }
        do {
            let result = try Substitution.apply(raw, environment: reading.environment)
            return Scalar(text: result.text, isSubstituted: result.changed)
        } catch {
            switch error {
            case .unset(let name):
                fault(
                    "needs the environment variable \(name), which is not set", "set it, or write ${\(name):-default}")
            case .malformed:
                fault(
                    "has a ${ without a name",
                    "write ${NAME} or ${NAME:-default} with capitals, or $${ for a literal ${")
            }
            return nil
        }
    }

    private static func words(_ range: ClosedRange<Int64>) -> String {
        switch (range.lowerBound, range.upperBound) {
        case (.min, .max): ""
        case (let least, .max): " of at least \(least)"
        case (.min, let most): " of at most \(most)"
        case (let least, let most): " from \(least) to \(most)"
        }
    }
}
