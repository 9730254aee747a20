import Domain
import Gateway
import HTTPTypes

/// The OpenAPI document as an HTML page without scripts and external resources.
struct DocsPage {
    let document: OpenAPIDocument

    var html: String {
        var shapes = NamedShapes()
        let parts = document.parts.map { part(of: $0, &shapes) }.joined()
        // A shape may refer to further ones, which are added to the list while it is written.
        var shown = ""
        var next = 0
        while next < shapes.found.count {
            let (name, shape) = shapes.found[next]
            shown += "<section id=\"\(Self.anchor(name))\"><h3>\(name)</h3>\(shape.html(&shapes))</section>\n"
            next += 1
        }
        let contents = document.parts.map { part in
            let routes =
                part.routes.map { route in
                    Self.link(route.id, route.description.summary)
                } + (part.tag.message.map { [Self.link($0.id, $0.summary)] } ?? [])
            return
                "<li><a href=\"#\(Self.anchor(part.tag.name))\">\(part.tag.name.escaped)</a><ul>\(routes.joined())</ul></li>"
        }
        return """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>Paydesk \(document.version.escaped)</title><style>\(Self.style)</style></head><body>
            <nav><h1>Paydesk \(document.version.escaped)</h1><p><a href="openapi.json">openapi.json</a></p>
            <ul>\(contents.joined())<li><a href="#shapes">Shapes</a></li></ul></nav>
            <main><p>\(OpenAPIDocument.introduction.marked)</p>
            \(parts)<h2 id="shapes">Shapes</h2>
            \(shown)</main></body></html>

            """
    }

    private func part(of part: OpenAPIDocument.Part, _ shapes: inout NamedShapes) -> String {
        var routes = part.routes.map { $0.html(&shapes) }.joined()
        if let message = part.tag.message {
            routes += """
                <section id="\(message.id)"><h3><span class="method">POST</span>to your endpoint</h3>\
                <p>\(message.summary.marked). \(message.note.marked)</p>\(message.body.html(&shapes))</section>

                """
        }
        return
            "<h2 id=\"\(Self.anchor(part.tag.name))\">\(part.tag.name.escaped)</h2><p>\(part.tag.note.marked)</p>\n\(routes)"
    }

    private static func link(_ id: String, _ text: String) -> String {
        "<li><a href=\"#\(id)\">\(text.marked)</a></li>"
    }

    /// Makes the fragment of the page's address from a name.
    fileprivate static func anchor(_ name: String) -> String {
        "shape-or-part-" + String(name.unicodeScalars.map { $0.properties.isAlphabetic ? Character($0) : "-" })
    }

    private static let style = """
        :root{color-scheme:light dark;--line:#8884;--soft:#8882}
        body{margin:0;font:15px/1.5 system-ui,sans-serif;display:grid;grid-template-columns:19rem minmax(0,1fr)}
        nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1rem;border-right:1px solid var(--line);\
        box-sizing:border-box}
        nav h1{font-size:1.1rem;margin:0}nav ul{list-style:none;padding-left:.6rem;margin:.2rem 0}
        main{padding:1rem 2rem;max-width:60rem;overflow-wrap:anywhere}section{border-top:1px solid var(--line);padding:.4rem 0 1rem}
        h3{margin:.6rem 0;font-size:1rem}code,h3{font-family:ui-monospace,monospace}a{color:LinkText}
        .method{background:var(--soft);border-radius:.3rem;padding:.1rem .4rem;margin-right:.5rem}
        dl{margin:.2rem 0 .2rem .5rem;border-left:2px solid var(--line);padding-left:.8rem}dt{font-weight:600}
        dd{margin:0 0 .3rem 1rem}dd p{margin:0}.type{opacity:.75;font-weight:400}
        @media(max-width:50rem){body{display:block}nav{position:static;height:auto;border:0}}
        """
}

/// The named shapes that the page refers to, in their order.
private struct NamedShapes {
    private(set) var found: [(name: String, shape: Shape)] = []

    mutating func meet(_ name: String, _ shape: Shape) {
        if !found.contains(where: { $0.name == name }) { found.append((name, shape)) }
    }
}

