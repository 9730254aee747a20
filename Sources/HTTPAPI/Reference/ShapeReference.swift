import Pages

/// Shapes as HTML: the members of an object as a list, and links to the shapes that have a name.
struct ShapeReference {
    let words: DocsWords
    /// The address of the page with all named shapes.
    let address: String

    /// Returns a shape with its members, also where it has a name.
    func members(of shape: Shape) -> String {
        guard case .named(_, let named) = shape.form else { return html(shape) }
        return "\(html(shape)) \(html(named))"
    }

    func html(_ shape: Shape) -> String {
        let suffix =
            (shape.isNullable ? " \(words["or_null"])" : "") + (shape.note.map { ": " + HTMLText.marked($0) } ?? "")
        switch shape.form {
        case .object(let members):
            let lines = members.map { member in
                let mark = member.isRequired ? "" : "<span class=\"type\">?</span>"
                return "<dt>\(HTMLText.escaped(member.name))\(mark)</dt><dd>\(html(member.shape))</dd>"
            }
            let list = lines.isEmpty ? "" : "\n<dl class=\"shape\">\n\(lines.joined(separator: "\n"))\n</dl>\n"
            return type("object", suffix) + list
        case .list(let element, _, _):
            let note = suffix.isEmpty ? "" : suffix + ":"
            return "<span class=\"type\">\(words["type_list"])\(note)</span> \(html(element))"
        case .map(let value, _, _):
            return "<span class=\"type\">\(words["type_map"])\(suffix)</span> \(html(value))"
        case .oneOf(let kinds, _):
            let lines = kinds.map { "<li>\(html($0))</li>" }
            return "\(type("one_of", suffix))\n<ul class=\"shape\">\(lines.joined())</ul>\n"
        case .named(let name, _):
            return "<a href=\"\(address)#\(name)\">\(name)</a><span class=\"type\">\(suffix)</span>"
        case .words(let list):
            let all = list.map { "<code>\(HTMLText.escaped($0))</code>" }.joined(separator: ", ")
            return "<span class=\"type\">\(all)\(suffix)</span>"
        case .any: return type("any", suffix)
        case .string: return type("string", suffix)
        case .integer: return type("integer", suffix)
        case .number: return type("number", suffix)
        case .boolean: return type("boolean", suffix)
        }
    }

    private func type(_ name: String, _ suffix: String) -> String {
        "<span class=\"type\">\(words["type_\(name)"])\(suffix)</span>"
    }
}

/// The named shapes that routes exchange, by their names.
struct NamedShapes {
    private(set) var found: [String: Shape] = [:]

    init(_ parts: [OpenAPIDocument.Part]) {
        for part in parts {
            if let message = part.tag.message { meet(message.body) }
            for route in part.routes { meet(route) }
        }
    }

    private mutating func meet(_ route: Route) {
        let description = route.description
        for parameter in description.query { meet(parameter.shape) }
        for name in route.parameterNames { meet(Shape.pathPart(name)) }
        if case .json(let shape)? = description.body { meet(shape) }
        switch description.outcome {
        case .data(let shape), .tagged(let shape), .json(let shape): meet(shape)
        case .other: break
        }
    }

    private mutating func meet(_ shape: Shape) {
        switch shape.form {
        case .any, .string, .words, .integer, .number, .boolean: break
        case .list(let element, _, _): meet(element)
        case .map(let value, _, _): meet(value)
        case .object(let members): for member in members { meet(member.shape) }
        case .oneOf(let kinds, _): for kind in kinds { meet(kind) }
        case .named(let name, let named):
            guard found[name] == nil else { return }
            found[name] = named
            meet(named)
        }
    }
}
