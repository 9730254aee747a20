import Domain
import Gateway
import HTTPTypes
import Pages

/// A route as a section of the reference: who may call it, its parts, an example of the call and of each answer, and what
/// to do about each error.
struct RouteReference {
    let route: Route
    let locale: PageLocale
    let words: DocsWords
    let shapes: ShapeReference
    /// The address of the page of errors.
    let errors: String

    var section: DocsArticle.Section {
        let description = route.description
        return DocsArticle.Section(
            level: 2, anchor: route.id, title: "\(route.method.rawValue) \(route.path)",
            text: "\(description.summary). \(description.note ?? "") \(route.id)")
    }

    /// The line of the call among the others.
    static func entry(_ method: String, _ path: String, _ summary: String, at address: String) -> String {
        """
        <li><a href="\(address)"><span><span class="method" data-method="\(method)">\(method)</span></span>\
        <code>\(HTMLText.escaped(path))</code><span class="summary" lang="en">\(HTMLText.marked(summary))</span></a></li>

        """
    }

    var html: String {
        let description = route.description
        let note = description.note.map { " " + HTMLText.marked($0) } ?? ""
        return """
            <section class="call" id="\(route.id)" aria-labelledby="\(route.id)-title">
            \(Self.heading(route.id, route.method.rawValue, route.path))
            <p lang="en">\(HTMLText.marked(description.summary)).\(note)</p>
            <p class="callers">\(callers)</p>
            \(parameters)\(bodyText)<h3>\(words["example_request"])</h3>
            \(HTMLText.code(CurlExample.text(of: route)))\(answer)\(refusals)</section>

            """
    }

    static func heading(_ id: String, _ method: String, _ path: String) -> String {
        """
        <h2 id="\(id)-title"><span class="method" data-method="\(method)">\(method)</span> \
        <code>\(HTMLText.escaped(path))</code></h2>
        """
    }

    private var callers: String {
        func list(_ names: [String]) -> String {
            names.map { "<code>\($0)</code>" }.joined(separator: " \(words["or"]) ")
        }
        switch route.access {
        case .anyone: return words["caller_anyone"]
        case .user where route.sessions.isEmpty: return words["caller_user"]
        case .user:
            return words.fill("caller_user_session", ["purposes": list(route.sessions.map(\.rawValue).sorted())])
        case .session: return words["caller_session"]
        case .userOrAnyone: return words["caller_user_or_anyone"]
        case .key where route.description.tag?.name == Route.Tag.console.name: return words["caller_console"]
        case .key(let scopes): return words.fill("caller_key", ["scopes": list(scopes.map(\.rawValue))])
        }
    }

    private var parameters: String {
        let description = route.description
        let inPath = route.parameterNames.map { name in
            line(name, isRequired: true, Shape.pathPart(name), description.parameters[name].map(HTMLText.marked))
        }
        let inQuery = description.query.map {
            line($0.name, isRequired: $0.isRequired, $0.shape, HTMLText.marked($0.note))
        }
        let lines = inPath + inQuery
        return lines.isEmpty
            ? "" : "<h3>\(words["parameters"])</h3>\n<dl class=\"shape\">\n\(lines.joined(separator: "\n"))\n</dl>\n"
    }

    private func line(_ name: String, isRequired: Bool, _ shape: Shape, _ note: String?) -> String {
        let mark = isRequired ? "" : " <span class=\"type\">\(words["optional"])</span>"
        let note = note.map { "<span lang=\"en\">\($0)</span>" } ?? words["in_path"]
        return "<dt>\(HTMLText.escaped(name))\(mark)</dt><dd>\(shapes.html(shape))<br>\(note)</dd>"
    }

    private var bodyText: String {
        switch route.description.body {
        case .json(let shape)?: "<h3>\(words["body"])</h3>\n<div lang=\"en\">\(shapes.members(of: shape))</div>\n"
        case .other(let note)?: "<h3>\(words["body"])</h3>\n<p lang=\"en\">\(HTMLText.marked(note))</p>\n"
        case nil: ""
        }
    }

    // MARK: Answers

    private var answer: String {
        var html = "<h3>\(words["answer"])</h3>\n"
        switch route.description.outcome {
        case .data(let shape):
            html += "<div lang=\"en\"><code>data</code>: \(shapes.members(of: shape))</div>\n"
            html += examples(of: shape, Self.enveloped)
        case .tagged(let shape):
            html +=
                "<p><code>data</code>, \(words["tagged"])</p>\n<div lang=\"en\">\(shapes.members(of: shape))</div>\n"
            html += examples(of: shape, Self.enveloped)
        case .json(let shape):
            html += "<div lang=\"en\">\(shapes.members(of: shape))</div>\n" + examples(of: shape) { $0 }
        case .other(let mediaType, let note):
            html += "<p lang=\"en\"><code>\(HTMLText.escaped(mediaType))</code> \(HTMLText.marked(note))</p>\n"
        }
        for other in route.description.others {
            html += "<p lang=\"en\">\(other.status): \(HTMLText.marked(other.note))</p>\n"
        }
        return html
    }

    private static func enveloped(_ value: JSONValue) -> JSONValue {
        .object([
            "code": .integer(200), "msg": .string("success"), "data": value,
            "request_id": Shape.id("req").exampleValue(),
        ])
    }

    /// Returns the examples of an answer; where it has several forms, the first is open and the others can be opened.
    private func examples(of shape: Shape, _ wrap: (JSONValue) -> JSONValue) -> String {
        let (name, value) = shape.examples(isRequest: false, wrap)
        let title = "<h3>\(words["example_answer"])</h3>\n"
        guard name == "examples", case .object(let examples) = value else {
            return title + HTMLText.code(JSONExample.text(value))
        }
        return title
            + examples.sorted { $0.key < $1.key }.enumerated().map { index, example in
                guard case .object(let members) = example.value else { return "" }
                return """
                    <details\(index == 0 ? " open" : "")><summary><code>\(HTMLText.escaped(example.key))</code></summary>
                    \(HTMLText.code(JSONExample.text(members["value"] ?? .null)))</details>

                    """
            }.joined()
    }

    private var refusals: String {
        let gone = route.description.gone.map { (410, $0) }
        let all = gone + route.refusals.map { (Int($0.status.code), $0) }
        return all.isEmpty ? "" : "<h3>\(words["title_errors"])</h3>\n" + table(of: all)
    }

    private func table(of errors: [(status: Int, id: ErrorID)]) -> String {
        let rows = errors.sorted { ($0.status, $0.id.rawValue) < ($1.status, $1.id.rawValue) }.map { status, id in
            """
            <tr><td>\(status) <a href="\(self.errors)#\(id.rawValue)"><code>\(id.rawValue)</code></a></td>\
            <td>\(HTMLText.marked(id.advice(in: locale)))</td></tr>

            """
        }
        return """
            <div class="table"><table>
            <thead><tr><th scope="col">\(words["error"])</th><th scope="col">\(words["advice"])</th></tr></thead>
            <tbody>
            \(rows.joined())</tbody></table></div>

            """
    }
}
