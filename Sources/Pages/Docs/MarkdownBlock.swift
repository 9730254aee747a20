/// A block of a Markdown document: the part of CommonMark (0.31 section 4) and of GitHub's tables that the
/// documentation uses.
enum MarkdownBlock: Equatable, Sendable {
    case heading(level: Int, String)
    case paragraph(String)
    case list(isOrdered: Bool, [[MarkdownBlock]])
    case table(header: [String], [[String]])
    /// - Parameter caption: the comment before the block, such as `GET /healthz 200`.
    case code(language: String, String, caption: String?)

    static func parse(_ text: String) -> [MarkdownBlock] {
        var parser = BlockParser(lines: text.split(separator: "\n", omittingEmptySubsequences: false)[...])
        return parser.blocks()
    }
}

private struct BlockParser {
    private var lines: ArraySlice<Substring>
    /// The comment that stands right before the next block.
    private var comment: String?

    init(lines: ArraySlice<Substring>) { self.lines = lines }

    mutating func blocks() -> [MarkdownBlock] {
        var blocks: [MarkdownBlock] = []
        while let line = lines.first {
            if line.isBlank {
                lines.removeFirst()
            } else if line.hasPrefix("<!--") {
                comment = takeComment()
            } else {
                blocks.append(block(line))
                comment = nil
            }
        }
        return blocks
    }

    private mutating func block(_ line: Substring) -> MarkdownBlock {
        if CodeFence(line) != nil { return code() }
        if let level = line.headingLevel {
            lines.removeFirst()
            return .heading(level: level, String(line.dropFirst(level + 1)).trimmed)
        }
        if Marker(line) != nil { return list() }
        if line.hasPrefix("|") { return table() }
        return paragraph()
    }

    private mutating func takeComment() -> String {
        var text = ""
        while let line = lines.popFirst() {
            text += line
            if line.contains("-->") { break }
        }
        return text.dropFirst(4).prefix(while: { $0 != ">" }).dropLast(2).description.trimmed
    }

    private mutating func code() -> MarkdownBlock {
        guard let opening = lines.popFirst(), let fence = CodeFence(opening) else { return .paragraph("") }
        var content: [Substring] = []
        while let line = lines.popFirst() {
            if let closing = CodeFence(line), closing.language.isEmpty { break }
            content.append(line.dropFirst(min(fence.indent, line.indent)))
        }
        let caption = comment.flatMap { $0.firstMatch(of: /^[A-Z]+ \//) == nil ? nil : $0 }
        return .code(language: fence.language, content.joined(separator: "\n"), caption: caption)
    }

    private mutating func paragraph() -> MarkdownBlock {
        var text: [String] = []
        while let line = lines.first, !line.isBlank, text.isEmpty || !line.beginsBlock {
            text.append(String(line).trimmed)
            lines.removeFirst()
        }
        return .paragraph(text.joined(separator: "\n"))
    }

    private mutating func list() -> MarkdownBlock {
        let isOrdered = lines.first.flatMap(Marker.init)?.isOrdered ?? false
        var items: [[MarkdownBlock]] = []
        while let line = lines.first, let marker = Marker(line), marker.isOrdered == isOrdered {
            items.append(item(marker.width))
        }
        return .list(isOrdered: isOrdered, items)
    }

    /// Takes an item: its first line, and those that follow and are indented as far as its text.
    private mutating func item(_ width: Int) -> [MarkdownBlock] {
        guard let first = lines.popFirst() else { return [] }
        var own = [first.dropFirst(width)]
        while let line = lines.first {
            if line.isBlank {
                // Belongs to the item where more of it follows.
                guard let next = lines.dropFirst().first(where: { !$0.isBlank }), next.indent >= width else { break }
                own.append(line)
            } else if line.indent >= width {
                own.append(line.dropFirst(width))
            } else {
                break
            }
            lines.removeFirst()
        }
        while let line = lines.first, line.isBlank, let next = lines.dropFirst().first, Marker(next) != nil {
            lines.removeFirst()
        }
        var parser = BlockParser(lines: own[...])
        return parser.blocks()
    }

    private mutating func table() -> MarkdownBlock {
        var rows: [[String]] = []
        while let line = lines.first, line.hasPrefix("|") {
            rows.append(Self.cells(line))
            lines.removeFirst()
        }
        let header = rows.first ?? []
        // The second row says how columns are aligned, which no table here does.
        return .table(header: header, Array(rows.dropFirst(2)))
    }

    /// Splits a row at its bars; `\|` is a bar in a cell.
    private static func cells(_ line: Substring) -> [String] {
        var (cells, cell, isEscaped) = ([String](), "", false)
        for character in line.dropFirst() {
            switch character {
            case "|" where isEscaped:
                cell.removeLast()
                cell.append("|")
            case "|":
                cells.append(cell.trimmed)
                cell = ""
            default: cell.append(character)
            }
            isEscaped = character == "\\"
        }
        return cells
    }
}

/// The line before or after a block of code: three backticks, and a language before it.
private struct CodeFence {
    let indent: Int
    let language: String

    init?(_ line: Substring) {
        indent = line.indent
        let text = line.dropFirst(indent)
        guard indent <= 3, text.hasPrefix("```") else { return nil }
        language = String(text.dropFirst(3)).trimmed
        guard !language.contains("`") else { return nil }
    }
}

/// The beginning of a list's item.
private struct Marker {
    let isOrdered: Bool
    /// The letters before the item's text.
    let width: Int

    init?(_ line: Substring) {
        if line.hasPrefix("* ") || line.hasPrefix("- ") {
            (isOrdered, width) = (false, 2)
        } else {
            let digits = line.prefix { $0.isASCII && $0.isNumber }.count
            guard digits > 0, line.dropFirst(digits).hasPrefix(". ") else { return nil }
            (isOrdered, width) = (true, digits + 2)
        }
    }
}

extension Substring {
    fileprivate var isBlank: Bool { allSatisfy { $0 == " " } }
    fileprivate var indent: Int { prefix { $0 == " " }.count }

    /// The number of `#` before a heading; nil for another line.
    fileprivate var headingLevel: Int? {
        let level = prefix { $0 == "#" }.count
        return (1...6).contains(level) && dropFirst(level).hasPrefix(" ") ? level : nil
    }

    /// True where a paragraph ends before this line.
    fileprivate var beginsBlock: Bool {
        hasPrefix("```") || hasPrefix("|") || hasPrefix("<!--") || headingLevel != nil || Marker(self) != nil
    }
}

extension String {
    fileprivate var trimmed: String {
        var text = self[...]
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
