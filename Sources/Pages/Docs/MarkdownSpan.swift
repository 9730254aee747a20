/// A part of a line of Markdown: text, code, emphasis, links and images (CommonMark 0.31 section 6).
///
/// The subset that the documentation uses: no reference links, entities and HTML but `<img>`.
indirect enum MarkdownSpan: Equatable, Sendable {
    case text(String)
    case code(String)
    case strong([MarkdownSpan])
    case emphasis([MarkdownSpan])
    case link([MarkdownSpan], to: String)
    case image(String, alt: String, width: String?)

    static func parse(_ text: String) -> [MarkdownSpan] {
        var parser = SpanParser(bytes: Array(text.utf8))
        return parser.spans()
    }

    /// Returns the text without marks.
    static func plain(_ spans: [MarkdownSpan]) -> String {
        spans.map { span in
            switch span {
            case .text(let text), .code(let text): text
            case .strong(let inner), .emphasis(let inner), .link(let inner, _): plain(inner)
            case .image(_, let alt, _): alt
            }
        }.joined()
    }

    /// Returns HTML.
    ///
    /// - Parameter resolve: returns the address to which a link or image leads from this page; nil for none, so that
    ///   only its text is shown.
    static func html(_ spans: [MarkdownSpan], resolve: (String) -> String?) -> String {
        spans.map { span in
            switch span {
            case .text(let text): return HTMLText.escaped(text)
            case .code(let text): return "<code>\(HTMLText.escaped(text))</code>"
            case .strong(let inner): return "<strong>\(html(inner, resolve: resolve))</strong>"
            case .emphasis(let inner): return "<em>\(html(inner, resolve: resolve))</em>"
            case .link(let inner, let target):
                let text = html(inner, resolve: resolve)
                guard let address = resolve(target) else { return text }
                return "<a href=\"\(HTMLText.escaped(address))\">\(text)</a>"
            case .image(let source, let alt, let width):
                guard let address = resolve(source) else { return HTMLText.escaped(alt) }
                let size = width.map { " width=\"\(HTMLText.escaped($0))\"" } ?? ""
                let text = HTMLText.escaped(alt)
                return "<img src=\"\(HTMLText.escaped(address))\" alt=\"\(text)\"\(size) loading=\"lazy\">"
            }
        }.joined()
    }
}

/// Reads spans from left to right; a mark that nothing closes is text.
private struct SpanParser {
    let bytes: [UInt8]
    private var position = 0
    private var text: [UInt8] = []
    private var found: [MarkdownSpan] = []

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func spans() -> [MarkdownSpan] {
        while position < bytes.count {
            if let (span, end) = span() {
                flush()
                found.append(span)
                position = end
            } else if bytes[position] == UInt8(ascii: "`") {
                // A run of backticks that nothing closes is text as a whole.
                repeat { takeText() } while position < bytes.count && bytes[position] == UInt8(ascii: "`")
            } else {
                if bytes[position] == UInt8(ascii: "\\"), position + 1 < bytes.count, isMark(bytes[position + 1]) {
                    position += 1
                }
                takeText()
            }
        }
        flush()
        return found
    }

    private mutating func takeText() {
        text.append(bytes[position])
        position += 1
    }

    private mutating func flush() {
        if !text.isEmpty { found.append(.text(String(decoding: text, as: UTF8.self))) }
        text = []
    }

    /// Returns the span that begins here and where it ends; nil where none does.
    private func span() -> (MarkdownSpan, end: Int)? {
        switch bytes[position] {
        case UInt8(ascii: "`"): code()
        case UInt8(ascii: "*"): emphasis()
        case UInt8(ascii: "["): link(at: position).map { (.link(Self.parse($0), to: $1), $2) }
        case UInt8(ascii: "!"):
            link(at: position + 1).map { alt, source, end in
                (.image(source, alt: String(decoding: alt, as: UTF8.self), width: nil), end)
            }
        case UInt8(ascii: "<"): tag()
        default: nil
        }
    }

