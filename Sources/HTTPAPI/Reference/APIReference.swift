import Domain
import HTTPTypes
import Pages

/// The reference of the API in the documentation: a page with all calls, one for each part of the API, the errors and the
/// shapes, drawn from the same routes as the OpenAPI document.
struct APIReference: DocsReference {
    let document: OpenAPIDocument

    init(_ document: OpenAPIDocument) { self.document = document }

    var pages: [(id: String, key: String)] {
        [(id: "reference", key: "title_reference")]
            + document.parts.map { (id: Self.id(of: $0), key: "part_\(Self.slug($0.tag.name))") }
            + [(id: "errors", key: "title_errors"), (id: "shapes", key: "title_shapes")]
    }

    func article(_ id: String, in locale: PageLocale, _ words: DocsWords) -> DocsArticle? {
        switch id {
        case "reference": all(locale, words)
        case "errors": errors(locale, words)
        case "shapes": namedShapes(locale, words)
        default: document.parts.first { Self.id(of: $0) == id }.map { part($0, locale, words) }
        }
    }

    private static func id(of part: OpenAPIDocument.Part) -> String { "reference-\(slug(part.tag.name))" }

    /// Makes a part of an address from a name: small letters, digits and `-`.
    private static func slug(_ name: String) -> String {
        name.lowercased().filter { $0 == " " || $0.isASCII && ($0.isLetter || $0.isNumber) }
            .split(separator: " ").joined(separator: "-")
    }

    private static func address(_ id: String, _ locale: PageLocale) -> String { "/docs/\(locale.rawValue)/\(id)" }

    /// Begins a page with its title.
    private static func title(_ key: String, _ words: DocsWords) -> String {
        "<h1>\(HTMLText.escaped(words[key]))</h1>\n"
    }

    private static func section(
        _ title: String, anchor: String = "", level: Int = 1, _ text: String = ""
    ) -> DocsArticle.Section {
        DocsArticle.Section(level: level, anchor: anchor, title: title, text: text)
    }

    // MARK: Pages

    private func all(_ locale: PageLocale, _ words: DocsWords) -> DocsArticle {
        var html = """
            \(Self.title("title_reference", words))<p>\(words["reference_lead"])<a href="/openapi.json">openapi.json</a></p>
            <p lang="en">\(HTMLText.marked(OpenAPIDocument.introduction))</p>
            <p>\(words["reference_curl"])</p>

            """
        var sections = [Self.section(words["title_reference"])]
        for part in document.parts {
            let (id, slug) = (Self.id(of: part), Self.slug(part.tag.name))
            let title = words["part_\(slug)"]
            sections.append(Self.section(title, anchor: id, level: 2, part.tag.note))
            html += "<h2 id=\"\(id)\"><a href=\"\(Self.address(id, locale))\">\(HTMLText.escaped(title))</a></h2>\n"
            html += "<p lang=\"en\">\(HTMLText.marked(part.tag.note))</p>\n"
            html += entries(of: part, on: Self.address(id, locale), words)
        }
        return DocsArticle(language: locale, html: html, sections: sections)
    }

    /// Lists the calls of a part, each with its method and path.
    private func entries(of part: OpenAPIDocument.Part, on page: String, _ words: DocsWords) -> String {
        let calls = part.routes.map { route in
            RouteReference.entry(
                route.method.rawValue, route.path, route.description.summary, at: "\(page)#\(route.id)")
        }
        let message = part.tag.message.map { message in
            RouteReference.entry("POST", words["to_endpoint"], message.summary, at: "\(page)#\(message.id)")
        }
        return "<ul class=\"operations\">\n\((calls + [message ?? ""]).joined())</ul>\n"
    }

    private func part(_ part: OpenAPIDocument.Part, _ locale: PageLocale, _ words: DocsWords) -> DocsArticle {
        let key = "part_\(Self.slug(part.tag.name))"
        let shapes = ShapeReference(words: words, address: Self.address("shapes", locale))
        var html = Self.title(key, words) + "<p lang=\"en\">\(HTMLText.marked(part.tag.note))</p>\n"
        html += entries(of: part, on: "", words)
        var sections = [Self.section(words[key], part.tag.note)]
        for route in part.routes {
            let reference = RouteReference(
                route: route, locale: locale, words: words, shapes: shapes, errors: Self.address("errors", locale))
            html += reference.html
            sections.append(reference.section)
        }
        if let message = part.tag.message {
            html += """
                <section class="call" id="\(message.id)" aria-labelledby="\(message.id)-title">
                \(RouteReference.heading(message.id, "POST", words["to_endpoint"]))
                <p lang="en">\(HTMLText.marked(message.summary)). \(HTMLText.marked(message.note))</p>
                <h3>\(words["body"])</h3>
                <div lang="en">\(shapes.members(of: message.body))</div>
                <h3>\(words["example_body"])</h3>
                \(HTMLText.code(JSONExample.text(message.body.exampleValue())))</section>

                """
            sections.append(
                Self.section("POST \(words["to_endpoint"])", anchor: message.id, level: 2, message.summary))
        }
        return DocsArticle(language: locale, html: html, sections: sections)
    }

    private func errors(_ locale: PageLocale, _ words: DocsWords) -> DocsArticle {
        let ids = ErrorID.allCases.sorted { ($0.status.code, $0.rawValue) < ($1.status.code, $1.rawValue) }
        let rows = ids.map { id in
            """
            <tr id="\(id.rawValue)"><td><code>\(id.rawValue)</code></td><td>\(id.status.code)</td>\
            <td>\(HTMLText.marked(id.advice(in: locale)))</td></tr>

            """
        }
        let html = """
            \(Self.title("title_errors", words))<p>\(words["errors_lead"])</p>
            <div class="table"><table>
            <thead><tr><th scope="col">\(words["error"])</th><th scope="col">\(words["status"])</th>\
            <th scope="col">\(words["advice"])</th></tr></thead>
            <tbody>
            \(rows.joined())</tbody></table></div>

            """
        let sections = ids.map { Self.section($0.rawValue, anchor: $0.rawValue, level: 3, $0.advice(in: locale)) }
        return DocsArticle(
            language: locale, html: html,
            sections: [Self.section(words["title_errors"], words["errors_lead"])] + sections)
    }

    private func namedShapes(_ locale: PageLocale, _ words: DocsWords) -> DocsArticle {
        let reference = ShapeReference(words: words, address: "")
        let all = NamedShapes(document.parts).found.sorted { $0.key < $1.key }
        let list = all.map { name, shape in
            "<section class=\"call\" id=\"\(name)\" lang=\"en\"><h2>\(name)</h2>\n<div>\(reference.html(shape))</div></section>\n"
        }
        let html = "\(Self.title("title_shapes", words))<p>\(words["shapes_lead"])</p>\n\(list.joined())"
        let sections = all.map { name, shape in
            Self.section(name, anchor: name, level: 3, shape.note ?? "")
        }
        return DocsArticle(
            language: locale, html: html,
            sections: [Self.section(words["title_shapes"], words["shapes_lead"])] + sections)
    }
}
