/// A Markdown document as a page: its HTML, its headings, and the text under each for the search.
struct MarkdownPage: Sendable {
    /// A heading and the text below it, to the next one.
    struct Section: Equatable, Sendable {
        let level: Int
        /// The fragment of the page's address, made as GitHub makes it.
        let anchor: String
        let title: String
        var text = ""
    }

    private(set) var html = ""
    private(set) var sections: [Section] = []
    private var seen: [String: Int] = [:]

    /// - Parameter resolve: returns the address to which a link leads from this page; nil for none.
    init(_ markdown: String, resolve: (String) -> String?) {
        for block in MarkdownBlock.parse(markdown) { add(block, resolve) }
    }

    /// The first heading.
    var title: String { sections.first?.title ?? "" }

    private mutating func add(_ block: MarkdownBlock, _ resolve: (String) -> String?) {
        switch block {
        case .heading(let level, let text):
            let spans = MarkdownSpan.parse(text)
            let title = MarkdownSpan.plain(spans)
            let anchor = anchor(title)
            sections.append(Section(level: level, anchor: anchor, title: title))
            let inner = MarkdownSpan.html(spans, resolve: resolve)
            html += "<h\(level) id=\"\(HTMLText.escaped(anchor))\">\(inner)</h\(level)>\n"
        case .paragraph(let text): html += "<p>\(inline(text, resolve))</p>\n"
        case .list(let isOrdered, let items):
            let tag = isOrdered ? "ol" : "ul"
            html += "<\(tag)>\n"
            for item in items { addItem(item, resolve) }
            html += "</\(tag)>\n"
        case .table(let header, let rows): addTable(header, rows, resolve)
        case .code(language: "mermaid", let text, _) where SequenceDiagram(text) != nil:
            html += SequenceDiagram(text)?.html ?? ""
            note(text)
        case .code(_, let text, let caption):
            if let caption { html += "<p class=\"caption\"><code>\(HTMLText.escaped(caption))</code></p>\n" }
            html += HTMLText.code(text)
            note(text)
        }
    }

    private mutating func addItem(_ item: [MarkdownBlock], _ resolve: (String) -> String?) {
        html += "<li>"
        // An item of one paragraph is a line.
        if item.count == 1, case .paragraph(let text) = item[0] {
            html += inline(text, resolve)
        } else {
            for block in item { add(block, resolve) }
        }
        html += "</li>\n"
    }

    /// Columns from which a table is scrolled in a narrow window; others become lists there.
    private static let manyColumns = 4

    private mutating func addTable(_ header: [String], _ rows: [[String]], _ resolve: (String) -> String?) {
        let isWide = header.count >= Self.manyColumns
        html += isWide ? "<div class=\"table wide\" tabindex=\"0\"><table>\n" : "<div class=\"table\"><table>\n"
        html += "<thead><tr>"
        for cell in header {
            html += cell.isEmpty ? "<td></td>" : "<th scope=\"col\">\(inline(cell, resolve))</th>"
        }
        html += "</tr></thead>\n<tbody>\n"
        for row in rows {
            html += "<tr>" + row.map { "<td>\(inline($0, resolve))</td>" }.joined() + "</tr>\n"
        }
        html += "</tbody></table></div>\n"
    }

    private mutating func inline(_ text: String, _ resolve: (String) -> String?) -> String {
        let spans = MarkdownSpan.parse(text)
        note(MarkdownSpan.plain(spans))
        return MarkdownSpan.html(spans, resolve: resolve)
    }

    /// Adds to the text of the last heading.
    private mutating func note(_ text: String) {
        guard !sections.isEmpty, !text.isEmpty else { return }
        let last = sections.count - 1
        sections[last].text += (sections[last].text.isEmpty ? "" : " ") + text
    }

    /// Makes the anchor of a heading: small letters, digits, `-` and `_`, numbered where it was there before.
    private mutating func anchor(_ title: String) -> String {
        let slug = String(
            title.lowercased().compactMap { character -> Character? in
                if character == " " { return "-" }
                return character.isLetter || character.isNumber || "-_".contains(character) ? character : nil
            })
        let count = seen[slug, default: 0]
        seen[slug] = count + 1
        return count == 0 ? slug : "\(slug)-\(count)"
    }
}

/// A sequence diagram of Mermaid with participants and messages, as a list that everybody can read.
struct SequenceDiagram {
    let html: String

    /// - Returns: nil for another diagram.
    init?(_ text: String) {
        let lines = text.split(separator: "\n").map { $0.drop { $0 == " " } }
        guard lines.first == "sequenceDiagram" else { return nil }
        var names: [Substring: Substring] = [:]
        var items = ""
        for line in lines.dropFirst() {
            if let match = line.wholeMatch(of: /participant (\w+)(?: as (.+))?/) {
                names[match.output.1] = match.output.2 ?? match.output.1
            } else if let match = line.wholeMatch(of: /(\w+)--?>>(\w+): (.+)/) {
                let (from, to) = (names[match.output.1] ?? match.output.1, names[match.output.2] ?? match.output.2)
                let who = from == to ? HTMLText.escaped(String(from)) : HTMLText.escaped("\(from) → \(to)")
                items += "<li><strong>\(who)</strong> \(HTMLText.escaped(String(match.output.3)))</li>\n"
            } else {
                return nil
            }
        }
        html = "<ol>\n\(items)</ol>\n"
    }
}