extension Route {
    fileprivate func html(_ shapes: inout NamedShapes) -> String {
        var html = """
            <section id="\(id)"><h3><span class="method">\(method.rawValue)</span>\
            \(path.escaped)</h3><p>\(description.summary.marked).\
            \(description.note.map { " " + $0.marked } ?? "")</p><p>\(callers.marked)</p>
            """
        let parameters =
            parameterNames.map { name in
                (name, Shape.pathPart(name).html(&shapes), description.parameters[name] ?? "In the path.", true)
            } + description.query.map { ($0.name, $0.shape.html(&shapes), $0.note, $0.isRequired) }
        if !parameters.isEmpty {
            let lines = parameters.map { name, type, note, isRequired in
                "<dt>\(name.escaped)\(isRequired ? "" : "?") \(type)</dt><dd>\(note.marked)</dd>"
            }
            html += "<h4>Parameters</h4><dl>\(lines.joined())</dl>"
        }
        switch description.body {
        case .json(let shape)?: html += "<h4>Body</h4>\(shape.html(&shapes))"
        case .other(let note)?: html += "<h4>Body</h4><p>\(note.marked)</p>"
        case nil: break
        }
        html += "<h4>Answer</h4>"
        switch description.outcome {
        case .data(let shape): html += "<p><code>data</code></p>\(shape.html(&shapes))"
        case .tagged(let shape): html += "<p><code>data</code>, with an <code>ETag</code></p>\(shape.html(&shapes))"
        case .json(let shape): html += shape.html(&shapes)
        case .other(let mediaType, let note): html += "<p><code>\(mediaType.escaped)</code> \(note.marked)</p>"
        }
        for other in description.others { html += "<p>\(other.status): \(other.note.marked)</p>" }
        let refused = refusals.map { "\($0.status.code) <code>\($0.rawValue)</code>" }.sorted()
        if !refused.isEmpty { html += "<h4>Refusals</h4><p>\(refused.joined(separator: ", "))</p>" }
        return html + "</section>\n"
    }

    private var purposes: String { sessions.map { "`\($0.rawValue)`" }.sorted().joined(separator: " or ") }

    private var callers: String {
        switch access {
        case .anyone: "Needs no login."
        case .user:
            sessions.isEmpty ? "Needs a user's token." : "Needs a user's token, or that of a session for \(purposes)."
        case .session: "Needs a session's token."
        case .userOrAnyone: "With a user's token, or without."
        case .key(let scopes):
            "Needs a key with \(scopes.map { "`\($0.rawValue)`" }.joined(separator: " or "))."
        }
    }
}

extension Shape {
    fileprivate func html(_ shapes: inout NamedShapes) -> String {
        let suffix = (isNullable ? " or null" : "") + (note.map { ": " + $0.marked } ?? "")
        switch form {
        case .object(let members):
            let lines = members.map { member in
                "<dt>\(member.name.escaped)\(member.isRequired ? "" : "?")</dt><dd>\(member.shape.html(&shapes))</dd>"
            }
            return "<span class=\"type\">object\(suffix)</span><dl>\(lines.joined())</dl>"
        case .list(let element, _, _): return "<span class=\"type\">list\(suffix) of</span> \(element.html(&shapes))"
        case .map(let value, _, _):
            return "<span class=\"type\">object\(suffix), each value</span> \(value.html(&shapes))"
        case .oneOf(let kinds, _):
            let kinds = kinds.map { "<dd>\($0.html(&shapes))</dd>" }
            return "<span class=\"type\">one of\(suffix)</span><dl>\(kinds.joined())</dl>"
        case .named(let name, let shape):
            shapes.meet(name, shape)
            return "<a href=\"#\(DocsPage.anchor(name))\">\(name)</a><span class=\"type\">\(suffix)</span>"
        case .words(let words):
            let all = words.map { "<code>\($0.escaped)</code>" }.joined(separator: ", ")
            return "<span class=\"type\">\(all)\(suffix)</span>"
        case .any: return "<span class=\"type\">any\(suffix)</span>"
        case .string: return "<span class=\"type\">string\(suffix)</span>"
        case .integer: return "<span class=\"type\">integer\(suffix)</span>"
        case .number: return "<span class=\"type\">number\(suffix)</span>"
        case .boolean: return "<span class=\"type\">boolean\(suffix)</span>"
        }
    }
}

extension String {
    /// The text with HTML's special characters escaped (HTML Living Standard section 13.1.4).
    fileprivate var escaped: String {
        reduce(into: "") { text, character in
            switch character {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            default: text.append(character)
            }
        }
    }

    /// The escaped text, with the parts between backticks as code.
    fileprivate var marked: String {
        escaped.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .map { $0.offset.isMultiple(of: 2) ? String($0.element) : "<code>\($0.element)</code>" }.joined()
    }
}
