import Yams

/// A parsed YAML value with its line.
///
/// Scalars are stored as text, because the key's type decides how they are read.
struct YAMLNode: Sendable {
    indirect enum Content: Sendable {
        case null
        /// `isPlain` means without quotes, the only form in which YAML recognises numbers and booleans.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        case mapping([Member])
    }

    struct Member: Sendable {
        let key: String
        let value: YAMLNode
    }

    let content: Content
    /// The number of the line, from 1.
    let line: Int?

    static let null = YAMLNode(content: .null, line: nil)

    /// The most bytes of one file.
    static let sizeLimit = 1 << 20
    /// The most values after aliases are followed: a small file can otherwise expand to billions of them.
    private static let valueLimit = 200_000
    private static let depthLimit = 100

    /// Parses one document; an empty text is null.
    ///
    /// - Throws: ``YAMLFault`` for invalid syntax, a repeated key, a key that is no scalar, and a text beyond the
    ///   limits.
    static func parse(_ text: String) throws(YAMLFault) -> YAMLNode {
        guard text.utf8.count <= sizeLimit else { throw YAMLFault(line: nil, problem: "is larger than 1 MiB") }
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            throw YAMLFault(error)
        }
        guard let root else { return .null }
        var budget = valueLimit
        return try convert(root, depth: 0, &budget)
    }

    private static func convert(_ node: Node, depth: Int, _ budget: inout Int) throws(YAMLFault) -> YAMLNode {
        budget -= 1
        guard budget >= 0 else { throw YAMLFault(line: node.mark?.line, problem: "has too many values") }
        guard depth < depthLimit else { throw YAMLFault(line: node.mark?.line, problem: "is nested too deeply") }
        switch node {
        case .scalar(let scalar):
            return YAMLNode(content: content(of: scalar), line: scalar.mark?.line)
        case .sequence(let sequence):
            var elements: [YAMLNode] = []
            for element in sequence { elements.append(try convert(element, depth: depth + 1, &budget)) }
            return YAMLNode(content: .sequence(elements), line: sequence.mark?.line)
        case .mapping(let mapping):
            var members: [Member] = []
            for (key, value) in mapping {
                guard case .scalar(let name) = key else {
                    throw YAMLFault(line: key.mark?.line, problem: "has a key that is not a plain text")
                }
                members.append(Member(key: name.string, value: try convert(value, depth: depth + 1, &budget)))
            }
            return YAMLNode(content: .mapping(members), line: mapping.mark?.line)
        case .alias:
            throw YAMLFault(line: node.mark?.line, problem: "has an alias to nothing")
        }
    }

    private static func content(of scalar: Node.Scalar) -> Content {
        let isPlain = scalar.style == .plain
        if isPlain && ["", "~", "null", "Null", "NULL"].contains(scalar.string) { return .null }
        return .scalar(scalar.string, isPlain: isPlain)
    }
}

/// The reason why a text cannot be read as YAML, without any part of the text.
struct YAMLFault: Error, Sendable, Equatable {
    let line: Int?
    let problem: String
    let remedy: String

    init(line: Int?, problem: String, remedy: String = "correct it") {
        self.line = line
        self.problem = problem
        self.remedy = remedy
    }

    init(_ error: any Error) {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            self.init(
                line: mark.line, problem: "is not valid YAML (\(problem))",
                remedy: "correct it; inside […] and {…} a ${NAME} stands in quotes")
        case .duplicatedKeysInMapping(let keys, let context):
            self.init(
                line: context.mark.line, problem: "has the key \(keys.joined(separator: ", ")) twice",
                remedy: "leave one, in the mapping that begins here")
        case .reader(let problem, _, _, _):
            self.init(line: nil, problem: "is not valid YAML (\(problem))")
        default:
            self.init(line: nil, problem: "is not valid YAML")
        }
    }
}
