import Foundation
import Testing

@testable import Pages

private let files = PageFiles()
private let pages = Pages(files, accent: "#0a6cff")
private let site = DocsSite(pages: pages, reference: OnePage(), version: "1.2.3")

/// A reference of one page.
private struct OnePage: DocsReference {
    let pages = [(id: "reference", key: "title_reference")]

    func article(_ id: String, in locale: PageLocale, _ words: DocsWords) -> DocsArticle? {
        guard id == "reference" else { return nil }
        let sections = ["first", "second"].map {
            DocsArticle.Section(level: 2, anchor: $0, title: "GET /\($0)", text: "text")
        }
        let html = "<h1>\(words["title_reference"])</h1><h2 id=\"first\">1</h2><h2 id=\"second\">2</h2>"
        return DocsArticle(language: locale, html: html, sections: sections)
    }
}

@Suite("The documentation's site")
struct DocsSiteTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Every page in every language; nil for the first one.
    static let all = PageLocale.allCases.flatMap { locale in ([nil] + site.ids).map { ($0, locale) } }

    @Test func `every document is embedded as it is, and is on the site`() throws {
        let documents = try FileManager.default.subpathsOfDirectory(atPath: Self.root.appending(path: "docs").path)
            .filter { $0.hasSuffix(".md") || $0.hasSuffix(".png") }.map { "docs/\($0)" }
        let embedded = files.paths.filter { $0.hasPrefix("Docs/") }.map { String($0.dropFirst("Docs/".count)) }
        #expect(Set(embedded.filter { $0.hasPrefix("docs/") }) == Set(documents))
        for path in embedded {
            #expect(try files["Docs/\(path)"] == Data(contentsOf: Self.root.appending(path: path)), "\(path)")
        }
        let guides = DocsGuides.all
        #expect(Set(guides.map(\.id)).count == guides.count)
        for guide in guides { #expect(files["Docs/\(guide.path)"] != nil, "\(guide.path)") }
        let onSite = Set(guides.flatMap { [$0.path, $0.path(in: .chinese)] })
        for path in embedded where path.hasSuffix(".md") { #expect(onSite.contains(path), "\(path)") }
    }

    @Test(arguments: all)
    func `every page is whole`(_ id: String?, _ locale: PageLocale) throws {
        let html = try #require(site.page(id, in: locale))
        #expect(html.contains(#"<html lang="\#(locale.rawValue)" data-page="docs">"#))
        #expect(html.matches(of: /<h1\b/).count == 1 && html.matches(of: /<main\b/).count == 1)
        #expect(html.firstMatch(of: /\{\{|Optional\(/) == nil)
        #expect(html.firstMatch(of: /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=/) == nil)
        let (path, other) = (id.map { "/\($0)" } ?? "", locale == .english ? "zh-Hans" : "en")
        let current = #"<a href="/docs/\#(locale.rawValue)\#(path)" aria-current="page">"#
        #expect(html.contains(current) == (id != nil))
        #expect(html.contains(#"href="/docs/\#(other)\#(path)" hreflang="\#(other)""#))
        let anchors = html.matches(of: /\sid="([^"]+)"/).map { String($0.output.1) }
        #expect(Set(anchors).count == anchors.count)
        // Markdown is left in code alone.
        let text = html.replacing(/(?s)<pre\b.*?<\/pre>|<code>.*?<\/code>/, with: "")
        #expect(text.firstMatch(of: /\]\(|\*\*|`|\|---|>\{[a-z_-]+\}</) == nil)
    }

    @Test func `every link leads to a page, a section or a file of the site`() throws {
        for locale in PageLocale.allCases {
            var anchors: [String: Set<String>] = [:]
            var links: [(from: String, to: String)] = []
            for id in site.ids {
                let html = try #require(site.page(id, in: locale))
                anchors[id] = Set(html.matches(of: /\sid="([^"]+)"/).map { String($0.output.1) })
                links += html.matches(of: /\s(?:href|src)="([^"]+)"/).map { (id, String($0.output.1)) }
            }
            try #require(links.count > 1_000)
            for (from, link) in links where !link.hasPrefix("/assets/") && link != "/openapi.json" {
                if link.hasPrefix("#") {
                    #expect(anchors[from]?.contains(String(link.dropFirst())) == true, "\(link) in \(from)")
                } else if let match = link.wholeMatch(of: /\/docs\/(?:en|zh-Hans)(?:\/([a-z0-9-]+)(?:#(.+))?)?/) {
                    guard let id = match.output.1.map(String.init) else { continue }
                    let found = try #require(anchors[id], "\(link) in \(from)")
                    let anchor = match.output.2.map(String.init)
                    #expect(anchor.map(found.contains) ?? true, "\(link) in \(from)")
                } else if let match = link.wholeMatch(of: /\/docs\/files\/(.+)/) {
                    #expect(site.picture(named: String(match.output.1))?.prefix(4) == Data([0x89, 0x50, 0x4E, 0x47]))
                } else {
                    #expect(link.hasPrefix("https://"), "\(link) in \(from)")
                }
            }
        }
    }

    @Test func `a guide speaks the page's language where it exists in it`() throws {
        let chinese = try #require(site.page("overview", in: .chinese))
        #expect(chinese.contains("支付合约") && !chinese.contains("class=\"foreign\""))
        #expect(chinese.contains(#"<a href="/docs/en/overview">English</a>"#))
        #expect(chinese.contains(#"<a href="/docs/zh-Hans/api#11-administration">"#))
        let english = try #require(site.page("api", in: .chinese))
        #expect(english.contains("<p class=\"foreign\">本页只有英文版。</p>"))
        #expect(english.contains(#"<div class="text" lang="en">"#))
        #expect(english.contains("<title>HTTP API · Paydesk</title>"))
        #expect(site.page("api", in: .english)?.contains("class=\"foreign\"") == false)
    }

    @Test func `the contents have the sections of the page`() throws {
        let reference = try #require(site.page("reference", in: .english))
        for name in ["first", "second"] {
            #expect(reference.contains(##"<li><a href="#\##(name)">GET /\##(name)</a></li>"##))
        }
        #expect(reference.contains("Paydesk 1.2.3"))
    }

    @Test(arguments: PageLocale.allCases)
    func `the search has every section, with an address that is there`(_ locale: PageLocale) throws {
        let script = site.searchIndex(in: locale)
        let json = try #require(script.wholeMatch(of: /globalThis\.paydeskDocs = (.+);\n/)).output.1
        let entries = try JSONDecoder().decode([[String]].self, from: Data(json.utf8))
        try #require(entries.count > 200)
        #expect(entries.allSatisfy { $0.count == 4 && !$0[1].isEmpty && !$0[2].isEmpty })
        #expect(Set(entries.map { $0[0] }).count == entries.count)
        let errors = try #require(entries.first { $0[0] == "/docs/\(locale.rawValue)/api#2-errors" })
        #expect(errors[3].contains("order_not_found"))
        let call = try #require(entries.first { $0[0] == "/docs/\(locale.rawValue)/reference#first" })
        #expect(call[1] == "GET /first")
    }

    @Test func `what is not there is nothing`() {
        #expect(site.page("nothing", in: .english) == nil && site.page("README", in: .english) == nil)
        for name in ["nothing.png", "../README.md", "api.md", ""] { #expect(site.picture(named: name) == nil) }
    }
}
