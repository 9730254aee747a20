import Testing

@testable import Pages

@Suite("The documentation's Markdown")
struct MarkdownTests {
    private static func html(_ markdown: String) -> String {
        MarkdownPage(markdown) { $0.hasPrefix("no") ? nil : "/to/\($0)" }.html
    }

    /// Lines of Markdown, each with its HTML.
    static let lines: [(String, String)] = [
        ("plain", "plain"), ("a & <b> \"c\"", "a &amp; &lt;b&gt; &quot;c&quot;"),
        ("`a<b`", "<code>a&lt;b</code>"), ("``a`b``", "<code>a`b</code>"), ("`` `a` ``", "<code>`a`</code>"),
        ("`open", "`open"), ("``open`", "``open`"), ("**a** b", "<strong>a</strong> b"), ("*a* b", "<em>a</em> b"),
        ("**类型**，b", "<strong>类型</strong>，b"), ("**a `*` b**", "<strong>a <code>*</code> b</strong>"),
        ("**`a`** b", "<strong><code>a</code></strong> b"), ("**a *b* c**", "<strong>a <em>b</em> c</strong>"),
        ("a * b * c", "a * b * c"), ("2*3", "2*3"), ("**a", "**a"),
        ("[a](b)", #"<a href="/to/b">a</a>"#), ("[a `b]` c](d#e)", #"<a href="/to/d#e">a <code>b]</code> c</a>"#),
        ("[a](nowhere)", "a"), ("[a] (b)", "[a] (b)"), ("[a](b c)", "[a](b c)"), ("`[a](b)`", "<code>[a](b)</code>"),
        ("{[…], \"x\"}", "{[…], &quot;x&quot;}"), (#"\*a\* \["#, "*a* ["), (#"a\b"#, #"a\b"#),
        ("![a\"b](c.png)", #"<img src="/to/c.png" alt="a&quot;b" loading="lazy">"#),
        (
            #"<img src="c.png" width="280" alt="a, b">"#,
            #"<img src="/to/c.png" alt="a, b" width="280" loading="lazy">"#
        ),
        ("![a](nothing.png)", "a"), ("<script>", "&lt;script&gt;"), ("a <= b", "a &lt;= b"),
        ("<https://x.example>", #"<a href="/to/https://x.example">https://x.example</a>"#),
    ]

    @Test(arguments: lines)
    func `a line has its marks`(_ row: (String, String)) { #expect(Self.html(row.0) == "<p>\(row.1)</p>\n") }

    static let blocks: [(String, String)] = [
        ("# A\n\ntext\nmore", "<h1 id=\"a\">A</h1>\n<p>text\nmore</p>\n"),
        ("text\n# A", "<p>text</p>\n<h1 id=\"a\">A</h1>\n"), ("#no", "<p>#no</p>\n"),
        ("* a\n  b\n* c", "<ul>\n<li>a\nb</li>\n<li>c</li>\n</ul>\n"), ("- a", "<ul>\n<li>a</li>\n</ul>\n"),
        ("text:\n* a", "<p>text:</p>\n<ul>\n<li>a</li>\n</ul>\n"),
        ("1. a\n2. b\n\nc", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>\n<p>c</p>\n"),
        (
            "1. a:\n\n    ```sh\n    b\n      c\n    ```\n\n    d\n2. e",
            "<ol>\n<li><p>a:</p>\n<pre><code>b\n  c</code></pre>\n<p>d</p>\n</li>\n<li>e</li>\n</ol>\n"
        ),
        ("```\n# <a>\n\n* b\n```\nc", "<pre><code># &lt;a&gt;\n\n* b</code></pre>\n<p>c</p>\n"),
        (
            "<!-- GET /healthz 200 -->\n```json\n{}\n```",
            "<p class=\"caption\"><code>GET /healthz 200</code></p>\n<pre><code>{}</code></pre>\n"
        ),
        ("<!-- other -->\n```json\n{}\n```", "<pre><code>{}</code></pre>\n"), ("<!-- a\nb -->\nc", "<p>c</p>\n"),
        (
            "```\n\(String(repeating: "x", count: 60))\n```",
            "<pre tabindex=\"0\"><code>\(String(repeating: "x", count: 60))</code></pre>\n"
        ),
        (
            "| a | |\n|---|---|\n| `x\\|y` | *b* |",
            """
            <div class="table"><table>
            <thead><tr><th scope="col">a</th><td></td></tr></thead>
            <tbody>
            <tr><td><code>x|y</code></td><td><em>b</em></td></tr>
            </tbody></table></div>

            """
        ),
        (
            "```mermaid\nsequenceDiagram\n    participant A as App (web)\n    A->>P: pay <now>\n    P->>P: store\n```",
            "<ol>\n<li><strong>App (web) → P</strong> pay &lt;now&gt;</li>\n<li><strong>P</strong> store</li>\n</ol>\n"
        ),
        ("```mermaid\ngraph TD\n```", "<pre><code>graph TD</code></pre>\n"),
    ]

    @Test(arguments: blocks)
    func `a block has its form`(_ row: (String, String)) { #expect(Self.html(row.0) == row.1) }

    @Test func `headings have the anchors that GitHub makes, and the text below them`() {
        let text = "# A `b`\n\none *two*\n\n## 2. Errors, all\n\n* x\n\n| y |\n|---|\n| z |\n\n## 支付 合约\n\n### A b"
        let page = MarkdownPage(text) { $0 }
        #expect(page.title == "A b")
        #expect(page.sections.map(\.anchor) == ["a-b", "2-errors-all", "支付-合约", "a-b-1"])
        #expect(page.sections.map(\.level) == [1, 2, 2, 3])
        #expect(page.sections.map(\.text) == ["one two", "x y z", "", ""])
    }
}