    private static func parse(_ bytes: ArraySlice<UInt8>) -> [MarkdownSpan] {
        MarkdownSpan.parse(String(decoding: bytes, as: UTF8.self))
    }

    /// A code span: as many backticks close it as have opened it, and one space at both ends belongs to them.
    private func code() -> (MarkdownSpan, end: Int)? {
        let width = run(of: UInt8(ascii: "`"), at: position)
        var next = position + width
        while next < bytes.count {
            let closing = run(of: UInt8(ascii: "`"), at: next)
            if closing == width {
                var content = bytes[(position + width)..<next]
                if content.count > 2, content.first == UInt8(ascii: " "), content.last == UInt8(ascii: " ") {
                    content = content.dropFirst().dropLast()
                }
                return (.code(String(decoding: content, as: UTF8.self)), next + width)
            }
            next += max(1, closing)
        }
        return nil
    }

    private func emphasis() -> (MarkdownSpan, end: Int)? {
        let width = min(2, run(of: UInt8(ascii: "*"), at: position))
        let start = position + width
        guard start < bytes.count, bytes[start] != UInt8(ascii: " ") else { return nil }
        var next = start
        while next < bytes.count {
            switch bytes[next] {
            case UInt8(ascii: "`"):
                // Asterisks in code close nothing.
                next = SpanParser(bytes: bytes, at: next).code()?.end ?? next + 1
            case UInt8(ascii: "*") where next > start && bytes[next - 1] != UInt8(ascii: " "):
                let closing = run(of: UInt8(ascii: "*"), at: next)
                guard closing >= width else {
                    next += closing
                    continue
                }
                let inner = Self.parse(bytes[start..<next])
                return (width == 2 ? .strong(inner) : .emphasis(inner), next + width)
            default: next += 1
            }
        }
        return nil
    }

    private init(bytes: [UInt8], at position: Int) {
        self.bytes = bytes
        self.position = position
    }

    /// Returns the text and the target of `[text](target)` and where it ends.
    private func link(at start: Int) -> (text: ArraySlice<UInt8>, target: String, end: Int)? {
        guard start < bytes.count, bytes[start] == UInt8(ascii: "[") else { return nil }
        var (depth, close) = (0, start)
        while close < bytes.count {
            switch bytes[close] {
            case UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "`"):
                // Brackets in code are text.
                close = (SpanParser(bytes: bytes, at: close).code()?.end ?? close + 1) - 1
            default: break
            }
            if depth == 0 { break }
            close += 1
        }
        guard close + 1 < bytes.count, bytes[close + 1] == UInt8(ascii: "("),
            let end = bytes[(close + 2)...].firstIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let target = String(decoding: bytes[(close + 2)..<end], as: UTF8.self)
        return target.contains(" ") || target.isEmpty ? nil : (bytes[(start + 1)..<close], target, end + 1)
    }

    /// An image in HTML, or an address in angle brackets.
    private func tag() -> (MarkdownSpan, end: Int)? {
        guard let end = bytes[position...].firstIndex(of: UInt8(ascii: ">")) else { return nil }
        let inner = String(decoding: bytes[(position + 1)..<end], as: UTF8.self)
        if inner.hasPrefix("https://"), !inner.contains(" ") { return (.link([.text(inner)], to: inner), end + 1) }
        guard inner.hasPrefix("img ") else { return nil }
        let attributes = Dictionary(
            inner.matches(of: /([a-z]+)="([^"]*)"/).map { (String($0.output.1), String($0.output.2)) }
        ) { first, _ in first }
        guard let source = attributes["src"] else { return nil }
        return (.image(source, alt: attributes["alt"] ?? "", width: attributes["width"]), end + 1)
    }

    private func run(of byte: UInt8, at start: Int) -> Int {
        bytes[start...].prefix { $0 == byte }.count
    }

    private func isMark(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "!")...UInt8(ascii: "/"), UInt8(ascii: ":")...UInt8(ascii: "@"),
            UInt8(ascii: "[")...UInt8(ascii: "`"), UInt8(ascii: "{")...UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
